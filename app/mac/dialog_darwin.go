package mac

import (
	"context"

	"github.com/progrium/darwinkit/helper/action"
	"github.com/progrium/darwinkit/macos/appkit"
	"github.com/progrium/darwinkit/macos/foundation"
	"github.com/progrium/darwinkit/objc"
)

const (
	// fieldWidth and fieldHeight are those of a line of text in a dialog, and
	// codeHeight that of a code, in points.
	fieldWidth, fieldHeight, codeHeight = 260, 24, 56
	// codeSize is the size of a code's letters, in points: to be read across a desk.
	codeSize = 40
	// escape is the Escape key as AppKit writes it.
	escape = "\x1b"
)

// dialog is a question in a window of its own. It is an alert that does not run
// modally: a modal one keeps everything else waiting that wants the main thread,
// and cannot be put away when its reason is gone.
type dialog struct {
	title, text string
	// buttons are its buttons; the first is pressed by Return, the last of several by
	// Escape.
	buttons []string
	// isGrave says that something is wrong or will be lost.
	isGrave bool
	// asks says that there is a line to type in, hint what stands in it while it is
	// empty, and typed what is in it from the start.
	asks        bool
	hint, typed string
	// code is shown in large letters.
	code string
}

// answer is what became of a dialog: which button, -1 where it was put away, and
// what was typed.
type answer struct {
	button int
	text   string
}

// ask shows the dialog until it is answered or ctx ends.
func (d dialog) ask(ctx context.Context) answer {
	answered := make(chan answer, 1)
	var shown open
	onMain(func() {
		if ctx.Err() == nil {
			shown.show(d, answered)
		}
	})
	select {
	case a := <-answered:
		return a
	case <-ctx.Done():
		onMain(shown.close)
		return answer{button: -1}
	}
}

// open is a dialog on the screen. It belongs to the main thread.
type open struct {
	alert  appkit.Alert
	field  appkit.TextField
	isOpen bool
}

// show puts the dialog on the screen, before all other windows: the app has no
// others that it could stand in front of.
func (o *open) show(d dialog, answered chan<- answer) {
	o.alert = appkit.NewAlert()
	o.alert.Retain() // until close
	o.isOpen = true
	o.alert.SetMessageText(d.title)
	o.alert.SetInformativeText(d.text)
	if d.isGrave {
		o.alert.SetAlertStyle(appkit.AlertStyleWarning)
	}
	var buttons []appkit.Button
	for _, title := range d.buttons {
		buttons = append(buttons, o.alert.AddButtonWithTitle(title))
	}
	if len(buttons) > 1 {
		buttons[len(buttons)-1].SetKeyEquivalent(escape)
	}
	switch {
	case d.asks:
		o.field = appkit.NewTextFieldWithFrame(foundation.Rect{Size: foundation.Size{Width: fieldWidth, Height: fieldHeight}})
		o.field.SetPlaceholderString(d.hint)
		o.field.SetStringValue(d.typed)
		label(o.field, d.title)
		o.alert.SetAccessoryView(o.field)
	case d.code != "":
		code := appkit.TextField_LabelWithString(d.code)
		code.SetFrame(foundation.Rect{Size: foundation.Size{Width: fieldWidth, Height: codeHeight}})
		code.SetFont(appkit.Font_MonospacedSystemFontOfSizeWeight(codeSize, appkit.FontWeightBold))
		code.SetSelectable(true)
		label(code, spelled(d.code))
		o.alert.SetAccessoryView(code)
	}
	o.alert.Layout()
	for i, b := range buttons { // after the layout, which gives them the actions of a modal alert
		action.Set(b, func(objc.Object) {
			a := answer{button: i}
			if d.asks {
				a.text = o.field.StringValue()
			}
			answered <- a
			o.close()
		})
	}
	window := o.alert.Window()
	window.SetReleasedWhenClosed(false)
	window.SetHidesOnDeactivate(false)
	window.SetLevel(appkit.FloatingWindowLevel)
	if d.asks {
		window.SetInitialFirstResponder(o.field)
	}
	window.Center()
	appkit.Application_SharedApplication().ActivateIgnoringOtherApps(true)
	window.MakeKeyAndOrderFront(nil)
}

// close takes the dialog off the screen, once.
func (o *open) close() {
	if !o.isOpen {
		return
	}
	o.isOpen = false
	o.alert.Window().OrderOut(nil)
	o.alert.Autorelease() // this may run in an action of one of its buttons
}

// label says what a screen reader calls something: setAccessibilityLabel: of the
// protocol NSAccessibility in AppKit, NSAccessibilityProtocols.h.
func label(view objc.Handle, text string) { do(view, "setAccessibilityLabel:", text) }
