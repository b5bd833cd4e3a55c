package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Library is what our programs use of one of the system's libraries.
type Library struct {
	// Name is the name of its list: IOKit for names/IOKit.txt.
	Name string
	// Path is the library's install name, under which a program loads it.
	Path string
	// Comment is the head of the list, lines that begin with #.
	Comment []string
	// Names are the symbols, as C sees them: without the underscore before them.
	Names []string
}

// ReadLibraries reads the lists in a folder, in the order of their names. In a
// list, the first line that is no comment is the install name, every other one a
// symbol; symbols stand in order and once.
func ReadLibraries(folder string) ([]Library, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []Library
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		library, err := parseLibrary(strings.TrimSuffix(filepath.Base(file), ".txt"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, library)
	}
	return all, nil
}

func parseLibrary(name, text string) (Library, error) {
	l := Library{Name: name}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			l.Comment = append(l.Comment, line)
		case line == "":
		case l.Path == "":
			l.Path = line
		case strings.ContainsAny(line, " \t,'\""):
			return l, fmt.Errorf("%q is no symbol", line)
		default:
			l.Names = append(l.Names, line)
		}
	}
	if !strings.HasPrefix(l.Path, "/") {
		return l, fmt.Errorf("%q is no install name", l.Path)
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(l.Names))); !slices.Equal(sorted, l.Names) {
		return l, fmt.Errorf("the names are not in order, or not each there once")
	}
	return l, nil
}

// format gives the list as it is kept.
func (l Library) format() []byte {
	var b bytes.Buffer
	for _, line := range l.Comment {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintln(&b, l.Path)
	for _, name := range l.Names {
		fmt.Fprintln(&b, name)
	}
	return b.Bytes()
}

// stub gives the library as a linker reads it: Apple's text form of a library
// without code (.tbd, version 4).
func (l Library) stub() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\ninstall-name: '%s'\nexports:\n", l.Path)
	fmt.Fprintf(&b, "  - targets: [ arm64-macos ]\n    symbols: [")
	for i, name := range l.Names {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " '_%s'", name)
	}
	b.WriteString(" ]\n...\n")
	return b.Bytes()
}

// stubFile gives where the linker looks for the stub, below the folder sdk.
func (l Library) stubFile() string {
	base := filepath.Base(l.Path)
	if strings.Contains(l.Path, ".framework/") {
		return filepath.Join("Frameworks", base+".framework", base+".tbd")
	}
	plain, _, _ := strings.Cut(base, ".") // libresolv.9.dylib is linked by -lresolv
	return filepath.Join("lib", plain+".tbd")
}

// merge puts libraries of the same path together.
func merge(all []Library) []Library {
	byPath := map[string]Library{}
	for _, l := range all {
		if have, ok := byPath[l.Path]; ok {
			l.Name, l.Comment = have.Name, have.Comment
			l.Names = slices.Concat(have.Names, l.Names)
		}
		l.Names = slices.Compact(slices.Sorted(slices.Values(l.Names)))
		byPath[l.Path] = l
	}
	var out []Library
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		out = append(out, byPath[path])
	}
	return out
}

func TestLibraries(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       Library
		fault      bool
	}{
		{name: "whole", text: "# Sums.\n/usr/lib/libsum.2.dylib\n\nadd\n sub \n",
			want: Library{Name: "x", Path: "/usr/lib/libsum.2.dylib", Comment: []string{"# Sums."}, Names: []string{"add", "sub"}}},
		{name: "no names yet", text: "/usr/lib/libsum.2.dylib\n", want: Library{Name: "x", Path: "/usr/lib/libsum.2.dylib"}},
		{name: "no install name", text: "add\n", fault: true},
		{name: "empty", fault: true},
		{name: "out of order", text: "/a\nsub\nadd\n", fault: true},
		{name: "twice", text: "/a\nadd\nadd\n", fault: true},
		{name: "a remark", text: "/a\nadd # sums\n", fault: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			got, err := parseLibrary("x", test.text)
			is.Equal(err != nil, test.fault)
			if test.fault {
				return
			}
			is.Equal(got, test.want)
			again, err := parseLibrary("x", string(got.format()))
			is.NoErr(err)
			is.Equal(again, got) // what is kept can be read
		})
	}
}

func TestStub(t *testing.T) {
	is := is.New(t)
	l := Library{Path: framework("IOKit"), Names: []string{"IOA", "IOB"}}
	is.Equal(l.stubFile(), "Frameworks/IOKit.framework/IOKit.tbd")
	is.Equal(string(l.stub()), `--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos ]
install-name: '/System/Library/Frameworks/IOKit.framework/Versions/A/IOKit'
exports:
  - targets: [ arm64-macos ]
    symbols: [ '_IOA', '_IOB' ]
...
`)
	is.Equal(Library{Path: "/usr/lib/libresolv.9.dylib"}.stubFile(), "lib/libresolv.tbd")
	is.Equal(Library{Path: cxxLibrary}.stubFile(), "lib/libc++.tbd")
}

func TestMerge(t *testing.T) {
	is := is.New(t)
	is.Equal(merge([]Library{
		{Name: "B", Path: "/b", Names: []string{"z"}, Comment: []string{"# b"}}, {Name: "A", Path: "/a", Names: []string{"x"}},
		{Name: "b", Path: "/b", Names: []string{"y", "z"}},
	}), []Library{
		{Name: "A", Path: "/a", Names: []string{"x"}}, {Name: "B", Path: "/b", Names: []string{"y", "z"}, Comment: []string{"# b"}},
	})
}

func TestListOfASymbol(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	header := filepath.Join(root, "native/darwin/apple/IOKit/ps/IOPowerSources.h")
	is.NoErr(os.MkdirAll(filepath.Dir(header), 0o755))
	is.NoErr(os.WriteFile(header, []byte("CFTypeRef IOPSCopyPowerSourcesInfo(void);\n"), 0o644))
	for name, want := range map[string]string{
		"IOPSCopyPowerSourcesInfo": "IOKit", "IOPSCopyPowerSources": "", "_ZSt9terminatev": "libc++", "__cxa_throw": "libc++",
		"__CFConstantStringClassReference": "CoreFoundation",
	} {
		got, err := listFor(root, name)
		is.NoErr(err)
		is.Equal(got, want)
	}
}
