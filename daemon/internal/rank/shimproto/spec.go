package shimproto

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/native/atomicfile"
)

// Names of the two files in a rank's folder.
const (
	SpecFile = "spec.json"
	ExitFile = "exit.json"
)

// maxFile is the longest spec or exit record that is read.
const maxFile = 4 << 20

func readFile(path string, target any) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("%s: %w", path, ErrTooLong)
	}
	if err := decodeObject(data, target); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// encodeFile is the text of a file.
func encodeFile(name string, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if len(data) > maxFile {
		err = fmt.Errorf("%s: %w", name, ErrTooLong)
	}
	return append(data, '\n'), err
}

// Ref names one rank of one attempt of a job.
type Ref struct {
	Job     string `json:"job"`     // "j" and 8 Crockford characters
	Attempt int    `json:"attempt"` // from 1
	Rank    int    `json:"rank"`    // from 0
}

// maxCount bounds attempts and ranks, as the API does.
const maxCount = 9999

// maxEpoch is the largest number that every JSON reader keeps exactly.
const maxEpoch = 1<<53 - 1

// String writes "j4k2m9xq7/2/0".
func (r Ref) String() string { return fmt.Sprintf("%s/%d/%d", r.Job, r.Attempt, r.Rank) }

// Check returns a [FieldError] for the first part that is out of range.
func (r Ref) Check() error {
	const crockford = "0123456789abcdefghjkmnpqrstvwxyz"
	if len(r.Job) != 9 || r.Job[0] != 'j' || strings.Trim(r.Job[1:], crockford) != "" {
		return badField("job", "%.20q is not j and 8 of "+crockford, r.Job)
	}
	if r.Attempt < 1 || r.Attempt > maxCount {
		return badField("attempt", "%d is outside 1 to %d", r.Attempt, maxCount)
	}
	if r.Rank < 0 || r.Rank > maxCount {
		return badField("rank", "%d is outside 0 to %d", r.Rank, maxCount)
	}
	return nil
}

func checkEpoch(epoch int64) error {
	if epoch < 1 || epoch > maxEpoch {
		return badField("epoch", "%d is outside 1 to 2^53-1", epoch)
	}
	return nil
}

// Spec is what a shim runs and how: the content of spec.json. The daemon writes
// it, readable by its owner alone because it holds the values of the
// environment, and it stays on this machine.
type Spec struct {
	Ref
	Epoch int64 `json:"epoch"`
	// SpecHash is the hash of the job's signed spec that this was made from, in
	// hexadecimal; the shim records it and does not interpret it.
	SpecHash string `json:"spec_hash"`

	Program string   `json:"program"`       // absolute path
	Args    []string `json:"args,omitzero"` // without the program's name
	Env     []string `json:"env,omitzero"`  // "NAME=value"; nothing is inherited
	Dir     string   `json:"dir"`           // absolute path
	User    *User    `json:"user,omitzero"`
	Stdin   Stdin    `json:"stdin"`
	// Terminal gives the program a controlling terminal of this size in place of
	// the three streams; what it prints is all in the log of standard output.
	// Stdin must be [StdinSocket].
	Terminal *Terminal `json:"terminal,omitzero"`

	Socket string `json:"socket"` // absolute path, at most [MaxSocketPath] bytes
	// Folder takes exit.json and the log files.
	Folder string `json:"folder"` // absolute path
	// LeaseS is the first lease, from the moment that the shim starts.
	LeaseS float64 `json:"lease_s"`
	// GraceS is between SIGTERM and SIGKILL when the lease runs out.
	GraceS float64 `json:"grace_s"`
	// LogHeadBytes and LogTailBytes are how much of the beginning and of the
	// end of each stream is kept.
	LogHeadBytes int64 `json:"log_head_bytes"`
	LogTailBytes int64 `json:"log_tail_bytes"`
}

// MaxSocketPath is the longest path of a Unix socket that macOS takes: 104
// bytes with the closing zero.
const MaxSocketPath = 103

