package unitrecord_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/unitrecord"
)

func TestRecords(t *testing.T) {
	is := is.New(t)
	s := unitrecord.Store{Folder: filepath.Join(t.TempDir(), "not", "yet")}
	none, err := s.List("")
	is.NoErr(err)
	is.Equal(len(none), 0)
	is.True(errors.Is(s.Remove("org.fulmen.a"), native.ErrNotFound))

	a, b := unitrecord.Record{Label: "org.fulmen.a", Socket: "/s/a"}, unitrecord.Record{Label: "org.fulmen.b", Socket: "/s/b"}
	is.NoErr(s.Add(b))
	is.NoErr(s.Add(a))
	is.True(errors.Is(s.Add(unitrecord.Record{Label: "org.fulmen.a", Socket: "/other"}), native.ErrExists))
	a.PID, a.Started, a.Boot, a.Unit = 7, 8, "boot", "a.service"
	is.NoErr(s.Set(a))
	got, err := s.Get("org.fulmen.a")
	is.NoErr(err)
	is.Equal(got, a)
	all, err := s.List("org.fulmen.")
	is.NoErr(err)
	is.Equal(all, []unitrecord.Record{a, b})
	all, err = s.List("org.fulmen.b")
	is.NoErr(err)
	is.Equal(all, []unitrecord.Record{b})

	// What somebody has spoiled does not hide the rest.
	is.NoErr(os.WriteFile(filepath.Join(s.Folder, "org.fulmen.b.unit.json"), []byte("{"), 0o600))
	all, err = s.List("org.")
	is.True(err != nil)
	is.Equal(all, []unitrecord.Record{a})
	_, err = s.Get("../x")
	is.True(errors.Is(err, native.ErrNotFound))
	_, err = s.Attach(t.Context(), "org.fulmen.a")
	is.True(errors.Is(err, native.ErrNotFound)) // nothing listens
	left, err := os.ReadDir(s.Folder)
	is.NoErr(err)
	is.Equal(len(left), 2) // no other file is left
	is.NoErr(s.Remove("org.fulmen.a"))
}

// A power cut can leave a record without a text: the next daemon finds a unit that
// has ended.
func TestAnEmptyRecord(t *testing.T) {
	is := is.New(t)
	s := unitrecord.Store{Folder: t.TempDir()}
	is.NoErr(os.WriteFile(filepath.Join(s.Folder, "org.fulmen.a.unit.json"), nil, 0o600))
	empty := unitrecord.Record{Label: "org.fulmen.a"}
	all, err := s.List("")
	is.NoErr(err)
	is.Equal(all, []unitrecord.Record{empty})
	got, err := s.Get("org.fulmen.a")
	is.NoErr(err)
	is.Equal(got, empty)
	is.True(errors.Is(s.Add(empty), native.ErrExists)) // whoever takes its place removes it first
	is.NoErr(s.Remove("org.fulmen.a"))
	is.NoErr(s.Add(empty))
}

func TestCheck(t *testing.T) {
	good := native.Unit{Label: "org.fulmen.rank.j4k2m9xq7.0", Program: "/p", Env: []string{"A="}, Dir: "/", Socket: "/s", ErrorLog: "/l"}
	for _, test := range []struct {
		name    string
		change  func(*native.Unit)
		reports string
	}{
		{"good", func(*native.Unit) {}, ""},
		{"label", func(u *native.Unit) { u.Label = "a/b" }, "label"},
		{"long", func(u *native.Unit) { u.Label = strings.Repeat("a", 201) }, "label"},
		{"not ASCII", func(u *native.Unit) { u.Label = "a\u00e4" }, "label"},
		{"empty", func(u *native.Unit) { u.Label = "" }, "label"},
		{"option", func(u *native.Unit) { u.Label = "--user" }, "label"},
		{"program", func(u *native.Unit) { u.Program = "p" }, "program"},
		{"directory", func(u *native.Unit) { u.Dir = "." }, "directory"},
		{"socket", func(u *native.Unit) { u.Socket = "/" + strings.Repeat("s", 103) }, "socket"},
		{"log", func(u *native.Unit) { u.ErrorLog = "" }, "log"},
		{"variable", func(u *native.Unit) { u.Env = []string{"=x"} }, "variable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			u := good
			test.change(&u)
			err := unitrecord.Check(u)
			is.Equal(err != nil, test.reports != "")
			is.True(err == nil || strings.Contains(err.Error(), test.reports))
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"label":"a","socket":"/s","pid":1,"started":2,"boot":"b"}`))
	f.Add([]byte(`{"label":"a","pid":-1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := unitrecord.Decode(text, "a")
		if err == nil && (r.Label != "a" || r.PID < 0) {
			t.Errorf("accepted %+v", r)
		}
	})
}
