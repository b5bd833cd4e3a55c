package linux

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// recording is a tree of files, by path, and those that cannot be read.
type recording struct {
	files fstest.MapFS
	fails map[string]error
}

// Open makes a recording a file system whose unreadable files are unreadable.
func (r recording) Open(name string) (fs.File, error) {
	if err := r.fails[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return r.files.Open(name)
}

// ReadLink and Lstat make its symbolic links ones.
func (r recording) ReadLink(name string) (string, error) { return r.files.ReadLink(name) }

// Lstat is for [fs.ReadLinkFS].
func (r recording) Lstat(name string) (fs.FileInfo, error) { return r.files.Lstat(name) }

var header = regexp.MustCompile(`(?m)^-- (\S+)(?: !(\S+)| -> (\S+))? --\n`)

// parseRecording reads an archive: a comment, and files that each begin with a
// line "-- path --", "-- path !ERROR --" for one that cannot be read, or
// "-- path -> target --" for a symbolic link. "\0" stands for a zero byte.
func parseRecording(t *testing.T, archive []byte) recording {
	errors := map[string]error{"EIO": syscall.EIO, "EINVAL": syscall.EINVAL, "EACCES": syscall.EACCES, "EOPNOTSUPP": syscall.EOPNOTSUPP}
	r := recording{fstest.MapFS{}, map[string]error{}}
	marks := header.FindAllSubmatchIndex(archive, -1)
	for i, m := range marks {
		end := len(archive)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name := string(archive[m[2]:m[3]])
		r.files[name] = &fstest.MapFile{Data: bytes.ReplaceAll(archive[m[1]:end], []byte(`\0`), []byte{0})}
		if m[4] >= 0 {
			if r.fails[name] = errors[string(archive[m[4]:m[5]])]; r.fails[name] == nil {
				t.Fatalf("%s: no such error", name)
			}
		}
		if m[6] >= 0 {
			r.files[name] = &fstest.MapFile{Data: archive[m[6]:m[7]], Mode: fs.ModeSymlink}
		}
	}
	return r
}

// later is the recording with the files of its folder "later" over the others.
func (r recording) later() recording {
	next := recording{maps.Clone(r.files), r.fails}
	for name, file := range r.files {
		if name, ok := strings.CutPrefix(name, "later/"); ok {
			next.files[name] = file
		}
	}
	return next
}

func (r recording) tree(t *testing.T) tree {
	sub := func(name string) fs.FS {
		root, err := fs.Sub(r, name)
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	return tree{proc: sub("proc"), sys: sub("sys"), etc: sub("etc")}
}

func (r recording) tables() (tables, error) {
	var out tables
	data, err := fs.ReadFile(r, "rtnetlink.json")
	return out, errors.Join(err, json.Unmarshal(data, &out))
}

func readRecording(t *testing.T, name string) recording {
	is := is.New(t)
	archive, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	is.NoErr(err)
	return parseRecording(t, archive)
}

// TestRecordedMachines reads each recording twice, two seconds apart, and holds
// all facts of the first reading and the rates of the second against a golden
// file. Every fact must be there or explained.
func TestRecordedMachines(t *testing.T) {
	for _, name := range []string{"x86-desktop", "arm64-board", "container", "laptop"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := readRecording(t, name)
			clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
			m := &machine{tree: r.tree(t), clock: clock, links: r.tables, stalls: stalls{hold: stallHold}}
			first, err := m.Snapshot(t.Context(), native.AllAreas()...)
			is.NoErr(err)
			is.Equal(first.Check(native.AllAreas()), nil)
			clock.Advance(2 * time.Second)
			m.tree = r.later().tree(t)
			second, err := m.Snapshot(t.Context(), native.AreaSystem)
			is.NoErr(err)
			is.Equal(second.Check([]native.Area{native.AreaSystem}), nil)
			golden(t, name, struct {
				First native.Snapshot `json:"first"`
				Later *native.System  `json:"later"`
			}{first, second.System})
		})
	}
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	is := is.New(t)
	got, err := json.MarshalIndent(v, "", "  ")
	is.NoErr(err)
	got = append(got, '\n')
	path := filepath.Join("testdata", name+".json")
	if *update {
		is.NoErr(os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(got), string(want))
}

// TestAnEmptyTree is a machine without any of the files: everything that files
// tell is absent, and says why.
func TestAnEmptyTree(t *testing.T) {
	is := is.New(t)
	empty := recording{fstest.MapFS{}, nil}
	m := &machine{tree: empty.tree(t), clock: nativetest.NewClock(time.Unix(0, 0)), links: func() (tables, error) { return tables{}, syscall.EPERM }}
	s, err := m.Snapshot(t.Context(), native.AllAreas()...)
	is.NoErr(err)
	is.Equal(s.Check(native.AllAreas()), nil)
	is.Equal(s.Network, nil)
	is.Equal(s.Unknown["network"].Key(), native.ReasonReadFailed.Key())
	is.Equal(s.Memory.TotalBytes, nil)
	caps, err := m.Capabilities(t.Context())
	is.NoErr(err)
	is.Equal(caps.Check(), nil)
	is.True(errors.Is(caps.Need(native.FactsFeature(native.AreaMemory)), native.ErrUnsupported))
	is.True(errors.Is(caps.Need(native.FactsFeature(native.AreaNetwork)), native.ErrUnsupported))
	_, err = m.Watch(func(native.Hint) {})
	is.True(errors.Is(err, native.ErrUnsupported)) // no source of events is available
}
