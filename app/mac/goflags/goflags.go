// Package goflags has the flag that the go command takes wherever it builds the
// app for macOS, and says whether a program was built with it. The flag stands in
// goflags.txt, which the Makefile reads too.
//
// Without it the app crashes at the first call from Objective-C to Go. darwinkit
// v0.5.0 gives libffi the address of a slice as a number, and libffi keeps it as
// long as a callback lives (PrepCIF in its objc/ffi). Go 1.25 and newer put a small
// slice of variable length on the stack where only a number leads to it, and
// there it is overwritten: progrium/darwinkit#286. The flag leaves no room on the
// stack for such slices. It is for all packages, because generic functions of
// darwinkit, as objc.Call, are compiled in the packages that call them.
//
// It may go when go.mod has a darwinkit that keeps those slices alive, as
// progrium/darwinkit#289 does.
package goflags

import (
	_ "embed"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

//go:embed goflags.txt
var text string

// Flag is the argument of go build that the app is built with.
func Flag() string { return strings.TrimSpace(text) }

// Check fails where a program was built without the flag.
func Check(built *debug.BuildInfo) error {
	key, value, _ := strings.Cut(Flag(), "=")
	if slices.Contains(built.Settings, debug.BuildSetting{Key: key, Value: value}) {
		return nil
	}
	return fmt.Errorf("it was built without %s, and would crash: build it by `make build` or `make app`", Flag())
}
