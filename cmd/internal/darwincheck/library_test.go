package darwincheck

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

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
