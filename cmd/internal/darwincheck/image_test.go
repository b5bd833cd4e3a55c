package main

import (
	"debug/macho"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Load commands that debug/macho has no type for; the numbers are Apple's, from
// <mach-o/loader.h>.
const (
	loadWeakDylib     = 0x80000018
	loadReexportDylib = 0x8000001f
	loadCodeSignature = 0x1d
	loadDyldInfo      = 0x80000022
	loadBuildVersion  = 0x32
)

// platformMacOS is macOS in a LC_BUILD_VERSION command.
const platformMacOS = 1

// Image is what a Mach-O program says of itself to whoever starts it.
type Image struct {
	// Libraries are the install names of what is loaded with it, in order; a name
	// stands here as often as there.
	Libraries []string
	// RunPaths are the folders in which @rpath is looked for, in order.
	RunPaths []string
	// MinimumSystem is the oldest macOS that it starts on, such as 26.0.
	MinimumSystem string
	// Signed says that there is a code signature, without which no arm64 Mac
	// starts anything. Whether it is a good one is not looked at.
	Signed bool
	// Imports are the symbols that are taken from each library, by its install
	// name: without the underscore before them, in order, each once.
	Imports map[string][]string
}

// ReadImage reads the load commands of an arm64 program, and what it binds to
// which library.
func ReadImage(path string) (Image, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Image{}, err
	}
	file, err := macho.Open(path)
	if err != nil {
		return Image{}, fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	if file.Cpu != macho.CpuArm64 || file.Type != macho.TypeExec {
		return Image{}, fmt.Errorf("%s is %v for %v, not a program for arm64", path, file.Type, file.Cpu)
	}
	var image Image
	var info []byte
	for _, load := range file.Loads {
		switch l := load.(type) {
		case *macho.Dylib:
			image.Libraries = append(image.Libraries, l.Name)
		case *macho.Rpath:
			image.RunPaths = append(image.RunPaths, l.Path)
		default:
			raw := load.Raw()
			word := func(i int) uint32 { return file.ByteOrder.Uint32(raw[4*i:]) }
			switch word(0) {
			case loadWeakDylib, loadReexportDylib:
				return Image{}, fmt.Errorf("%s: load command %#x: this check counts the places of libraries and knows no such", path, word(0))
			case loadCodeSignature:
				image.Signed = true
			case loadDyldInfo:
				info = raw
			case loadBuildVersion:
				if word(2) != platformMacOS {
					return Image{}, fmt.Errorf("%s is for platform %d, and macOS is %d", path, word(2), platformMacOS)
				}
				image.MinimumSystem = fmt.Sprintf("%d.%d", word(3)>>16, word(3)>>8&0xff)
			}
		}
	}
	if info == nil {
		return Image{}, fmt.Errorf("%s has no LC_DYLD_INFO_ONLY, which says what it takes from where", path)
	}
	if err := image.bind(text, info, file.ByteOrder.Uint32); err != nil {
		return Image{}, fmt.Errorf("%s: %w", path, err)
	}
	return image, nil
}

// bind reads what is bound at once and what when it is first called. The third
// list, of symbols that any library may give anew, names no library.
func (i *Image) bind(text, info []byte, word func([]byte) uint32) error {
	i.Imports = map[string][]string{}
	var unknown error
	for _, at := range []int{16, 32} {
		from, size := int(word(info[at:])), int(word(info[at+4:]))
		if from < 0 || size < 0 || from+size > len(text) {
			return errors.New("the list of what is bound lies outside of the file")
		}
		err := bindings(text[from:from+size], func(place int, name string) {
			if place < 1 || place > len(i.Libraries) {
				unknown = fmt.Errorf("%s is from library %d, and there are %d", name, place, len(i.Libraries))
				return
			}
			library := i.Libraries[place-1]
			i.Imports[library] = append(i.Imports[library], strings.TrimPrefix(name, "_"))
		})
		if err := errors.Join(err, unknown); err != nil {
			return err
		}
	}
	for library, names := range i.Imports {
		slices.Sort(names)
		i.Imports[library] = slices.Compact(names)
	}
	return nil
}

// TestFaultyProgramsAreFound links small programs with one fault each, by zig
// itself, and has them judged.
func TestFaultyProgramsAreFound(t *testing.T) {
	chain := toolchain(t)
	lists := []Library{{Name: "CoreFoundation", Path: framework("CoreFoundation"), Names: []string{"CFRelease"}}}
	const text = "void CFRelease(const void *);\nint main(void) { CFRelease(0); return 0; }\n"
	const needed = "-target aarch64-macos.26.0 -framework CoreFoundation"
	for _, test := range []struct {
		name, flags string
		want        []string
	}{
		{"all is well", needed, nil},
		{"a library twice", needed + " -framework CoreFoundation", []string{"try loads " + framework("CoreFoundation") + " twice; macOS 26 refuses to start it"}},
		{"a library that nobody asked for", needed + " -framework Security", []string{"try loads " + framework("Security") + ", which nobody said that it needs"}},
		{"a run path that nobody asked for", needed + " -Wl,-rpath,@executable_path/lib", []string{"try has the run path @executable_path/lib, which nobody said that it needs"}},
		{"another system", strings.Replace(needed, "26.0", "14.0", 1), []string{"try is for macOS 14.0 and newer, not 26.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			source, out := filepath.Join(dir, "try.c"), filepath.Join(dir, "try")
			is.NoErr(os.WriteFile(source, []byte(text), 0o644))
			args := append([]string{"cc", "-nostdlib", "-lSystem", "-F" + chain.built("sdk/Frameworks"), "-o", out, source}, strings.Fields(test.flags)...)
			cache := filepath.Join(chain.root, "build/cache/zig")
			zig := &Toolchain{root: chain.root, env: []string{"ZIG_GLOBAL_CACHE_DIR=" + cache, "ZIG_LOCAL_CACHE_DIR=" + cache}}
			_, err := zig.command(filepath.Join(chain.root, "build/tools/zig/ziglang/zig"), args...)
			is.NoErr(err)
			image, err := ReadImage(out)
			is.NoErr(err)
			is.Equal(image.Imports[framework("CoreFoundation")], []string{"CFRelease"})
			is.Equal(judge(Program{Name: "try", All: true}, image, lists, nil), test.want)
			is.Equal(differences(lists, map[string]Image{"try": image}, nil, nil), nil)
		})
	}
}

func TestJudge(t *testing.T) {
	const sum = "/usr/lib/libsum.1.dylib"
	lists := []Library{{Name: "sum", Path: sum, Names: []string{"add", "sub"}}, {Name: cxxList, Path: cxxLibrary}}
	well := func() Image {
		return Image{
			Libraries: []string{libSystem, cxxLibrary, mlxLibrary}, MinimumSystem: "26.0", Signed: true,
			RunPaths: []string{"@executable_path/lib", "/r/build/mlx/current/mlx/lib"},
			Imports:  map[string][]string{mlxLibrary: {"_ZN3mlx4core3sumEv"}, cxxLibrary: {"__cxa_throw"}},
		}
	}
	worker := Program{Name: "worker", LinksMLX: true, Lists: []string{cxxList}, RunPath: "@executable_path/lib"}
	for _, test := range []struct {
		name   string
		change func(*Image)
		want   []string
	}{
		{"all is well", func(*Image) {}, nil},
		{"MLX's name from elsewhere", func(i *Image) { i.Imports[cxxLibrary] = []string{"_ZN3mlx4core3sumEv"} },
			[]string{"worker takes _ZN3mlx4core3sumEv from " + cxxLibrary + ", not from MLX"}},
		{"another program's library", func(i *Image) { i.Libraries = append(i.Libraries, sum) },
			[]string{"worker loads " + sum + ", which nobody said that it needs"}},
		{"no run path for the bundle", func(i *Image) { i.RunPaths = i.RunPaths[1:] },
			[]string{"worker has no run path that ends in @executable_path/lib"}},
		{"a run path twice", func(i *Image) { i.RunPaths = append(i.RunPaths, i.RunPaths[0]) }, []string{"worker has the run path @executable_path/lib twice"}},
		{"no signature", func(i *Image) { i.Signed = false }, []string{"worker is not signed"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			image := well()
			test.change(&image)
			is.Equal(judge(worker, image, lists, nil), test.want)
		})
	}
}

func TestListsHoldWhatIsUsed(t *testing.T) {
	const sum = "/usr/lib/libsum.1.dylib"
	images := map[string]Image{
		"a": {Imports: map[string][]string{sum: {"add", "gosub"}, "/else": {"div"}}},
		"b": {Imports: map[string][]string{sum: {"add", "mul"}}},
	}
	own := []Library{{Path: sum, Names: []string{"gosub", "mul"}}, {Path: "/else", Names: []string{"add"}}}
	words := map[string]bool{"add": true, "mul": true}
	for _, test := range []struct {
		name  string
		names []string
		want  []string
	}{
		{"exactly", []string{"add", "mul"}, nil},
		{"a name that no program uses", []string{"add", "div", "mul"}, []string{"names/sum.txt: no program uses div"}},
		{"a name that only Go uses", []string{"add", "gosub", "mul"}, []string{"names/sum.txt: no program uses gosub"}},
		{"a name that Go happens to use too", []string{"add"}, []string{"names/sum.txt lacks mul, which is found only because Go uses it too"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			faults := differences([]Library{{Name: "sum", Path: sum, Names: test.names}}, images, own, words)
			for i, f := range faults {
				faults[i], _, _ = strings.Cut(f, ": go test")
			}
			is.Equal(faults, test.want)
		})
	}
}

func TestBindings(t *testing.T) {
	type binding struct {
		library int
		name    string
	}
	for _, test := range []struct {
		name string
		code string
		want []binding
		bad  bool
	}{
		{name: "none"},
		{name: "one, and one more of the same library", code: "\x11\x40_a\x00\x51\x72\x10\x90\x41_b\x00\x90\x00", want: []binding{{1, "_a"}, {1, "_b"}}},
		{name: "lazy ones, with an end behind each", code: "\x72\x80\x01\x12\x40_a\x00\x90\x00\x72\x08\x13\x40_b\x00\x90\x00\x00\x00", want: []binding{{2, "_a"}, {3, "_b"}}},
		{name: "many libraries", code: "\x20\x90\x01\x40_a\x00\x90", want: []binding{{144, "_a"}}},
		{name: "every way to bind", code: "\x11\x40_a\x00\x60\x7f\x80\x08\xa0\x08\xb2\xc0\x03\x08", want: []binding{{1, "_a"}, {1, "_a"}, {1, "_a"}}},
		{name: "a name without an end", code: "\x11\x40_a", bad: true},
		{name: "a number without an end", code: "\x20\x80", bad: true},
		{name: "a step of another kind", code: "\xd0", bad: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			var got []binding
			err := bindings([]byte(test.code), func(library int, name string) { got = append(got, binding{library, name}) })
			is.Equal(err != nil, test.bad)
			if !test.bad {
				is.True(slices.Equal(got, test.want))
			}
		})
	}
}
