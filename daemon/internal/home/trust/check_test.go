package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// bin is an account that every system has, and that no person is.
const bin = 1

// place is root's own folder with bin/fulmend in it, and everything that a program
// may have beside it.
func place(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make files of other accounts")
	}
	is := is.New(t)
	top := filepath.Join(t.TempDir(), "opt")
	for _, folder := range []string{"", "bin", "elsewhere", "elsewhere/deep"} {
		is.NoErr(os.MkdirAll(filepath.Join(top, folder), 0o755))
	}
	for _, file := range []string{"bin/fulmend", "elsewhere/fulmend", "elsewhere/deep/fulmend"} {
		is.NoErr(os.WriteFile(filepath.Join(top, file), nil, 0o755))
	}
	return top
}

func TestCheck(t *testing.T) {
	type damage func(top string) error
	chown := func(path string, uid, gid int) damage {
		return func(top string) error { return os.Lchown(filepath.Join(top, path), uid, gid) }
	}
	chmod := func(path string, mode os.FileMode) damage {
		return func(top string) error { return os.Chmod(filepath.Join(top, path), mode) }
	}
	link := func(target, path string) damage {
		return func(top string) error {
			return errors.Join(os.RemoveAll(filepath.Join(top, path)), os.Symlink(strings.ReplaceAll(target, "TOP", top), filepath.Join(top, path)))
		}
	}
	person := 20000 // no system has such a group of its own
	for name, tt := range map[string]struct {
		damage  []damage
		reports string // empty: it is fine
		remedy  string
	}{
		"as it should be":            {},
		"readable by all":            {[]damage{chmod("bin/fulmend", 0o644)}, "", ""},
		"another's":                  {[]damage{chown("bin/fulmend", bin, 0)}, "it is not root's (owner ", `sudo chown root "`},
		"a group can write":          {[]damage{chmod("bin/fulmend", 0o775)}, "can write it", `sudo chmod go-w "`},
		"everybody can write":        {[]damage{chmod("bin/fulmend", 0o757)}, "everybody can write it (owner root, uid 0, mode 0757)", "chmod go-w"},
		"folder of another":          {[]damage{chown("bin", bin, 0)}, "the folder ", "chown root"},
		"folder far above":           {[]damage{chown("", bin, 0)}, "opt is not root's", "chown root"},
		"folder for everybody":       {[]damage{chmod("bin", 0o777)}, "everybody can write the folder", "chmod go-w"},
		"names are protected":        {[]damage{chmod("bin", 0o777|os.ModeSticky)}, "", ""},
		"but not of itself":          {[]damage{chmod("bin/fulmend", 0o777|os.ModeSticky)}, "everybody can write it", "chmod"},
		"folder of a system's group": {[]damage{chmod("bin", 0o775)}, "", ""},
		"folder of a person's group": {[]damage{chown("bin", 0, person), chmod("bin", 0o775)}, "the group 20000 can write the folder", "chmod"},
		"link to what is fine":       {[]damage{link("../elsewhere/fulmend", "bin/fulmend")}, "", ""},
		"absolute link":              {[]damage{link("TOP/elsewhere/deep/../fulmend", "bin/fulmend")}, "", ""},
		"link of another":            {[]damage{link("../elsewhere/fulmend", "bin/fulmend"), chown("bin/fulmend", bin, 0)}, "the link ", "chown -h root"},
		"link to another's":          {[]damage{link("../elsewhere/fulmend", "bin/fulmend"), chown("elsewhere/fulmend", bin, 0)}, "elsewhere/fulmend is not root's", "chown root"},
		"link through another's":     {[]damage{link("../elsewhere/deep/fulmend", "bin/fulmend"), chown("elsewhere", bin, 0)}, "the folder ", "chown root"},
		"link out and back":          {[]damage{link("../elsewhere/deep/../../bin/real", "bin/fulmend"), link("../elsewhere/fulmend", "bin/real"), chown("elsewhere/deep", bin, 0)}, "elsewhere/deep is not root's", "chown root"},
		"folder that is a link":      {[]damage{link("elsewhere", "bin"), chmod("elsewhere", 0o777)}, "everybody can write the folder", "chmod"},
		"link in a folder for all":   {[]damage{chmod("bin", 0o777|os.ModeSticky), link("../elsewhere/fulmend", "bin/fulmend"), chown("bin/fulmend", bin, 0)}, "the link ", "chown -h"},
		"a circle":                   {[]damage{link("fulmend", "bin/fulmend")}, "too many", ""},
		"nothing":                    {[]damage{func(top string) error { return os.Remove(filepath.Join(top, "bin/fulmend")) }}, "no such file", ""},
		"link to nothing":            {[]damage{link("nothing", "bin/fulmend")}, "no such file", ""},
		"a file where a folder should": {[]damage{func(top string) error {
			return errors.Join(os.RemoveAll(filepath.Join(top, "bin")), os.WriteFile(filepath.Join(top, "bin"), nil, 0o755))
		}}, "not a directory", ""},
		"a folder, for a program": {[]damage{func(top string) error {
			return errors.Join(os.Remove(filepath.Join(top, "bin/fulmend")), os.Mkdir(filepath.Join(top, "bin/fulmend"), 0o755))
		}, chmod("bin/fulmend", 0o777|os.ModeSticky)}, "everybody can write it", "chmod"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			top := place(t)
			for _, change := range tt.damage {
				is.NoErr(change(top))
			}
			err := Check(filepath.Join(top, "bin", "fulmend"))
			if tt.reports == "" {
				is.NoErr(err)
				return
			}
			is.True(err != nil)
			t.Log(err)
			is.True(strings.Contains(err.Error(), tt.reports))
			if tt.remedy != "" {
				is.True(errors.Is(err, api.ReasonInsecurePermissions))
				is.True(strings.Contains(api.AsError(err).Data.Remedy, tt.remedy))
				is.True(strings.Contains(err.Error(), filepath.Join(top, "bin", "fulmend"))) // what was asked for
			}
		})
	}
}

