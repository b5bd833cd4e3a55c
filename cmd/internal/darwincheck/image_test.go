package darwincheck

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

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
		{"a library twice", needed + " -framework CoreFoundation", []string{"try loads " + framework("CoreFoundation") + " twice, with which macOS 26 does not start it"}},
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
