package inspect

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/app/mac/goflags"
	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/bundle/machofile"
	"fulmen/daemon/api"
)

// systemFolders hold the libraries that every Mac has.
func systemFolders() []string { return []string{"/usr/lib/", "/System/Library/"} }

// programs follows what each program loads, as the loader would: everything is
// the system's or lies in the bundle, and nothing is loaded twice.
func programs(bundle string) []string {
	var faults []string
	for _, name := range layout.Programs() {
		place := "Contents/MacOS/" + name
		file, err := read(filepath.Join(bundle, place))
		if err != nil {
			faults = append(faults, name+": "+err.Error())
			continue
		}
		if !file.Program {
			faults = append(faults, name+" is a library")
		}
		if file.MinimumSystem != api.MinMacOS {
			faults = append(faults, fmt.Sprintf("%s is for macOS %s and newer, not %s", name, file.MinimumSystem, api.MinMacOS))
		}
		if name == api.BundleExecutable {
			if err := flagged(filepath.Join(bundle, place)); err != nil {
				faults = append(faults, name+": "+err.Error())
			}
		}
		l := loader{bundle: bundle, program: name, paths: file.RunPaths, seen: map[string]bool{}}
		for _, p := range file.RunPaths {
			if _, inside := l.inside(p); !inside {
				l.fault("%s looks for libraries in %s, outside of the bundle", name, p)
			}
		}
		l.follow(name, file)
		faults = append(faults, l.faults...)
	}
	return faults
}

// flagged fails where the app was not built with its flag of the go command.
func flagged(program string) error {
	built, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	return goflags.Check(built)
}

// loader follows the libraries of one program.
type loader struct {
	bundle, program string
	paths           []string
	seen            map[string]bool
	faults          []string
}

func (l *loader) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// follow looks at what a file loads, and at what that loads.
func (l *loader) follow(name string, file *machofile.File) {
	for i, library := range file.Libraries {
		if slices.Contains(file.Libraries[:i], library) {
			l.fault("%s loads %s twice, so that macOS 26 does not start it", name, library)
		}
		if slices.ContainsFunc(systemFolders(), func(folder string) bool { return strings.HasPrefix(library, folder) }) {
			continue
		}
		place := l.find(library)
		if place == "" {
			l.fault("%s loads %s, which %s finds nowhere in the bundle", name, library, l.program)
			continue
		}
		if l.seen[place] {
			continue
		}
		l.seen[place] = true
		loaded, err := read(filepath.Join(l.bundle, place))
		switch {
		case err != nil:
			l.fault("%s: %v", place, err)
			continue
		case loaded.Program:
			l.fault("%s is a program", place)
		case loaded.Name != library:
			l.fault("%s calls itself %s, but %s loads it as %s", place, loaded.Name, name, library)
		}
		if len(loaded.RunPaths) > 0 {
			l.fault("%s looks for libraries in %s, which only a program may do", place, strings.Join(loaded.RunPaths, ", "))
		}
		l.follow(path.Base(place), loaded)
	}
}

// find gives the place of a library in the bundle; empty where there is none.
func (l *loader) find(name string) string {
	rest, ok := strings.CutPrefix(name, "@rpath/")
	if !ok {
		return ""
	}
	for _, p := range l.paths {
		if folder, inside := l.inside(p); inside {
			place := path.Join(folder, rest)
			if info, err := os.Stat(filepath.Join(l.bundle, place)); err == nil && info.Mode().IsRegular() {
				return place
			}
		}
	}
	return ""
}

// inside gives the folder that a run path names, from the bundle's root, and
// whether it lies in the bundle.
func (l *loader) inside(runPath string) (string, bool) {
	rest, ok := strings.CutPrefix(runPath, "@executable_path/")
	if !ok {
		return "", false
	}
	folder := path.Join("Contents/MacOS", rest)
	return folder, strings.HasPrefix(folder, "Contents/")
}
