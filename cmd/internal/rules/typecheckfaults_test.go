package rules

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// kit stands for a module that binds Apple's frameworks: cgo in Objective-C that
// no compiler here knows, behind an interface in Go.
const kit = `// Package kit binds.
package kit

/*
#cgo CFLAGS: -x objective-c
#cgo LDFLAGS: -framework AppKit
#include <AppKit/AppKit.h>
void *kit_bar(void);
*/
import "C"

import "unsafe"

// Bar is a bar.
type Bar struct{ native unsafe.Pointer }

// StatusBar gives it.
func StatusBar() Bar { return Bar{C.kit_bar()} }

// Item adds one.
func (b Bar) Item(length float64, titles ...string) int { return int(C.kit_add(b.native, C.double(length))) }

type refuser[T any] interface{ Refuse(T) error }

// Ask asks.
func Ask[T any](r refuser[T], v T) error { return r.Refuse(v) }
`

// objc stands for darwinkit's binding of Objective-C.
const objc = `package objc

import "unsafe"

type Handle interface{ Ptr() unsafe.Pointer }

type Object struct{ ptr unsafe.Pointer }

func (o Object) Ptr() unsafe.Pointer { return o.ptr }

type Selector struct{ ptr unsafe.Pointer }

func AddMethod(class Handle, sel Selector, f any) bool { return true }

func Call[T any](o Handle, sel Selector, params ...any) (none T) { return none }

func NewClass[T Handle](selectors ...Selector) (none T) { return none }
`

