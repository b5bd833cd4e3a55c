package mac

/*
#cgo LDFLAGS: -framework ServiceManagement -framework UserNotifications
*/
import "C"

import (
	"context"
	"errors"
	"unsafe"

	"github.com/progrium/darwinkit/dispatch"
	"github.com/progrium/darwinkit/macos/foundation"
	"github.com/progrium/darwinkit/objc"
)

// onMain has something done on the main thread, soon and in order.
func onMain(f func()) { dispatch.MainQueue().DispatchAsync(f) }

// fromMain has something found out on the main thread and waits for it, false
// where ctx ended before. It must not be called on the main thread.
func fromMain[T any](ctx context.Context, f func() T) (T, bool) {
	found := make(chan T, 1)
	onMain(func() { found <- f() })
	select {
	case v := <-found:
		return v, true
	case <-ctx.Done():
		var none T
		return none, false
	}
}

// class is a class of a framework by its name; false where the system has none.
func class(name string) (objc.Class, bool) {
	c := objc.GetClass(name)
	return c, c.Ptr() != nil
}

// object sends a message that answers with an object.
func object(to objc.Handle, message string, values ...any) objc.Object {
	return objc.Call[objc.Object](to, objc.Sel(message), values...)
}

// do sends a message that answers nothing.
func do(to objc.Handle, message string, values ...any) {
	objc.Call[objc.Void](to, objc.Sel(message), values...)
}

// callBlock calls a block that a method of ours was given. Such a method takes it
// as an object: darwinkit registers no method that takes a Go function.
func callBlock(block objc.Object, values ...any) {
	objc.CallBlock[objc.Void](objc.BlockFrom(block.Ptr()), values...)
}

// asks sends a message that answers yes or no. BOOL is a byte of the register
// that the answer is in, and libffi stores the register.
func asks(to objc.Handle, message string, values ...any) bool {
	return objc.Call[uint](to, objc.Sel(message), values...)&0xff != 0
}

// tries sends a message that answers yes or no and puts an NSError where its
// last value points.
func tries(to objc.Handle, message string, values ...any) error {
	fault := new(unsafe.Pointer)
	if asks(to, message, append(values, unsafe.Pointer(fault))...) {
		return nil
	}
	if *fault == nil {
		return errors.New("macOS does not say why")
	}
	e := foundation.ErrorFrom(*fault)
	return &systemError{domain: string(e.Domain()), code: e.Code(), text: e.LocalizedDescription()}
}
