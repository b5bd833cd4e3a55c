package machofile_test

import (
	"bytes"
	"debug/macho"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/cmd/internal/bundle/bundletest"
	"fulmen/cmd/internal/bundle/machofile"
)

func small() bundletest.Image {
	return bundletest.Image{
		Libraries: []string{"/usr/lib/libSystem.B.dylib", "@rpath/libmlx.dylib"}, Weak: []string{"/usr/lib/libobjc.A.dylib"},
		RunPaths: []string{"/src/lib", "@executable_path/../Resources/mlx", "/other"}, Text: "worker",
	}
}

func parse(t *testing.T, data []byte) *machofile.File {
	t.Helper()
	file, err := machofile.Parse(data)
	is.New(t).NoErr(err)
	return file
}

func TestParse(t *testing.T) {
	is := is.New(t)
	file := parse(t, small().Bytes())
	is.True(file.Program)
	is.Equal(file.Libraries, []string{"/usr/lib/libSystem.B.dylib", "@rpath/libmlx.dylib", "/usr/lib/libobjc.A.dylib"})
	is.Equal(file.RunPaths, []string{"/src/lib", "@executable_path/../Resources/mlx", "/other"})
	is.Equal(file.MinimumSystem, "26.0")
	library := parse(t, bundletest.Image{Name: "@rpath/libjaccl.dylib", System: 14}.Bytes())
	is.True(!library.Program)
	is.Equal(library.Name, "@rpath/libjaccl.dylib")
	is.Equal(library.MinimumSystem, "14.0")
}

func TestKeepRunPaths(t *testing.T) {
	is := is.New(t)
	file := parse(t, small().Bytes())
	dropped, err := file.KeepRunPaths(func(path string) bool { return strings.HasPrefix(path, "@") })
	is.NoErr(err)
	is.Equal(dropped, []string{"/src/lib", "/other"})
	is.Equal(file.RunPaths, []string{"@executable_path/../Resources/mlx"})
	is.Equal(len(file.Libraries), 3) // the rest stayed
	is.True(!bytes.Contains(file.Bytes(), []byte("/src/lib")))
	signed, err := bundletest.SignFile(file.Bytes(), bundletest.Seal{Identifier: "org.fulmen.rank"})
	is.NoErr(err)
	others, err := macho.NewFile(bytes.NewReader(signed)) // somebody else's eyes
	is.NoErr(err)
	is.Equal(len(others.Loads), 8) // all but the two
}

func TestSign(t *testing.T) {
	is := is.New(t)
	file := parse(t, small().Bytes())
	_, err := file.Signature()
	is.True(err != nil) // a place for a signature is none
	seal := bundletest.Seal{Identifier: "org.fulmen.rank", Info: []byte("info"), Resources: []byte("list")}
	signed, err := bundletest.SignFile(file.Bytes(), seal)
	is.NoErr(err)
	again := parse(t, slices.Clone(signed))
	signature, err := again.Signature()
	is.NoErr(err)
	is.Equal(signature.Identifier, "org.fulmen.rank")
	is.True(signature.AdHoc)
	is.True(!signature.Runtime)
	is.Equal(signature.Team, "")
	is.True(signature.Sealed(machofile.InfoSlot, []byte("info")))
	is.True(!signature.Sealed(machofile.InfoSlot, []byte("Info")))
	is.True(signature.Sealed(machofile.ResourcesSlot, []byte("list")))

	twice, err := bundletest.SignFile(again.Bytes(), seal)
	is.NoErr(err)
	is.Equal(twice, signed) // in place of the one that was there
}

func TestEveryChangedByteIsFound(t *testing.T) {
	is := is.New(t)
	whole, err := bundletest.SignFile(small().Bytes(), bundletest.Seal{Identifier: "org.fulmen.rank"})
	is.NoErr(err)
	original, err := parse(t, whole).Signature()
	is.NoErr(err)
	for at := 0; at < len(whole)-1; at += 97 {
		changed := slices.Clone(whole)
		changed[at] ^= 0x10
		other, err := machofile.Parse(changed)
		if err != nil {
			continue
		}
		signature, err := other.Signature()
		if err == nil && bytes.Equal(signature.Hash, original.Hash) && !slack(whole, at) {
			t.Errorf("byte %d was changed, and the signature holds", at)
		}
	}
}

// slack says whether a byte belongs to the signature's own frame, of which the
// system looks at the directory and the parts that the directory names.
func slack(whole []byte, at int) bool { return at >= 4*4096+64 && at < 4*4096+64+28 }

func TestWhatIsNoMachOIsRefused(t *testing.T) {
	is := is.New(t)
	good := small().Bytes()
	for name, spoil := range map[string]func(b []byte) []byte{
		"empty":               func([]byte) []byte { return nil },
		"a script":            func([]byte) []byte { return []byte("#!/bin/sh\necho this is long enough to be a header\n") },
		"another processor":   func(b []byte) []byte { b[4] = 7; return b },
		"an object file":      func(b []byte) []byte { b[12] = 1; return b },
		"cut in the commands": func(b []byte) []byte { return b[:100] },
		"a command of 0":      func(b []byte) []byte { b[36] = 0; return b },
		"a command too long":  func(b []byte) []byte { b[38] = 1; return b },
		"too many commands":   func(b []byte) []byte { b[17] = 1; return b },
	} {
		_, err := machofile.Parse(spoil(slices.Clone(good)))
		if err == nil {
			t.Error(name)
		}
	}
	_, err := machofile.Parse(good)
	is.NoErr(err)
}

// FuzzParse looks for files that make the reader or the signer panic.
func FuzzParse(f *testing.F) {
	tiny := small()
	tiny.Size = 2048
	f.Add(tiny.Bytes())
	signed, err := bundletest.SignFile(tiny.Bytes(), bundletest.Seal{Identifier: "a"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signed)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := machofile.Parse(data)
		if err != nil {
			return
		}
		_, _ = file.Signature()
		if _, err := file.KeepRunPaths(func(path string) bool { return len(path)%2 == 0 }); err != nil {
			t.Fatal(err)
		}
		signed, err := bundletest.SignFile(file.Bytes(), bundletest.Seal{Identifier: "org.fulmen"})
		if err != nil {
			return
		}
		if file, err = machofile.Parse(signed); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Signature(); err != nil {
			t.Fatal(err)
		}
	})
}
