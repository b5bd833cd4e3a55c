package mac

import (
	"github.com/progrium/darwinkit/macos/foundation"
	"github.com/progrium/darwinkit/objc"

	"fulmen/app"
)

// Numbers of UserNotifications: UNAuthorizationOptions in
// UNUserNotificationCenter.h, UNNotificationPresentationOptions in
// UNUserNotificationCenterDelegate's part of the same header.
const (
	mayAlert      uint = 1 << 2 // UNAuthorizationOptionAlert
	showsInList   uint = 1 << 3 // UNNotificationPresentationOptionList
	showsAsBanner uint = 1 << 4 // UNNotificationPresentationOptionBanner
)

// opensKey is where a notification keeps what a click on it opens.
const opensKey = "open"

// center is UNUserNotificationCenter's currentNotificationCenter, which is for
// programs in bundles alone: others it ends by an exception.
func center() (objc.Object, bool) {
	c, found := class("UNUserNotificationCenter")
	if !found || foundation.Bundle_MainBundle().BundleIdentifier() == "" {
		return objc.Object{}, false
	}
	return object(c, "currentNotificationCenter"), true
}

// notify shows a notification; one of the same id takes the place of the last:
//
//   - [UNNotificationRequest requestWithIdentifier:content:trigger:]
//   - [UNUserNotificationCenter addNotificationRequest:withCompletionHandler:]
//
// both with nil where nothing is wanted. It runs on the main thread.
func notify(n app.Notice) {
	to, found := center()
	content, known := class("UNMutableNotificationContent")
	request, isThere := class("UNNotificationRequest")
	if !found || !known || !isThere {
		return
	}
	c := object(content, "new")
	defer c.Release() // the request has copied it
	do(c, "setTitle:", n.Title)
	do(c, "setBody:", n.Text)
	do(c, "setThreadIdentifier:", n.ID)
	do(c, "setUserInfo:", map[string]string{opensKey: n.Open})
	do(to, "addNotificationRequest:withCompletionHandler:", object(request, "requestWithIdentifier:content:trigger:", n.ID, c, nil), nil)
}

// FulmenNotifications is the delegate of the notification center; the name is
// that of its class in Objective-C. Selectors and blocks are those of
// UNUserNotificationCenterDelegate in UNUserNotificationCenter.h.
type FulmenNotifications struct {
	objc.Object
}

// UserNotificationCenterWillPresentNotificationWithCompletionHandler shows a
// notification also while the app is in front.
func (FulmenNotifications) UserNotificationCenterWillPresentNotificationWithCompletionHandler(_ objc.Object, _ objc.Object, show objc.Object) {
	callBlock(show, showsAsBanner|showsInList)
}

// listen asks for the right to notify, and has clicks on notifications given to
// opened, on the main thread. It runs there, before the app has launched.
func listen(opened func(what string)) {
	to, found := center()
	if !found {
		return
	}
	delegate := objc.NewClass[FulmenNotifications](objc.Sel("userNotificationCenter:willPresentNotification:withCompletionHandler:"))
	objc.AddMethod(delegate, objc.Sel("userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:"),
		func(_ objc.Object, _ objc.Object, response, done objc.Object) {
			info := object(object(object(object(response, "notification"), "request"), "content"), "userInfo")
			what := objc.Call[string](info, objc.Sel("objectForKey:"), opensKey)
			callBlock(done)
			opened(what)
		})
	objc.RegisterClass(delegate)
	d := delegate.New()
	d.Retain() // the center does not, and it stays
	do(to, "setDelegate:", d)
	do(to, "requestAuthorizationWithOptions:completionHandler:", mayAlert, func(bool, objc.Object) {}) // refused: then none are shown
}
