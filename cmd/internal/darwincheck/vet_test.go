package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestVet runs go vet as a Mac would, with every name and argument in C looked
// at, on the packages that are others there than here. What calls Objective-C of
// another module is left to package rules.
func TestVet(t *testing.T) {
	chain := toolchain(t)
	packages, err := chain.packages("./...")
	if err != nil {
		t.Fatal(err)
	}
	here, err := chain.list([]string{"GOOS=linux"}, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	names := compilable(different(packages, here), packages)
	if len(names) == 0 {
		t.Fatal("no package is another one on macOS")
	}
	if _, err := chain.command("go", append([]string{"vet"}, names...)...); err != nil {
		t.Error(err)
	}
}

func TestObjectiveCOfOthersIsLeftOut(t *testing.T) {
	is := is.New(t)
	all := []*goPackage{
		{ImportPath: "runtime/cgo", Standard: true, CgoFiles: []string{"cgo.go"}},
		{ImportPath: "example.org/kit/objc", CgoFiles: []string{"objc.go"}, MFiles: []string{"objc.m"}},
		{ImportPath: "example.org/tray", CgoFiles: []string{"tray.go"}, CgoCFLAGS: []string{"-x", "objective-c"}},
		{ImportPath: "example.org/plain", CgoFiles: []string{"plain.go"}, CFiles: []string{"plain.c"}},
		{ImportPath: "fulmen/native/darwin", CgoFiles: []string{"store.go"}, Deps: []string{"runtime/cgo", "example.org/plain"}},
		{ImportPath: "fulmen/app/mac", Deps: []string{"runtime/cgo", "example.org/kit/objc"}},
		{ImportPath: "fulmen/app/tray", Deps: []string{"example.org/tray"}},
	}
	is.Equal(compilable(all, all), []string{"fulmen/native/darwin"})
}

func TestWhatIsTheSameIsLeftOut(t *testing.T) {
	is := is.New(t)
	var names []string
	for _, p := range different([]*goPackage{
		{ImportPath: "same", GoFiles: []string{"a.go"}, TestGoFiles: []string{"a_test.go"}},
		{ImportPath: "other", GoFiles: []string{"a.go", "b_darwin.go"}},
		{ImportPath: "tests", GoFiles: []string{"a.go"}, XTestGoFiles: []string{"a_darwin_test.go"}},
		{ImportPath: "alone", GoFiles: []string{"a.go"}},
		{ImportPath: "calls", GoFiles: []string{"a.go"}, CgoFiles: []string{"c.go"}},
	}, []*goPackage{
		{ImportPath: "same", GoFiles: []string{"a.go"}, TestGoFiles: []string{"a_test.go"}},
		{ImportPath: "other", GoFiles: []string{"a.go", "b_linux.go"}},
		{ImportPath: "tests", GoFiles: []string{"a.go"}},
		{ImportPath: "calls", GoFiles: []string{"a.go"}, CgoFiles: []string{"c.go"}},
	}) {
		names = append(names, p.ImportPath)
	}
	is.Equal(names, []string{"other", "tests", "alone", "calls"})
}

// TestWrongCallsOfCAreFound tries vet on mistakes, in a module of its own.
func TestWrongCallsOfCAreFound(t *testing.T) {
	chain := toolchain(t)
	const head = "package small\n\n/*\n#include <mach/mach_time.h>\n#include <CoreFoundation/CoreFoundation.h>\n" +
		"static int twice(int a) { return 2 * a; }\n*/\nimport \"C\"\n\n"
	for _, test := range []struct{ name, text, want string }{
		{"all is well", "func f() C.int { C.mach_continuous_time(); return C.twice(1) }\n", ""},
		{"a name that is not there", "func f() { C.mach_continuous_tyme() }\n", "could not determine what C.mach_continuous_tyme refers to"},
		{"an argument too many", "func f() { C.twice(1, 2) }\n", "too many arguments in call to (_Cfunc_twice)"},
		{"an argument too few for a framework", "func f() { C.CFRelease() }\n", "not enough arguments in call to (_Cfunc_CFRelease)"},
		{"an argument of another type", "func f(n int) { C.twice(n) }\n", "cannot use n (variable of type int) as _Ctype_int value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			is.NoErr(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module small\n\ngo 1.26\n"), 0o644))
			is.NoErr(os.WriteFile(filepath.Join(dir, "small_darwin.go"), []byte(head+test.text), 0o644))
			_, err := (&Toolchain{root: dir, env: chain.env}).command("go", "vet", ".")
			if test.want == "" {
				is.NoErr(err)
				return
			}
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), test.want))
		})
	}
}
