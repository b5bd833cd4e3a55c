package mac

import (
	"fmt"
	"io"
	"reflect"
	"runtime"
	"unsafe"

	"github.com/progrium/darwinkit/helper/action"
	"github.com/progrium/darwinkit/macos/appkit"
	"github.com/progrium/darwinkit/macos/foundation"
	"github.com/progrium/darwinkit/objc"
)

// FulmenSelfTest has a method of each shape that the app registers; the name is
// that of its class in Objective-C.
type FulmenSelfTest struct {
	objc.Object
}

// Plain gives the length of a text.
func (FulmenSelfTest) Plain(text string) int { return len(text) }

// Structure gives a rectangle of twice the size.
func (FulmenSelfTest) Structure(r foundation.Rect) foundation.Rect {
	r.Size.Width, r.Size.Height = 2*r.Size.Width, 2*r.Size.Height
	return r
}

// BlockOut calls a block that it is given.
func (FulmenSelfTest) BlockOut(block objc.Object) { callBlock(block, uint(42)) }

// shape is a way in which the app calls Objective-C, or is called.
type shape struct {
	name string
	// try gives what came of it, and what should have.
	try func(own objc.Object) (got, want any)
}

var shapes = []shape{
	{"message", func(objc.Object) (any, any) {
		return foundation.URL_URLWithString("fulmen:self-test").AbsoluteString(), "fulmen:self-test"
	}},
	{"message, structure by value", func(objc.Object) (any, any) {
		c, _ := class("NSValue")
		return objc.Call[foundation.Rect](object(c, "valueWithRect:", frame), objc.Sel("rectValue")), frame
	}},
	{"message, yes or no with an error", func(objc.Object) (any, any) {
		err := tries(foundation.URL_URLWithString("file:///fulmen/is/not/here"), "checkResourceIsReachableAndReturnError:")
		e, ok := err.(*systemError)
		return ok && e.domain == "NSCocoaErrorDomain" && e.text != "", true
	}},
	{"message, block in", func(objc.Object) (any, any) {
		var got string
		array := objc.ObjectFrom(objc.ToNSArray(reflect.ValueOf([]string{"a", "b"})))
		do(array, "enumerateObjectsUsingBlock:", func(o objc.Object, n uint, _ unsafe.Pointer) { got += fmt.Sprint(n, objc.ToGoString(o.Ptr())) })
		return got, "0a1b"
	}},
	{"callback", func(own objc.Object) (any, any) { return objc.Call[int](own, objc.Sel("plain:"), "fulmen"), 6 }},
	{"callback, structure by value", func(own objc.Object) (any, any) {
		twice := frame
		twice.Size = foundation.Size{Width: 2 * frame.Size.Width, Height: 2 * frame.Size.Height}
		return objc.Call[foundation.Rect](own, objc.Sel("structure:"), frame), twice
	}},
	{"callback, block out", func(own objc.Object) (any, any) {
		var got uint
		do(own, "blockOut:", func(n uint) { got = n })
		return got, uint(42)
	}},
	{"callback, delegate", func(objc.Object) (any, any) {
		var got []string
		delegate := &appkit.ApplicationDelegate{}
		delegate.SetApplicationWillTerminate(func(foundation.Notification) { got = append(got, "ends") })
		delegate.SetApplicationShouldHandleReopenHasVisibleWindows(func(_ appkit.Application, visible bool) bool {
			got = append(got, fmt.Sprint(visible))
			return visible
		})
		delegate.SetApplicationOpenURLs(func(_ appkit.Application, urls []foundation.URL) { got = append(got, urls[0].AbsoluteString()) })
		to := objc.WrapAsProtocol[appkit.PApplicationDelegate]("NSApplicationDelegate", delegate)
		do(to, "applicationWillTerminate:", nil)
		opens := asks(to, "applicationShouldHandleReopen:hasVisibleWindows:", nil, true)
		do(to, "application:openURLs:", nil, []foundation.URL{foundation.URL_URLWithString("fulmen:a")})
		return fmt.Sprint(got, opens), "[ends true fulmen:a] true"
	}},
	{"callback, action of a button", func(objc.Object) (any, any) {
		got := 0
		target, selector := action.Wrap(func(objc.Object) { got++ })
		defer target.Release()
		target.PerformSelectorWithObject(selector, objc.Object{})
		return got, 1
	}},
}

// frame is a rectangle of four different numbers.
var frame = foundation.Rect{Origin: foundation.Point{X: 1, Y: 2}, Size: foundation.Size{Width: 3, Height: 4.5}}

// SelfTest calls Objective-C, and is called by it, in each shape that the app
// uses, without a screen, and says what came of each. It is called on the main
// thread.
func SelfTest(out io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	failed := 0
	objc.WithAutoreleasePool(func() {
		c := objc.NewClass[FulmenSelfTest](objc.Sel("plain:"), objc.Sel("structure:"), objc.Sel("blockOut:"))
		objc.RegisterClass(c)
		own := c.New()
		for _, s := range shapes {
			overwrite(100)
			runtime.GC()
			if got, want := s.try(own.Object); got != want {
				failed++
				fmt.Fprintf(out, "%s: FAILED: %v, not %v\n", s.name, got, want)
			} else {
				fmt.Fprintf(out, "%s: ok\n", s.name)
			}
		}
	})
	if failed > 0 {
		return fmt.Errorf("%d of %d ways to call Objective-C do not work", failed, len(shapes))
	}
	return nil
}

// overwrite overwrites what earlier calls left on the stack, where a callback's
// types were once kept.
//
//go:noinline
func overwrite(depth int) byte {
	var all [512]byte
	for i := range all {
		all[i] = byte(depth)
	}
	if depth == 0 {
		return all[0]
	}
	return all[depth] + overwrite(depth-1)
}
