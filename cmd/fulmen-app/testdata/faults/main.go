// Command faults does one of the things over which the imitation ends a program.
package main

import (
	"os"
	"reflect"
	"runtime"

	"github.com/progrium/darwinkit/macos/foundation"
	"github.com/progrium/darwinkit/objc"
)

// Taker has a method that the notification center calls, with a parameter of
// another type.
type Taker struct{ objc.Object }

func (Taker) UserNotificationCenterWillPresentNotificationWithCompletionHandler(_, _ objc.Object, _ uint) {
}

// BlockTaker has it with its block as a function.
type BlockTaker struct{ objc.Object }

func (BlockTaker) UserNotificationCenterWillPresentNotificationWithCompletionHandler(_, _ objc.Object, _ func(uint)) {
}

var willPresent = objc.Sel("userNotificationCenter:willPresentNotification:withCompletionHandler:")

var faults = map[string]func(){
	"none":             func() { do(objc.NewObject(), "init") },
	"unknown selector": func() { do(objc.NewObject(), "fly") },
	"argument":         func() { do(objc.GetClass("NSFont"), "monospacedSystemFontOfSize:weight:", 40, 0.4) },
	"too few":          func() { do(objc.GetClass("NSFont"), "monospacedSystemFontOfSize:weight:", 40.0) },
	"not linked":       func() { objc.GetClass("SMAppService") },
	"answer": func() {
		objc.Call[int](foundation.URL_URLWithString("fulmen:a"), objc.Sel("absoluteString"))
	},
	"yes or no": func() {
		objc.Call[bool](foundation.UserDefaults_StandardUserDefaults(), objc.Sel("boolForKey:"), "a")
	},
	"method":          func() { objc.NewClass[Taker](willPresent) },
	"block as method": func() { objc.NewClass[BlockTaker](willPresent) },
	"block": func() {
		do(objc.ObjectFrom(objc.ToNSArray(reflect.ValueOf([]string{"a"}))), "enumerateObjectsUsingBlock:", func(objc.Object, float64) {})
	},
	"no block": func() {
		do(objc.ObjectFrom(objc.ToNSArray(reflect.ValueOf([]string{"a"}))), "enumerateObjectsUsingBlock:", "no block")
	},
	"off the main thread": func() {
		over := make(chan bool)
		go func() {
			runtime.LockOSThread()
			do(objc.GetClass("NSObject"), "new")
			close(over)
		}()
		<-over
	},
	"released twice": func() {
		o := objc.Call[objc.Object](objc.GetClass("NSObject"), objc.Sel("new"))
		o.Release()
		o.Release()
	},
	"kept, not retained": func() {
		var url foundation.URL
		objc.WithAutoreleasePool(func() { url = foundation.URL_URLWithString("fulmen:a") })
		url.AbsoluteString()
	},
	"released as an argument": func() {
		s := objc.Call[objc.Object](objc.GetClass("NSObject"), objc.Sel("new"))
		s.Release()
		do(objc.Call[objc.Object](objc.GetClass("NSTextField"), objc.Sel("new")), "setStringValue:", s)
	},
}

func do(to objc.Handle, message string, values ...any) {
	objc.Call[objc.Void](to, objc.Sel(message), values...)
}

func main() {
	runtime.LockOSThread()
	faults[os.Args[1]]()
}
