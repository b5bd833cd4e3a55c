package rdma

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
)

var update = flag.Bool("update", false, "write the golden files anew")

func sampleRecord(t testing.TB) change.Record {
	t.Helper()
	link := cable(nodeA, 2, nodeB, 3)
	r, err := change.Plan(
		change.Found{Interface: "en2", Present: true, Bridges: []change.Membership{{Bridge: "bridge0", Kernel: true, Stored: true}}},
		change.Asked{Record: change.Record{Change: "c4k2m9xq7", Link: link, End: link.Low, By: ada, StartedAt: api.TimeOf(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))}})
	is.New(t).NoErr(err)
	r.State = api.RDMAChangeActive
	r.Steps[0].State, r.Steps[1].State, r.Steps[1].Service.ID = api.RDMAStepDone, api.RDMAStepDone, "5F0C6A0E-9B1D-4A8E-8C33-0C1B4C1F2A77"
	return r
}

// The file can be read by a person, and by any later version: its form stays.
func TestUndoFile(t *testing.T) {
	is := is.New(t)
	f := UndoFile{Path: filepath.Join(t.TempDir(), api.UndoFile)}
	none, err := f.Load()
	is.NoErr(err)
	is.Equal(len(none), 0)
	want := sampleRecord(t)
	is.NoErr(f.Save([]change.Record{want}))
	raw, err := os.ReadFile(f.Path)
	is.NoErr(err)
	golden := filepath.Join("testdata", "undo.json")
	if *update {
		is.NoErr(os.MkdirAll("testdata", 0o755))
		is.NoErr(os.WriteFile(golden, raw, 0o644))
	}
	expected, err := os.ReadFile(golden)
	is.NoErr(err)
	is.Equal(string(raw), string(expected))
	got, err := f.Load()
	is.NoErr(err)
	is.Equal(got, []change.Record{want})
	is.Equal(f.Open(), 1)
	undone := want
	undone.State = api.RDMAChangeUndone
	is.NoErr(f.Save([]change.Record{want, undone, want}))
	is.Equal(f.Open(), 2) // which have something to put back
	is.NoErr(f.Save(nil))
	is.Equal(f.Open(), 0)
	raw, err = os.ReadFile(f.Path)
	is.NoErr(err)
	is.True(bytes.Contains(raw, []byte(`"changes": []`))) // a list, if an empty one
	got, err = f.Load()
	is.NoErr(err)
	is.Equal(len(got), 0)
	info, err := os.Stat(f.Path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
}

func TestUndoFileDamaged(t *testing.T) {
	sound, err := os.ReadFile(filepath.Join("testdata", "undo.json"))
	is.New(t).NoErr(err)
	for name, change := range map[string][2]string{
		"version":   {`"version": 1`, `"version": 2`},
		"cut":       {"}\n  ]\n}\n", ""},
		"state":     {`"active"`, `"glowing"`},
		"interface": {`"interface": "en2"`, `"interface": "en3"`},
		"end":       {`"end": "axwfk1even66ca3j:2"`, `"end": "axwfk1even66ca3j:4"`},
		"step":      {`"what": "bridge"`, `"what": "service"`},
		"no id":     {`"change": "c4k2m9xq7"`, `"change": ""`},
		"addresses": {`"169.254.1.1/30"
            ]`, `]`},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			raw := bytes.Replace(sound, []byte(change[0]), []byte(change[1]), 1)
			is.True(!bytes.Equal(raw, sound))
			f := UndoFile{Path: filepath.Join(t.TempDir(), api.UndoFile)}
			is.NoErr(os.WriteFile(f.Path, raw, 0o600))
			_, err := f.Load()
			is.True(errors.Is(err, api.ReasonStateCorrupt))
			is.Equal(f.Open(), 1) // nobody knows what there is
			left, err := os.ReadFile(f.Path)
			is.NoErr(err)
			is.True(bytes.Equal(left, raw)) // for a person
		})
	}
}

func FuzzParseUndo(f *testing.F) {
	if raw, err := os.ReadFile(filepath.Join("testdata", "undo.json")); err == nil {
		f.Add(raw)
	}
	f.Add([]byte(`{"version":1,"changes":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		records, err := ParseUndo(raw)
		if err != nil {
			return
		}
		for _, r := range records {
			r.View()
			change.Next(r, api.Time{}, change.Restarted{})
			r.InForce(change.Found{Interface: r.Interface})
		}
	})
}
