package darwincheck

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
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
