package shimproto

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Each case changes one golden line; the answer names the field.
func TestStrict(t *testing.T) {
	lines := map[string]string{}
	for name, m := range requests() {
		line, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		lines[name] = string(line)
	}
	for name, m := range replies() {
		line, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		lines[name] = string(line)
	}
	for _, c := range []struct{ message, old, new, want string }{
		{"hello", `"t":"hello",`, ``, "field t: missing"},
		{"hello", `"t":"hello"`, `"t":7`, "field t: is number, not a string"},
		{"hello", `"epoch":3,`, ``, "field epoch: missing"},
		{"hello", `"epoch":3`, `"Epoch":3`, `field epoch: is spelled "Epoch"`},
		{"hello", `"epoch":3`, `"epoch":3,"epoch":4`, "field epoch: given twice"},
		{"hello", `"epoch":3`, `"epoch":null`, "field epoch: is null"},
		{"hello", `"epoch":3`, `"epoch":"3"`, "field epoch: is string, not a whole number in range"},
		{"hello", `"epoch":3`, `"epoch":3.5`, "field epoch: is number 3.5, not a whole number in range"},
		{"hello", `"epoch":3`, `"epoch":0`, "field epoch: 0 is outside 1 to 2^53-1"},
		{"hello", `"epoch":3`, `"epoch":9007199254740992`, "field epoch: 9007199254740992 is outside 1 to 2^53-1"},
		{"hello", `"id":1`, `"id":-1`, "field id: is number -1, not a whole number in range"},
		{"hello", `"id":1`, `"id":0`, "field id: 0 is outside 1 to 2^53-1"},
		{"hello", `j4k2m9xq7`, `j4k2m9xqu`, `field job: "j4k2m9xqu" is not j and 8 of 0123456789abcdefghjkmnpqrstvwxyz`},
		{"hello", `j4k2m9xq7`, `J4K2M9XQ7`, `field job: "J4K2M9XQ7" is not j and 8 of 0123456789abcdefghjkmnpqrstvwxyz`},
		{"hello", `j4k2m9xq7`, `j4k2m9x`, `field job: "j4k2m9x" is not j and 8 of 0123456789abcdefghjkmnpqrstvwxyz`},
		{"hello", `"attempt":2`, `"attempt":0`, "field attempt: 0 is outside 1 to 9999"},
		{"hello", `"rank":1`, `"rank":-1`, "field rank: -1 is outside 0 to 9999"},
		{"hello", `"oldest_version":1`, `"oldest_version":3`, "field oldest_version: 3 is outside 1 to 2"},
		{"hello", `"pid":77`, `"pid":0`, "field pid: 0 is not a process"},
		{"renew", `30`, `0`, "field lease_s: must be more than 0"},
		{"renew", `30`, `30000000`, "field lease_s: 3e+07 s is outside 0 to 86400"},
		{"renew", `30`, `1e999`, "field lease_s: is number 1e999, not a number"},
		{"stop", `"reason":"stopped_by_person",`, ``, "field cause.reason: missing"},
		{"stop", `stopped_by_person`, `Stopped by person`, `field cause.reason: "Stopped by person" is not in snake_case`},
		{"stop", `ada stopped it`, ``, "field cause.message: empty"},
		{"stop", `"grace_s":10`, `"grace_s":-1`, "field grace_s: -1 s is outside 0 to 3600"},
		{"resize", `"rows":50`, `"rows":0`, "field rows: 0 is outside 1 to 65535"},
		{"resize", `,"columns":132`, ``, "field columns: missing"},
		{"input-taken", `4096`, `-1`, "field bytes: is negative"},
		{"greeting", `"phase":"running"`, `"phase":"walking"`, `field phase: "walking" is not a phase of a shim`},
		{"greeting", `"speaks":1`, `"speaks":2`, "field speaks: 2 is outside 1 to 1"},
		{"greeting", `"re":1`, `"re":0`, "field re: must be the number of a request"},
		{"status-answer", `"pid":412,`, ``, "field pid: 0 is not a process"},
		{"status-answer", `"stdout"`, `"stdlog"`, `field logs[0].stream: "stdlog" is neither stdout nor stderr`},
		{"status-answer", `"kept_bytes":5`, `"kept_bytes":6`, "field logs[0].kept_bytes: 6 is outside 0 to 5"},
		{"status-answer", `"file":"out.1",`, ``, "field logs[0].file: missing"},
		{"status-answer", `"logs":[`, `"logs":[7,`, "field logs[0]: is not a JSON object"},
		{"exit", `"signal":"SIGKILL",`, ``, "field record.code: exactly one of code, signal and not_started must be there, not 0"},
		{"exit", `"signal":"SIGKILL"`, `"signal":"SIGKILL","code":9`, "field record.code: exactly one of code, signal and not_started must be there, not 2"},
		{"exit", `"signal":"SIGKILL"`, `"code":256`, "field record.code: 256 is outside 0 to 255"},
		{"exit", `"SIGKILL"`, `"9"`, `field record.signal: "9" is not a name such as SIGKILL`},
		{"exit", `2026-11-21T12:01:30.500Z`, `yesterday`, `field record.ended_at: parsing time`},
		{"exit", `"elapsed_s":90.5`, `"elapsed_s":-1`, "field record.elapsed_s: is negative"},
		{"exit-usage", `"user_s":61.25`, `"user_s":-61.25`, "field record.usage.user_s: is negative"},
		{"exit-usage", `"max_rss_bytes":1`, `"max_rss_bytes":-1`, "field record.usage.max_rss_bytes: is negative"},
		{"exit-usage", `"voluntary_switches":1200,`, ``, "field record.usage.voluntary_switches: missing"},
		{"exit-usage", `"pid":412,`, ``, "field record.pid: 0 is not a process"},
		{"exit-usage", `"logs":[`, `"logs":{},"x":[`, "field record.logs: is object, not a list"},
		{"refused", `stale_epoch`, ``, `field reason: "" is not a key of 1 to 64 characters`},
	} {
		t.Run(c.message+" "+c.new, func(t *testing.T) {
			is := is.New(t)
			line := strings.Replace(lines[c.message], c.old, c.new, 1)
			is.True(line != lines[c.message]) // the case changes something
			var err error
			if _, isRequest := requests()[c.message]; isRequest {
				_, err = DecodeRequest([]byte(line))
			} else {
				_, err = DecodeReply([]byte(line))
			}
			var field *FieldError
			is.True(errors.As(err, &field))
			is.True(strings.HasPrefix(err.Error(), c.want)) // want the field named
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Logf("got  %s\nwant %s", err, c.want)
			}
		})
	}
}

