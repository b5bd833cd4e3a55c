package goflags_test

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/app/mac/goflags"
)

// program makes slices of a variable length to which only a number leads, as
// darwinkit does, in a function and in a generic one of another package, and
// prints how many of them are on the heap.
var program = map[string]string{
	"go.mod": "module small\n\ngo 1.26\n",
	"kit/kit.go": `package kit

import "unsafe"

//go:noinline
func Prepare(types []*int) uintptr { return uintptr(unsafe.Pointer(&types[0])) }

//go:noinline
func Plain(n int) uintptr { return Prepare(make([]*int, n+2)) }

//go:noinline
func Call[T any](params ...any) (none T, at uintptr) { return none, Prepare(make([]*int, len(params)+2)) }
`,
	"main.go": `package main

import (
	"runtime"

	"small/kit"
)

// allocs is how often a function allocates. No more than the runtime is needed for it, since
// whatever is would be compiled anew.
func allocs(f func()) uint64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		f()
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / 10
}

func main() {
	params := []any{1}
	println(allocs(func() { kit.Plain(1) }), allocs(func() { kit.Call[string](params...) }))
}
`,
}

// The flag does what it is there for, with the compiler that is used, and is seen
// in what was built with it.
func TestFlag(t *testing.T) {
	if testing.Short() {
		t.Skip("the runtime is compiled anew")
	}
	dir := t.TempDir()
	for name, text := range program {
		to := filepath.Join(dir, name)
		is := is.New(t)
		is.NoErr(os.MkdirAll(filepath.Dir(to), 0o755))
		is.NoErr(os.WriteFile(to, []byte(text), 0o644))
	}
	for _, test := range []struct {
		name, prints string
		args         []string
		good         bool
	}{
		{"with", "1 1\n", []string{goflags.Flag(), "-trimpath", "-ldflags", "-s -w"}, true},
		{"without", "0 0\n", nil, false},
		{"with the other package not optimised", "1 0\n", []string{"-gcflags=small/kit=-N"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			built := filepath.Join(t.TempDir(), "small")
			build := exec.CommandContext(t.Context(), "go", append(append([]string{"build"}, test.args...), "-o", built, ".")...)
			build.Dir = dir
			reported, err := build.CombinedOutput()
			is.Equal(string(reported), "")
			is.NoErr(err)
			out, err := exec.CommandContext(t.Context(), built).CombinedOutput()
			is.NoErr(err)
			is.Equal(string(out), test.prints)
			info, err := buildinfo.ReadFile(built)
			is.NoErr(err)
			err = goflags.Check(info)
			is.Equal(err == nil, test.good)
			is.True(err == nil || strings.Contains(err.Error(), goflags.Flag()))
		})
	}
}
