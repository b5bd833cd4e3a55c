package darwincheck

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
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
	watch(t)
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

// watch looks at every file of the repository, so that a cached result of the
// test ends when one changes: what other programs read, the go command does not
// see.
func watch(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(repository, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "build" || name == "node_modules" || name == "__pycache__" || (strings.HasPrefix(name, ".git") && name != ".github")) {
			return filepath.SkipDir
		}
		_, err = os.Stat(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
