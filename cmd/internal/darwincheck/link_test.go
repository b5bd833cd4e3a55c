package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/cmd/internal/bundle/layout"
)

const (
	mlxLibrary = "@rpath/libmlx.dylib"
	cxxLibrary = "/usr/lib/libc++.1.dylib"
)

// TestPrograms links what is shipped, as a Mac would, and looks at the results.
func TestPrograms(t *testing.T) {
	chain := toolchain(t)
	lists, err := ReadLibraries("names")
	if err != nil {
		t.Fatal(err)
	}
	own, err := chain.goLibraries()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		lists, err = chain.learn(lists, own)
		if err != nil {
			t.Fatal(err)
		}
	}
	images := map[string]Image{}
	for _, p := range programs() {
		path, err := chain.build(p)
		for _, name := range undefined(err) {
			t.Errorf("%s uses %s, which is in no list: go test ./cmd/internal/darwincheck -run Programs -update", p.Name, name)
		}
		if err != nil {
			t.Fatal(err)
		}
		if images[p.Name], err = ReadImage(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range programs() {
		t.Run(p.Name, func(t *testing.T) {
			for _, fault := range judge(p, images[p.Name], lists, own) {
				t.Error(fault)
			}
		})
	}
	t.Run("names", func(t *testing.T) {
		words, err := chain.words()
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range differences(lists, images, own, words) {
			t.Error(fault)
		}
	})
	t.Run("MLX", func(t *testing.T) {
		is := is.New(t)
		is.True(len(images["fulmen-rank"].Imports[mlxLibrary]) > 20)
		is.True(len(images["fulmen-rank"].Imports[cxxLibrary]) > 10)
	})
	t.Run("bundle", func(t *testing.T) { checkBundle(t, chain) })
}

// TestAMacBuildsWhatIsCheckedHere holds the Makefile and the bundle to the flags
// and the minimum system of these checks.
func TestAMacBuildsWhatIsCheckedHere(t *testing.T) {
	is := is.New(t)
	makefile, err := os.ReadFile(filepath.Join(repository, "Makefile"))
	is.NoErr(err)
	for _, p := range programs() {
		is.True(strings.Contains(string(makefile), "-ldflags '"+layout.Linking(p.Name)+"'"))
	}
	is.True(strings.Contains(string(makefile), "MACOSX_DEPLOYMENT_TARGET := "+minimumSystem+"\n"))
	bundle, err := os.ReadFile(filepath.Join(repository, "Info.plist"))
	is.NoErr(err)
	is.True(regexp.MustCompile(`<key>LSMinimumSystemVersion</key>\s*<string>` + regexp.QuoteMeta(minimumSystem) + `</string>`).Match(bundle))
}

// judge says what is wrong with a program for macOS.
func judge(p Program, image Image, lists, own []Library) []string {
	var faults []string
	fault := func(format string, args ...any) {
		faults = append(faults, p.Name+" "+fmt.Sprintf(format, args...))
	}
	want := []string{libSystem}
	for _, l := range own {
		want = append(want, l.Path)
	}
	for _, l := range lists {
		if p.needs(l.Name) {
			want = append(want, l.Path)
		}
	}
	var runPaths []string
	if p.LinksMLX {
		want = append(want, mlxLibrary)
		runPaths = []string{p.RunPath, "/build/mlx/current/mlx/lib"}
	}
	for i, path := range image.Libraries {
		if slices.Contains(image.Libraries[:i], path) {
			fault("loads %s twice; macOS 26 refuses to start it", path)
		}
		if !slices.Contains(want, path) {
			fault("loads %s, which nobody said that it needs", path)
		}
	}
	for i, path := range image.RunPaths {
		if slices.Contains(image.RunPaths[:i], path) {
			fault("has the run path %s twice", path)
		}
		if !slices.ContainsFunc(runPaths, func(known string) bool { return strings.HasSuffix(path, known) }) {
			fault("has the run path %s, which nobody said that it needs", path)
		}
	}
	for _, path := range runPaths {
		if !slices.ContainsFunc(image.RunPaths, func(have string) bool { return strings.HasSuffix(have, path) }) {
			fault("has no run path that ends in %s", path)
		}
	}
	if image.MinimumSystem != minimumSystem {
		fault("is for macOS %s and newer, not %s", image.MinimumSystem, minimumSystem)
	}
	if !image.Signed {
		fault("is not signed")
	}
	for library, names := range image.Imports {
		for _, name := range names {
			if strings.Contains(name, "3mlx") && library != mlxLibrary {
				fault("takes %s from %s, not from MLX", name, library)
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// required gives the names that stand in the list of a library: those that a
// program takes from it, without what only Go's standard library uses, which
// differs by its version.
func required(l Library, images map[string]Image, own []Library, words map[string]bool) []string {
	goUses := map[string]bool{}
	for _, o := range own {
		if o.Path == l.Path {
			for _, name := range o.Names {
				goUses[name] = true
			}
		}
	}
	var names []string
	for _, image := range images {
		for _, name := range image.Imports[l.Path] {
			if !goUses[name] || words[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// differences says how the lists differ from what is required of them.
func differences(lists []Library, images map[string]Image, own []Library, words map[string]bool) []string {
	const remedy = ": go test ./cmd/internal/darwincheck -run Programs -update"
	var faults []string
	for _, l := range lists {
		want := required(l, images, own, words)
		for _, name := range l.Names {
			if !slices.Contains(want, name) {
				faults = append(faults, "names/"+l.Name+".txt: no program uses "+name+remedy)
			}
		}
		for _, name := range want {
			if !slices.Contains(l.Names, name) {
				faults = append(faults, "names/"+l.Name+".txt lacks "+name+", which is found only because Go uses it too"+remedy)
			}
		}
	}
	return faults
}

// goLibraries gives what Go's standard library needs in the programs.
func (t *Toolchain) goLibraries() ([]Library, error) {
	packages, err := t.packages("./cmd/fulmend", "./cmd/fulmen-shim", "./cmd/fulmen", "./cmd/fulmen-rank")
	if err != nil {
		return nil, err
	}
	return goLibraries(packages)
}

// learn writes the lists anew: the names that a link does not find are added,
// each to the list of the framework that declares it; then each list is made of
// what is required of it.
func (t *Toolchain) learn(lists, own []Library) ([]Library, error) {
	byName := map[string]*Library{}
	for i := range lists {
		byName[lists[i].Name] = &lists[i]
	}
	images := map[string]Image{}
	for _, p := range programs() {
		_, err := t.build(p)
		for _, name := range undefined(err) {
			list, err := listFor(t.root, name)
			if err != nil {
				return nil, err
			}
			if byName[list] == nil {
				return nil, fmt.Errorf("%s uses %s; no header in native/darwin/apple declares it, or names/%s.txt is not there: write the file, with the install name alone", p.Name, name, list)
			}
			byName[list].Names = append(byName[list].Names, name)
		}
		if err != nil {
			if err := t.stubs(append(slices.Clone(lists), own...)); err != nil {
				return nil, err
			}
		}
		path, err := t.build(p)
		if err != nil {
			return nil, err
		}
		if images[p.Name], err = ReadImage(path); err != nil {
			return nil, err
		}
	}
	words, err := t.words()
	if err != nil {
		return nil, err
	}
	for i := range lists {
		lists[i].Names = required(lists[i], images, own, words)
		if err := os.WriteFile(filepath.Join("names", lists[i].Name+".txt"), lists[i].format(), 0o644); err != nil {
			return nil, err
		}
	}
	return lists, t.stubs(append(slices.Clone(lists), own...))
}
