package shimproto

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

var update = flag.Bool("update", false, "write the golden files again")

var (
	ref   = Ref{Job: "j4k2m9xq7", Attempt: 2, Rank: 1}
	start = native.Stamp(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	end   = native.Stamp(time.Date(2026, 11, 21, 12, 1, 30, 500e6, time.UTC))
	left  = Cause{Reason: "lease_expired", Message: "nobody renewed the lease for 30 s"}
)

func header(id uint64) RequestHeader { return RequestHeader{ID: id, Epoch: 3} }

func requests() map[string]Request {
	return map[string]Request{
		"hello":  Hello{RequestHeader: header(1), Ref: ref, Versions: Versions{Newest: 2, Oldest: 1}, PID: 77},
		"renew":  Renew{RequestHeader: header(2), LeaseS: 30},
		"stop":   Stop{RequestHeader: header(3), GraceS: 10, Cause: Cause{Reason: "stopped_by_person", Message: "ada stopped it"}},
		"resize": Resize{RequestHeader: header(5), Terminal: Terminal{Rows: 50, Columns: 132}},
		"status": Query{RequestHeader: header(4)},
		"probe":  Probe{RequestHeader: header(6), Command: []string{"./check", "--fast"}, TimeoutS: 5},
	}
}

func replies() map[string]Reply {
	return map[string]Reply{
		"greeting":        Greeting{Re: 1, Epoch: 3, Ref: ref, Speaks: 1, Versions: OwnVersions(), PID: 400, Phase: PhaseRunning},
		"status-answer":   Status{Re: 4, Epoch: 3, Phase: PhaseRunning, PID: 412, LeaseLeftS: 29.75, Logs: []LogEnd{{Stream: "stdout", File: "out.1", WrittenBytes: 5, KeptBytes: 5}}},
		"status-starting": Status{Epoch: 3, Phase: PhaseStarting, LeaseLeftS: 30},
		"status-stopped":  Status{Epoch: 3, Phase: PhaseRunning, PID: 412, LeaseLeftS: 30, Stopped: "SIGSTOP", GuardStopped: "SIGTTOU"},
		"status-ending":   Status{Epoch: 3, Phase: PhaseEnding, PID: 412, Cause: &left},
		"input-taken":     InputTaken{Bytes: 4096},
		"exit-usage":      Exit{Record: records()["exit-code"]},
		"exit":            Exit{Record: records()["exit-signal"]},
		"probed":          Probed{Re: 6, Code: new(3), Printed: "not yet\n"},
		"refused":         Refusal{Re: 2, Epoch: 4, Reason: RefuseStaleEpoch, Message: "epoch 3 is over, this is epoch 4"},
	}
}

func records() map[string]ExitRecord {
	return map[string]ExitRecord{
		"exit-code": {Ref: ref, Epoch: 3, PID: 412, Code: new(0), StartedAt: start, EndedAt: end, ElapsedS: 90.5,
			Usage: &Usage{UserS: 61.25, SystemS: 1.5, MaxRSSBytes: 1 << 30, MajorFaults: 3, VoluntarySwitches: 1200, PreemptiveSwitches: 40},
			Logs:  []LogEnd{{Stream: "stdout", File: "out.1", WrittenBytes: 1 << 30, KeptBytes: 2 << 20}, {Stream: "stderr", File: "err.1", Problem: "no space left on device"}}},
		"exit-signal":      {Ref: ref, Epoch: 3, PID: 412, Signal: "SIGKILL", CoreDumped: true, Cause: &left, KilledAfterGrace: true, StartedAt: start, EndedAt: end, ElapsedS: 90.5},
		"exit-not-started": {Ref: ref, Epoch: 3, NotStarted: &Cause{Reason: "spawn_failed", Message: "/opt/x: permission denied"}, StartedAt: start, EndedAt: start},
	}
}

func spec() Spec {
	return Spec{Ref: ref, Epoch: 3, SpecHash: "9f2c", Program: "/usr/bin/python3", Args: []string{"train.py", "--lr=1e-4"}, Env: []string{"MLX_RANK=1", "EMPTY="},
		Dir: "/Users/ada/work", User: &User{Name: "ada", UID: 501, GID: 20, Groups: []uint32{20, 12}}, Stdin: StdinSocket, Terminal: &Terminal{Rows: 24, Columns: 80},
		Socket: "/var/run/fulmen/j4k2m9xq7.2.1", Folder: "/var/lib/fulmen/jobs/j4k2m9xq7/2/1", LeaseS: 30, GraceS: 10, LogHeadBytes: 1 << 20, LogTailBytes: 15 << 20}
}

// golden holds bytes against testdata/name.json and returns the file's.
func golden(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	is := is.New(t)
	path := filepath.Join("testdata", name+".json")
	got = append(bytes.TrimSuffix(got, []byte{'\n'}), '\n')
	if *update {
		is.NoErr(os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(got), string(want))
	return bytes.TrimSuffix(want, []byte{'\n'})
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("reads back as\n%#v\nnot\n%#v", got, want)
	}
}

func TestGoldenMessages(t *testing.T) {
	for name, m := range requests() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			line, err := Encode(m)
			is.NoErr(err)
			back, err := DecodeRequest(golden(t, name, line))
			is.NoErr(err)
			same(t, back, m)
		})
	}
	for name, m := range replies() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			line, err := Encode(m)
			is.NoErr(err)
			back, err := DecodeReply(golden(t, name, line))
			is.NoErr(err)
			same(t, back, m)
		})
	}
}

func TestGoldenFiles(t *testing.T) {
	t.Run("spec", func(t *testing.T) {
		is := is.New(t)
		folder := t.TempDir()
		is.NoErr(WriteSpec(folder, spec()))
		info, err := os.Stat(filepath.Join(folder, SpecFile))
		is.NoErr(err)
		is.Equal(info.Mode().Perm(), os.FileMode(0o600)) // it holds secrets
		data, err := os.ReadFile(filepath.Join(folder, SpecFile))
		is.NoErr(err)
		golden(t, "spec", data)
		back, err := ReadSpec(folder)
		is.NoErr(err)
		same(t, back, spec())
	})
	for name, record := range records() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			folder := t.TempDir()
			is.NoErr(WriteExit(folder, ExitRecord{Ref: ref, Epoch: 1, PID: 1, Code: new(1)})) // is replaced
			is.NoErr(WriteExit(folder, record))
			data, err := os.ReadFile(filepath.Join(folder, ExitFile))
			is.NoErr(err)
			golden(t, name, data)
			back, err := ReadExit(folder)
			is.NoErr(err)
			same(t, back, record)
			is.NoErr(os.WriteFile(filepath.Join(folder, ExitFile), bytes.Replace(data, []byte("{"), []byte(`{"added_later":{"a":[1]},`), 1), 0o600))
			back, err = ReadExit(folder)
			is.NoErr(err)
			same(t, back, record) // what a newer version added is no error
			left, err := os.ReadDir(folder)
			is.NoErr(err)
			is.Equal(len(left), 1) // no temporary file stays
		})
	}
}