// User is the account that the program runs as. Without one it is the shim's
// own. Whether an account may be used at all is decided by the daemon.
type User struct {
	Name   string   `json:"name"`
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups,omitzero"`
}

// Stdin is where the program's standard input comes from.
type Stdin string

// The kinds of input.
const (
	StdinNone   Stdin = "none"   // at its end from the beginning
	StdinSocket Stdin = "socket" // what the daemon sends over a connection of its own
)

// Check returns a [FieldError] for the first thing that cannot be run.
func (s Spec) Check() error {
	if err := cmp.Or(s.Ref.Check(), checkEpoch(s.Epoch),
		checkPath("program", s.Program), checkPath("dir", s.Dir), checkPath("socket", s.Socket), checkPath("folder", s.Folder),
		checkSeconds("lease_s", s.LeaseS, maxLeaseS), positive("lease_s", s.LeaseS), checkSeconds("grace_s", s.GraceS, maxGraceS),
	); err != nil {
		return err
	}
	if s.SpecHash == "" || strings.Trim(s.SpecHash, "0123456789abcdef") != "" {
		return badField("spec_hash", "%.80q is not lower-case hexadecimal", s.SpecHash)
	}
	if len(s.Socket) > MaxSocketPath {
		return badField("socket", "%d bytes is more than the %d that a socket's path can have", len(s.Socket), MaxSocketPath)
	}
	if slices.ContainsFunc(s.Args, hasZero) {
		return badField("args", "holds a zero byte")
	}
	for _, pair := range s.Env {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" || hasZero(pair) {
			// The value may be a secret: it is not quoted.
			return badField("env", "an entry (%.40q) is not NAME=value", name)
		}
	}
	if s.User != nil && s.User.Name == "" {
		return badField("user.name", "empty")
	}
	if s.Stdin != StdinNone && s.Stdin != StdinSocket {
		return badField("stdin", "%.40q is neither none nor socket", string(s.Stdin))
	}
	if s.Terminal != nil {
		if err := within("terminal", s.Terminal.Check()); err != nil {
			return err
		}
		if s.Stdin != StdinSocket {
			return badField("stdin", "is %s, where a terminal needs %s", s.Stdin, StdinSocket)
		}
	}
	if s.LogHeadBytes < 0 {
		return badField("log_head_bytes", "is negative")
	}
	if s.LogTailBytes < 0 {
		return badField("log_tail_bytes", "is negative")
	}
	return nil
}

func checkPath(field, path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || hasZero(path) {
		return badField(field, "%.120q is not a clean absolute path", path)
	}
	return nil
}

func hasZero(s string) bool { return strings.ContainsRune(s, 0) }

// Terminal is the size of a program's terminal, in characters.
type Terminal struct {
	Rows    int `json:"rows"`    // 1 to 65535
	Columns int `json:"columns"` // 1 to 65535
}

// maxTerminal is the largest number that the system takes for a side.
const maxTerminal = 65535

// Check returns a [FieldError] for a size that no terminal can have.
func (t Terminal) Check() error {
	if t.Rows < 1 || t.Rows > maxTerminal {
		return badField("rows", "%d is outside 1 to %d", t.Rows, maxTerminal)
	}
	if t.Columns < 1 || t.Columns > maxTerminal {
		return badField("columns", "%d is outside 1 to %d", t.Columns, maxTerminal)
	}
	return nil
}

// WriteSpec writes spec.json into the folder, for its owner's eyes only. It is not
// synced: a power cut that loses it has ended whoever would read it.
func WriteSpec(folder string, s Spec) error {
	if err := s.Check(); err != nil {
		return err
	}
	data, err := encodeFile(SpecFile, s)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(folder, SpecFile), data, 0o600)
}

// ForgetEnvironment takes the values of environment variables out of spec.json.
func ForgetEnvironment(folder string, s Spec) error {
	s.Env = nil
	return WriteSpec(folder, s)
}

// ReadSpec reads spec.json.
func ReadSpec(folder string) (s Spec, err error) {
	err = readFile(filepath.Join(folder, SpecFile), &s)
	if err == nil {
		err = s.Check()
	}
	return s, err
}