// An app that somebody dragged to its place is theirs as a whole.
func TestApp(t *testing.T) {
	is := is.New(t)
	top := place(t)
	program := filepath.Join(top, "Fulmen.app", "Contents", "MacOS", "fulmend")
	is.NoErr(os.MkdirAll(filepath.Dir(program), 0o755))
	is.NoErr(os.WriteFile(program, nil, 0o755))
	is.NoErr(Check(program))
	for path := program; path != top; path = filepath.Dir(path) {
		is.NoErr(os.Chown(path, bin, 0))
	}
	err := Check(program)
	is.True(errors.Is(err, api.ReasonInsecurePermissions))
	app := filepath.Join(top, "Fulmen.app")
	is.Equal(api.AsError(err).Data.Remedy, `Make it root's alone: sudo chown -R root:wheel "`+app+`" && sudo chmod -R go-w "`+app+`"`)
}

func TestCheckFolder(t *testing.T) {
	is := is.New(t)
	top := place(t)
	is.NoErr(CheckFolder(filepath.Join(top, "elsewhere")))
	is.NoErr(CheckFolder(filepath.Join(top, "nowhere")))
	is.NoErr(os.Symlink("nothing", filepath.Join(top, "elsewhere", "dangling")))
	is.NoErr(CheckFolder(filepath.Join(top, "elsewhere")))
	is.NoErr(os.Chmod(filepath.Join(top, "elsewhere", "fulmend"), 0o777))
	is.True(errors.Is(CheckFolder(filepath.Join(top, "elsewhere")), api.ReasonInsecurePermissions))
}

func TestRelativePath(t *testing.T) {
	is.New(t).True(errors.Is(Check("bin/fulmend"), fs.ErrInvalid))
}
