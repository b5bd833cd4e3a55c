package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
)

// strict are the warnings that no C file of ours may give, for a reader and for
// whoever compiles it with the next compiler.
var strict = []string{"-O2", "-Wall", "-Wextra", "-Werror"}

// CFiles gives the C files that a Mac compiles, by their paths, each with the
// flags of its package.
func (t *Toolchain) CFiles() (map[string][]string, error) {
	packages, err := t.packages("./...")
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, p := range packages {
		if !p.own() {
			continue
		}
		for _, file := range p.files(p.CFiles) {
			all[file] = append(all[file], p.CgoCFLAGS...)
		}
	}
	return all, nil
}

var word = regexp.MustCompile(`\w+`)

// words gives every word in our own C, headers and Go files that call C.
func (t *Toolchain) words() (map[string]bool, error) {
	packages, err := t.packages("./...")
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, p := range packages {
		if !p.own() {
			continue
		}
		for _, file := range p.files(slices.Concat(p.CFiles, p.HFiles, p.CgoFiles)) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, w := range word.FindAll(text, -1) {
				all[string(w)] = true
			}
		}
	}
	return all, nil
}

// compileAll compiles C files for macOS, and says what is wrong with them.
func (t *Toolchain) compileAll(files map[string][]string) error {
	objects, err := os.MkdirTemp("", "darwincheck")
	if err != nil {
		return err
	}
	defer os.RemoveAll(objects)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var faults error
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for file, flags := range files {
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			object := filepath.Join(objects, fmt.Sprintf("%x.o", file))
			args := append([]string{t.root, "cc", "-c"}, strict...)
			args = append(append(args, flags...), "-I"+filepath.Dir(file), "-o", object, file)
			if _, err := t.command(t.built("zigcc"), args...); err != nil {
				mu.Lock()
				defer mu.Unlock()
				faults = errors.Join(faults, err)
			}
		})
	}
	wait.Wait()
	return faults
}

// TestCFiles compiles every C file that a Mac would, against our declarations.
func TestCFiles(t *testing.T) {
	is := is.New(t)
	chain := toolchain(t)
	files, err := chain.CFiles()
	is.NoErr(err)
	here, err := filepath.Glob(filepath.Join(repository, "native/darwin/*.c"))
	is.NoErr(err)
	for _, file := range here {
		file, err := filepath.Abs(file)
		is.NoErr(err)
		if _, ok := files[file]; !ok {
			t.Errorf("%s is not in the build for macOS, so nobody compiles it", file)
		}
	}
	if err := chain.compileAll(files); err != nil {
		t.Error(err)
	}
}

// TestWrongCIsFound tries the compiler on mistakes.
func TestWrongCIsFound(t *testing.T) {
	chain := toolchain(t)
	for _, test := range []struct{ name, text, want string }{
		{"all is well", "#include <mach/mach_time.h>\nunsigned long long now(void);\nunsigned long long now(void) { return mach_continuous_time(); }\n", ""},
		{"a function of the system with an argument too many", "#include <mach/mach_time.h>\nunsigned long long now(void);\nunsigned long long now(void) { return mach_continuous_time(1); }\n", "too many arguments to function call"},
		{"a framework's function with an argument too few", "#include <CoreFoundation/CoreFoundation.h>\nvoid end(void);\nvoid end(void) { CFRelease(); }\n", "too few arguments to function call"},
		{"a function that nobody declared", "#include <CoreFoundation/CoreFoundation.h>\nvoid end(void);\nvoid end(void) { CFReleaze(0); }\n", "undeclared function 'CFReleaze'"},
		{"an unused argument", "int same(int a, int b);\nint same(int a, int b) { return a; }\n", "unused parameter 'b'"},
		{"another header of the system", "#include <linux/types.h>\n", "'linux/types.h' file not found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			file := filepath.Join(t.TempDir(), "try.c")
			is.NoErr(os.WriteFile(file, []byte(test.text), 0o644))
			err := chain.compileAll(map[string][]string{file: nil})
			if test.want == "" {
				is.NoErr(err)
				return
			}
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), test.want))
		})
	}
}
