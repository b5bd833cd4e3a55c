package rank

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
)

// FuzzRecord reads what may be on a disk: a record, or an error, and a record
// reads the same after it was written again.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"doc":{"job":"j4k2m9xq7","attempt":1,"rank":0,"epoch":1,"spec_sha256":"","phase":"running","phase_since":"2026-01-02T03:04:05.000Z"},"label":"l"}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		folder := filepath.Join(t.TempDir(), "0")
		if err := os.WriteFile(recordPath(folder), text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := readRecord(folder)
		if err != nil {
			return
		}
		if !r.ref().Valid() {
			t.Fatalf("a record of %s", r.ref())
		}
		if err := writeWhole(recordPath(folder), r); err != nil {
			return // what no daemon would have written, such as a principal without a name
		}
		again, err := readRecord(folder)
		if err != nil || again.Doc.Phase != r.Doc.Phase || again.ref() != r.ref() {
			t.Fatalf("%v: %+v, was %+v", err, again, r)
		}
	})
}

func TestARecordIsWrittenWhole(t *testing.T) {
	is := is.New(t)
	folder := filepath.Join(t.TempDir(), "0")
	want := record{
		Doc: api.Rank{
			Job: "j4k2m9xq7", Attempt: 2, Rank: 1, Epoch: 3, Phase: api.RankPreparing, PhaseSince: api.TimeOf(time.Unix(1_700_000_000, 0)),
		},
		Principal: api.Principal{User: "anna", Node: "cpv0cwypxp44qw0p"}, Home: "cpv0cwypxp44qw0p", Account: "worker",
		Plan: api.PlanRank{Rank: 1, Node: "j79r4zr55xd4ph64", GPU: api.GPUShared}, Output: api.OutputKeep, Label: "l", Socket: "/s", LeaseS: 1, GraceS: 2,
	}
	for _, test := range []struct {
		committed bool
		message   string
	}{{false, ""}, {true, "a"}, {true, ""}, {true, strings.Repeat("a", 5000)}, {true, "b"}} { // longer and shorter
		want.Committed, want.Doc.Message = test.committed, test.message
		is.NoErr(writeWhole(recordPath(folder), want))
		got, err := readRecord(folder)
		is.NoErr(err)
		is.Equal(got, want)
		info, err := os.Stat(recordPath(folder))
		is.NoErr(err)
		is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	}
	files, err := os.ReadDir(filepath.Dir(folder))
	is.NoErr(err)
	is.Equal(len(files), 1)
}

// An account that owns its rank's folder cannot make the daemon read, or wait
// for, something else.
func TestWhatIsNoExitRecord(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	is.NoErr(os.Symlink("/dev/zero", filepath.Join(folder, shimproto.ExitFile)))
	_, err := readEnd(folder)
	is.True(err != nil)
	is.NoErr(os.Symlink("/dev/zero", filepath.Join(folder, shimLog)))
	is.Equal(lastLine(filepath.Join(folder, shimLog)), "")
}