// small writes a module with the kit, and gives its folder.
func small(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"go.mod":     "module small\n\ngo 1.26\n\nrequire github.com/progrium/darwinkit v0.5.0\n\nreplace github.com/progrium/darwinkit => ./darwinkit\n",
		"kit/kit.go": kit, "darwinkit/go.mod": "module github.com/progrium/darwinkit\n", "darwinkit/objc/objc.go": objc,
	}
	maps.Copy(all, files)
	for name, text := range all {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTypecheckFindsFaults(t *testing.T) {
	const head = "package a\n\nimport \"small/kit\"\n\n"
	const objcHead = "package a\n\nimport \"github.com/progrium/darwinkit/objc\"\n\nvar o objc.Object\nvar s objc.Selector\n\n"
	const panics = ", and panics; take a block as an objc.Object"
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{name: "all is well", files: map[string]string{
			"a_darwin.go":      head + "func add() int { return kit.StatusBar().Item(1.5, \"a\") }\n",
			"a_darwin_test.go": "package a\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) { _ = add() }\n",
		}},
		{name: "a function that is not there", files: map[string]string{
			"a_darwin.go": head + "var bar = kit.StatusBarr()\n",
		}, want: []string{"a_darwin.go:5: undefined: kit.StatusBarr"}},
		{name: "a method that is not there", files: map[string]string{
			"a_darwin.go": head + "func add() { kit.StatusBar().Itme(1) }\n",
		}, want: []string{"a_darwin.go:5: kit.StatusBar().Itme undefined (type kit.Bar has no field or method Itme)"}},
		{name: "too many arguments", files: map[string]string{
			"a_darwin.go": "package a\n\nimport \"small/kit\"\n\nfunc bar() { kit.StatusBar(7) }\n",
		}, want: []string{"a_darwin.go:5: too many arguments in call to kit.StatusBar\n\thave (number)\n\twant ()"}},
		{name: "an argument of another type", files: map[string]string{
			"a_darwin.go": head + "func add() { kit.StatusBar().Item(\"wide\") }\n",
		}, want: []string{"a_darwin.go:5: cannot use \"wide\" (untyped string constant) as float64 value in argument to kit.StatusBar().Item"}},
		{name: "an interface that is not met", files: map[string]string{
			"a_darwin.go": head + "var err = kit.Ask[int](nil, \"x\")\n",
		}, want: []string{"a_darwin.go:5: cannot use \"x\" (untyped string constant) as int value in argument to kit.Ask[int]"}},
		{name: "own cgo: Go beside it is checked, names in C are not", files: map[string]string{
			"a_darwin.go": "package a\n\n// int f(void);\nimport \"C\"\n\nfunc f() string { C.no_such_name(); var n int = len(C.GoString(nil)); return n }\n",
		}, want: []string{"a_darwin.go:6: cannot use n (variable of type int) as string value in return statement"}},
		{name: "a type of C where one is inferred", files: map[string]string{
			"a_darwin.go": "package a\n\n// typedef int number;\nimport \"C\"\n\nfunc all[T any](fill func(*T) int) []T { return nil }\n\n" +
				"func f() int { return len(all(func(n *C.number) int { return 1 })) + len(all[int](1)) }\n",
		}, want: []string{"a_darwin.go:8: cannot use 1 (untyped int constant) as func(*int) int value in argument to all[int]"}},
		{name: "functions that become methods and blocks", files: map[string]string{
			"a_darwin.go": objcHead + "type class struct{ objc.Object }\n\nfunc (class) Named(string, []string, map[string]string, *int8, bool, float64) int { return 0 }\n\n" +
				"var _ = objc.NewClass[class](s)\nvar _ = objc.AddMethod(o, s, func(objc.Object, objc.Handle, struct{ x, y float64 }, [2]uint) objc.Object { return o })\n" +
				"var _ = objc.Call[int](o, s, 1, nil, func() {})\n\nfunc plain(func(func()), ...func(func())) {}\n\nfunc f() { plain(func(func()) {}, func(func()) {}) }\n",
		}},
		{name: "a method that is passed a block", files: map[string]string{
			"a_darwin.go": objcHead + "var _ = objc.AddMethod(o, s, func(_ objc.Object, done func()) {})\n",
		}, want: []string{"a_darwin.go:8: darwinkit has no type encoding for func() in func(_ github.com/progrium/darwinkit/objc.Object, done func())" + panics}},
		{name: "a method of a class that is passed a block", files: map[string]string{
			"a_darwin.go": objcHead + "type class struct{ objc.Object }\n\nfunc (class) Shows(_ objc.Object, show func(uint)) {}\n\nvar _ = objc.NewClass[class](s)\n",
		}, want: []string{"a_darwin.go:10: darwinkit has no type encoding for func(uint) in func(_ github.com/progrium/darwinkit/objc.Object, show func(uint))" + panics}},
		{name: "a block with types that darwinkit does not know, through a function of ours", files: map[string]string{
			"a_darwin.go": objcHead + "func do(values ...any) { objc.Call[int](o, s, values...) }\n\nfunc f() { do(1, func(error) {}, func() uintptr { return 0 }, func(struct{ c chan int }) {}) }\n",
		}, want: []string{
			"a_darwin.go:10: darwinkit has no type encoding for error in func(error)" + panics,
			"a_darwin.go:10: darwinkit has no type encoding for struct{c chan int} in func(struct{c chan int})" + panics,
			"a_darwin.go:10: darwinkit has no type encoding for uintptr in func() uintptr" + panics,
		}},
		{name: "its own tests", files: map[string]string{
			"a_darwin.go":      "package a\n\nfunc add() {}\n",
			"a_darwin_test.go": "package a\n\nfunc tested() { add(1) }\n",
			"x_darwin_test.go": "package a_test\n\nimport \"small/HERE\"\n\nfunc tested() { a.Add() }\n",
		}, want: []string{
			"a_darwin_test.go:3: too many arguments in call to add\n\thave (number)\n\twant ()",
			"x_darwin_test.go:5: undefined: a.Add",
		}},
		{name: "a test of what imports the package back", files: map[string]string{
			"a.go":      "package a\n\nfunc Add() {}\n",
			"b/b.go":    "package b\n\nimport \"small/HERE\"\n\nfunc Twice() { a.Add(); a.Add() }\n",
			"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) { _ = one }\n\nconst one = 1\n",
			"x_test.go": "package a_test\n\nimport (\n\t\"small/HERE\"\n\t\"small/HERE/b\"\n)\n\nfunc tested() { a.Add(); b.Twice(); b.Thrice() }\n",
		}, want: []string{"x_test.go:8: undefined: b.Thrice"}},
		{name: "another platform's files are not looked at", files: map[string]string{
			"a_linux.go": "package a\n\nvar x int = \"\"\n", "a.go": "package a\n",
		}},
		{name: "behind a tag", files: map[string]string{
			"a.go": "//go:build darwin && objc\n\npackage a\n\nvar x int = \"\"\n",
		}, want: []string{"a.go:5: cannot use \"\" (untyped string constant) as int value in variable declaration"}},
		{name: "what cannot be read", files: map[string]string{
			"a_darwin.go": "package a\n\nvar x = 1 +\n",
		}, want: []string{"a_darwin.go:3: expected ';', found 'EOF'", "a_darwin.go:3: expected operand, found 'EOF'"}},
		{name: "a module that is not there", files: map[string]string{
			"a_darwin.go": "package a\n\nimport _ \"example.org/gone\"\n",
		}, want: []string{
			"a_darwin.go:3: could not import example.org/gone (package example.org/gone is not in the build)",
			"a_darwin.go:3: no required module provides package example.org/gone; to add it:\n\tgo get example.org/gone",
		}},
	}
	// All packages lie in one module, so that what they import is checked once.
	all := map[string]string{}
	for i, tt := range tests {
		for name, text := range tt.files {
			here := fmt.Sprintf("p%d", i)
			all[path.Join(here, name)] = strings.ReplaceAll(text, "HERE", here)
		}
	}
	dir := small(t, all)
	found, err := typecheck(dir, platform{goos: "darwin", goarch: "arm64", tags: []string{"objc"}}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, f := range found {
		here, file, inside := strings.Cut(f.File, "/")
		if !inside {
			t.Error(f)
			continue
		}
		got[here] = append(got[here], fmt.Sprintf("%s:%d: %s", file, f.Line, f.What))
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(got[fmt.Sprintf("p%d", i)], tt.want)
		})
	}
}

func TestTypecheckOfNothingIsAnError(t *testing.T) {
	is := is.New(t)
	found, err := typecheck(small(t, nil), platform{goos: "darwin", goarch: "arm64"}, "./gone/...")
	is.True(err != nil || len(found) > 0) // nothing was looked at
	_, err = typecheck(small(t, nil), platform{goos: "darwin", goarch: "abacus"}, "./...")
	is.True(err != nil)
}
