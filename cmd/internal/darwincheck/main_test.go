package main

import (
	"errors"
	"flag"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"fulmen/native/nativetest/testkit"
)

var update = flag.Bool("update", false, "write names/ anew, from what the programs use")

// repository is where the root of this repository is from here.
const repository = "../../.."

// fetched opens the toolchain once for all tests.
var fetched = sync.OnceValues(func() (*Toolchain, error) {
	root, err := filepath.Abs(repository)
	if err != nil {
		return nil, err
	}
	t, err := Open(root)
	if err == nil {
		err = t.prepare()
	}
	return t, err
})

// toolchain gives the toolchain, or skips the test.
func toolchain(t *testing.T) *Toolchain {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the system's own compiler builds for macOS here")
	}
	if testing.Short() {
		t.Skip("compiling for macOS takes a minute when nothing is cached")
	}
	chain, err := fetched()
	if errors.Is(err, ErrNotFetched) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// What other programs read, the go command does not see.
	if err := testkit.WatchInputs(repository); err != nil {
		t.Fatal(err)
	}
	return chain
}

// prepare gives the linker the lists and what Go needs itself.
func (t *Toolchain) prepare() error {
	lists, err := ReadLibraries("names")
	if err != nil {
		return err
	}
	own, err := t.goLibraries()
	if err != nil {
		return err
	}
	return t.stubs(append(lists, own...))
}