func TestNoMessage(t *testing.T) {
	for name, line := range map[string]string{
		"empty": "", "a list": `[]`, "a word": `hello`, "cut": `{"t":"hel`, "cut after a comma": `{"t":"hello",`, "two": `{"t":"a"} {"t":"b"}`,
		"not UTF-8": "{\"t\":\"\xff\"}", "a bare key": `{t:"hello"}`,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := DecodeRequest([]byte(line))
			var field *FieldError
			is.True(errors.As(err, &field))
		})
	}
	is := is.New(t)
	var unknown *UnknownTypeError
	_, err := DecodeRequest([]byte(`{"t":"exit"}`)) // a reply is no request
	is.True(errors.As(err, &unknown))
	_, err = DecodeReply([]byte(`{"t":"renew"}`))
	is.True(errors.As(err, &unknown))
	is.Equal(unknown.Type, "renew")
	_, err = DecodeReply(bytes.Repeat([]byte{'{'}, MaxLine+1))
	is.True(errors.Is(err, ErrTooLong))
}

func TestUnknownFieldsAreNoError(t *testing.T) {
	is := is.New(t)
	line, err := Encode(requests()["renew"])
	is.NoErr(err)
	m, err := DecodeRequest([]byte(strings.Replace(string(line), `"id"`, `"added_later":{"deep":[null]},"id"`, 1)))
	is.NoErr(err)
	same(t, m, requests()["renew"])
}

func TestWhatCannotBeReadIsNotWritten(t *testing.T) {
	is := is.New(t)
	var field *FieldError
	_, err := Encode(Renew{RequestHeader: header(1)})
	is.True(errors.As(err, &field))
	_, err = Encode(Stop{RequestHeader: header(1), Cause: Cause{Reason: "a", Message: strings.Repeat("x", MaxLine)}})
	is.True(errors.Is(err, ErrTooLong))
	folder := t.TempDir()
	is.True(errors.As(WriteSpec(folder, Spec{}), &field))
	is.True(errors.As(WriteExit(folder, ExitRecord{}), &field))
	left, err := os.ReadDir(folder)
	is.NoErr(err)
	is.Equal(len(left), 0)
}

