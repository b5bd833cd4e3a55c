package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fulmen/cmd/internal/bundle/layout"
	"fulmen/native/nativetest/testkit"
)

// Program is one that is built for macOS, and what it may need there.
type Program struct {
	// Name is the name of its folder in cmd.
	Name string
	// RunPath is where it looks for libraries on a Mac, beside the build tree.
	RunPath string
	// Lists are the libraries in names/ that it loads, by name, beside those of
	// Go's standard library; with All, every list but those of LinksMLX.
	Lists []string
	All   bool
	// LinksMLX says that it loads MLX, and the C++ library with it.
	LinksMLX bool
}

// minimumSystem is the oldest macOS that the programs start on, which is MLX's.
const minimumSystem = "26.0"

// cxxList is the list of the C++ library, which only the worker loads.
const cxxList = "libc++"

// programs are those that are shipped.
func programs() []Program {
	return []Program{
		{Name: "fulmen"},
		{Name: "fulmend", All: true},
		{Name: "fulmen-shim"},
		{Name: "fulmen-rank", LinksMLX: true, Lists: []string{cxxList}, RunPath: layout.RunPath("fulmen-rank")},
	}
}

// needs reports whether the program loads the library of a list.
func (p Program) needs(list string) bool {
	return slices.Contains(p.Lists, list) || (p.All && list != cxxList)
}

// stubs writes what the linker reads of the libraries, in place of what was there.
func (t *Toolchain) stubs(all []Library) error {
	sdk, made := t.built("sdk"), map[string]bool{}
	for _, l := range merge(all) {
		file := filepath.Join(sdk, l.stubFile())
		made[file] = true
		if err := testkit.WriteInput(file, l.stub(), 0o644); err != nil {
			return err
		}
	}
	return testkit.KeepInputs(sdk, made)
}

// build links a program and gives its path.
func (t *Toolchain) build(p Program) (string, error) {
	out := t.built(p.Name)
	// The go command does not see that a list has changed; it links again where
	// there is no program.
	if err := os.Remove(out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// -w: else Go calls this machine's strip, which knows no Mach-O.
	_, err := t.command("go", "build", "-ldflags", "-w "+layout.Linking(p.Name), "-o", out, "./cmd/"+p.Name)
	return out, err
}

var undefinedSymbol = regexp.MustCompile(`(?m)^error: undefined symbol: _?(\S+)`)

// undefined gives the symbols that a link did not find, as C sees them.
func undefined(err error) []string {
	if err == nil {
		return nil
	}
	var names []string
	for _, m := range undefinedSymbol.FindAllStringSubmatch(err.Error(), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// listFor says in which list a symbol belongs: that of the framework whose
// header in native/darwin/apple declares it, or the C++ library's.
func listFor(root, name string) (string, error) {
	if strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "__cxa_") {
		return cxxList, nil
	}
	if name == "__CFConstantStringClassReference" {
		return "CoreFoundation", nil // what the compiler makes of CFSTR
	}
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	apple := filepath.Join(root, "native/darwin/apple")
	var found string
	err := filepath.WalkDir(apple, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || found != "" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && word.Match(text) {
			relative, _ := filepath.Rel(apple, path)
			found, _, _ = strings.Cut(filepath.ToSlash(relative), "/")
		}
		return err
	})
	return found, err
}
