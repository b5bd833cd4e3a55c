package mac

import (
	"runtime"

	"github.com/progrium/darwinkit/macos/appkit"
	"github.com/progrium/darwinkit/macos/foundation"

	"fulmen/app"
	"fulmen/app/menubar"
)

// Events are what the system tells the app, on the main thread, where nothing
// may wait.
type Events struct {
	// Launched is called once, when pictures can be put into the menu bar.
	Launched func()
	// Opened is called when the person opens the app again while it runs, with no
	// address, or a link of Fulmen's, with that.
	Opened func(address string)
	// Chosen is called when a notification is clicked, with what it opens.
	Chosen func(what string)
	// Ends is called when the system ends the app, at a logout for one.
	Ends func()
}

// Loop is the application until Quit of app/tray stops it. It is called on the
// main thread. The delegate is whole before the loop begins: a link that opened
// the app comes before it has launched.
func Loop(e Events, s *Shell) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	application := appkit.Application_SharedApplication()
	delegate := &appkit.ApplicationDelegate{}
	delegate.SetApplicationDidFinishLaunching(func(foundation.Notification) {
		listen(e.Chosen)
		s.look()
		e.Launched()
	})
	delegate.SetApplicationOpenURLs(func(_ appkit.Application, urls []foundation.URL) {
		for _, u := range urls {
			e.Opened(u.AbsoluteString())
		}
	})
	delegate.SetApplicationShouldHandleReopenHasVisibleWindows(func(appkit.Application, bool) bool {
		e.Opened("")
		return false
	})
	delegate.SetApplicationDidBecomeActive(func(foundation.Notification) { s.look() })
	delegate.SetApplicationWillTerminate(func(foundation.Notification) { e.Ends() })
	application.SetDelegate(delegate)
	asks(application, "setActivationPolicy:", appkit.ApplicationActivationPolicyAccessory) // as LSUIElement says, also outside a bundle
	application.Run()
}

// Screen is a screen whose picture in the menu bar a screen reader can read.
type Screen struct{ menubar.Screen }

// Draw shows a menu.
func (s Screen) Draw(m app.Menu) {
	s.Screen.Draw(m)
	onMain(func() {
		for _, w := range appkit.Application_SharedApplication().Windows() {
			labelButtons(w.ContentView(), m.Tooltip)
		}
	})
}

// labelButtons labels the buttons of the menu bar below a view: each of the
// app's pictures there is an NSStatusBarButton in a window of the app's own,
// NSStatusBarButton.h in AppKit.
func labelButtons(view appkit.View, text string) {
	if view.IsNil() {
		return
	}
	if c, found := class("NSStatusBarButton"); found && view.IsKindOfClass(c) {
		label(view, text)
		return
	}
	for _, below := range view.Subviews() {
		labelButtons(below, text)
	}
}