func TestSpecCheck(t *testing.T) {
	for want, spoil := range map[string]func(*Spec){
		"field program:":          func(s *Spec) { s.Program = "python3" },
		"field dir:":              func(s *Spec) { s.Dir = "/a/../b" },
		"field folder:":           func(s *Spec) { s.Folder = "" },
		"field socket:":           func(s *Spec) { s.Socket = "/" + strings.Repeat("s", MaxSocketPath) },
		"field args:":             func(s *Spec) { s.Args = []string{"a\x00b"} },
		"field env:":              func(s *Spec) { s.Env = []string{"=x"} },
		"field user.name:":        func(s *Spec) { s.User.Name = "" },
		"field stdin:":            func(s *Spec) { s.Stdin = "tty" },
		"field stdin: is none,":   func(s *Spec) { s.Stdin = StdinNone },
		"field terminal.rows:":    func(s *Spec) { s.Terminal.Rows = 0 },
		"field terminal.columns:": func(s *Spec) { s.Terminal.Columns = 65536 },
		"field spec_hash:":        func(s *Spec) { s.SpecHash = "XYZ" },
		"field lease_s:":          func(s *Spec) { s.LeaseS = 0 },
		"field log_tail_bytes:":   func(s *Spec) { s.LogTailBytes = -1 },
	} {
		t.Run(want, func(t *testing.T) {
			is := is.New(t)
			s := spec()
			is.NoErr(s.Check())
			spoil(&s)
			err := s.Check()
			is.True(err != nil)
			is.True(strings.HasPrefix(err.Error(), want))
		})
	}
	is := is.New(t)
	s := spec()
	s.Env = []string{"TOKEN", "hunter2"}
	is.True(!strings.Contains(s.Check().Error(), "hunter2")) // no secret in an error
	s = spec()
	s.Args, s.Env, s.User = nil, nil, nil
	folder := t.TempDir()
	is.NoErr(WriteSpec(folder, s))
	back, err := ReadSpec(folder)
	is.NoErr(err)
	same(t, back, s)
}

func TestFilesThatAreNone(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	_, err := ReadExit(folder)
	is.True(errors.Is(err, fs.ErrNotExist))
	path := filepath.Join(folder, ExitFile)
	is.NoErr(os.WriteFile(path, []byte(`{"job":`), 0o600))
	_, err = ReadExit(folder)
	var field *FieldError
	is.True(errors.As(err, &field))
	is.True(strings.Contains(err.Error(), path)) // says which file
	is.NoErr(os.WriteFile(path, bytes.Repeat([]byte{' '}, maxFile+1), 0o600))
	_, err = ReadExit(folder)
	is.True(errors.Is(err, ErrTooLong))
}

func FuzzDecode(f *testing.F) {
	for _, m := range requests() {
		line, _ := Encode(m)
		f.Add(line)
	}
	for _, m := range replies() {
		line, _ := Encode(m)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if m, err := DecodeRequest(line); err == nil {
			again, err := Encode(m)
			if err != nil {
				t.Fatalf("read and not writable: %v", err)
			}
			back, err := DecodeRequest(again)
			if err != nil {
				t.Fatalf("%s does not read back: %v", again, err)
			}
			same(t, back, m)
		}
		if m, err := DecodeReply(line); err == nil {
			if again, err := Encode(m); err == nil { // empty lists become absent
				if _, err := DecodeReply(again); err != nil {
					t.Fatalf("%s does not read back: %v", again, err)
				}
			} else {
				t.Fatalf("read and not writable: %v", err)
			}
		}
	})
}

func FuzzReadFiles(f *testing.F) {
	line, _ := json.Marshal(spec())
	f.Add(line)
	for _, r := range records() {
		line, _ := json.Marshal(r)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r ExitRecord
		if decodeObject(data, &r) != nil || r.Check() != nil {
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("read and not writable: %v", err)
		}
		var back ExitRecord
		if err := decodeObject(again, &back); err != nil || back.Check() != nil {
			t.Fatalf("%s does not read back: %v, %v", again, err, back.Check())
		}
	})
}
