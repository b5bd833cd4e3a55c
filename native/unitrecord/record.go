package unitrecord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"fulmen/native"
	"fulmen/native/atomicfile"
)

// Variable is in the environment of every process of a unit, its value being the
// label, so that those are found that have left its group, session and tree.
const Variable = "FULMEN_UNIT"

// SocketVariable is in the environment of a program that was given its socket: the
// number of the descriptor.
const SocketVariable = "FULMEN_SOCKET_DESCRIPTOR"

// Record is what is known of a unit.
type Record struct {
	Label  string `json:"label"`
	Socket string `json:"socket"`
	// PID is its first process; 0 when the daemon ended before it knew.
	PID int `json:"pid,omitzero"`
	// Started is when that process started, as the system counts it: with the
	// number it names one process of one boot.
	Started uint64 `json:"started,omitzero"`
	// Boot names the boot in which it was started.
	Boot string `json:"boot,omitzero"`
	// Unit is its name with the system's supervisor; empty where there is none.
	Unit string `json:"unit,omitzero"`
}

// maxLabel is the longest label.
const maxLabel = 200

// isLabel reports whether a text can be the name of a file, of a launchd job and of
// a systemd unit. Every rank's shim starts with this package: a regular expression
// would cost it half a millisecond.
func isLabel(text string) bool {
	for i := range len(text) {
		c := text[i] | 0x20
		isWord := c >= 'a' && c <= 'z' || text[i] >= '0' && text[i] <= '9'
		if !isWord && (i == 0 || !strings.ContainsRune("._-", rune(text[i]))) {
			return false
		}
	}
	return text != "" && len(text) <= maxLabel
}

// maxSocket is the longest path of a Unix socket on macOS without the closing zero.
const maxSocket = 103

// Check refuses a unit that no supervisor could run.
func Check(u native.Unit) error {
	switch {
	case !isLabel(u.Label):
		return fmt.Errorf("the label %.80q is not made of letters, digits, dots, dashes and underscores", u.Label)
	case !filepath.IsAbs(u.Program):
		return fmt.Errorf("the program %.120q is not an absolute path", u.Program)
	case !filepath.IsAbs(u.Dir):
		return fmt.Errorf("the directory %.120q is not an absolute path", u.Dir)
	case !filepath.IsAbs(u.Socket) || len(u.Socket) > maxSocket:
		return fmt.Errorf("the socket %.120q is not an absolute path of at most %d bytes", u.Socket, maxSocket)
	case !filepath.IsAbs(u.ErrorLog):
		return fmt.Errorf("the log %.120q is not an absolute path", u.ErrorLog)
	}
	for _, pair := range u.Env {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" {
			return fmt.Errorf("the variable %.40q is not of the form NAME=value", name)
		}
	}
	return nil
}

// Store is a folder of records.
type Store struct{ Folder string }

const suffix = ".unit.json"

func (s Store) path(l string) string { return filepath.Join(s.Folder, l+suffix) }

// Add makes the record of a unit that is about to be started.
// [native.ErrExists] when the label has one.
func (s Store) Add(r Record) error {
	text, err := encode(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return err
	}
	err = atomicfile.Create(s.path(r.Label), text, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return native.ErrExists
	}
	return err
}

// Set replaces the record.
func (s Store) Set(r Record) error {
	text, err := encode(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.path(r.Label), text, 0o600)
}

func encode(r Record) ([]byte, error) {
	text, err := json.Marshal(r)
	return append(text, '\n'), err
}

// Get reads the record. [native.ErrNotFound] when the label has none.
func (s Store) Get(l string) (Record, error) {
	if !isLabel(l) {
		return Record{}, native.ErrNotFound
	}
	text, err := os.ReadFile(s.path(l))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, native.ErrNotFound
	}
	if err != nil {
		return Record{}, err
	}
	return Decode(text, l)
}

// Decode reads the text of the record of a label. One without any is what a power
// cut has left, since records are not synced: its unit has ended.
func Decode(text []byte, l string) (Record, error) {
	if len(text) == 0 {
		return Record{Label: l}, nil
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, fmt.Errorf("the record of %s: %w", l, err)
	}
	if r.Label != l || r.PID < 0 {
		return Record{}, fmt.Errorf("the record of %s is malformed", l)
	}
	return r, nil
}

// List reads the records whose label begins with the prefix, sorted by label.
// One that cannot be read does not hide the others: they come with the error.
func (s Store) List(prefix string) ([]Record, error) {
	entries, err := os.ReadDir(s.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Record
	var bad []error
	for _, entry := range entries {
		l, ok := strings.CutSuffix(entry.Name(), suffix)
		if !ok || !strings.HasPrefix(l, prefix) {
			continue
		}
		r, err := s.Get(l)
		if errors.Is(err, native.ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			bad = append(bad, err)
			continue
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Record) int { return strings.Compare(a.Label, b.Label) })
	return all, errors.Join(bad...)
}

// Start has a unit started that can be, by run. The record comes first: a daemon that is
// killed in between leaves a record of nothing, and never a process without one.
func (s Store) Start(ctx context.Context, unit native.Unit, r Record, run func() error) error {
	r.Label, r.Socket = unit.Label, unit.Socket
	err := errors.Join(ctx.Err(), Check(unit))
	if err == nil {
		err = s.Add(r)
	}
	if err == nil {
		if err = run(); err != nil {
			err = errors.Join(err, s.Remove(unit.Label))
		}
	}
	return About(unit.Label, err)
}

// Units lists the units whose label begins with the prefix, as a supervisor does.
// first finds a unit's first process while it runs, else 0.
func (s Store) Units(ctx context.Context, prefix string, first func(context.Context, Record) (int, error)) ([]native.UnitStatus, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	records, err := s.List(prefix)
	units := make([]native.UnitStatus, 0, len(records))
	for _, r := range records {
		unit := native.UnitStatus{Label: r.Label, State: native.UnitEnded, Socket: r.Socket}
		pid, askErr := first(ctx, r)
		if askErr != nil {
			return units, About(r.Label, askErr)
		}
		if pid != 0 {
			unit.State, unit.PID = native.UnitRunning, pid
		}
		units = append(units, unit)
	}
	return units, err
}

// About says which unit an error is about.
func About(label string, err error) error {
	return native.Acted(native.FeatureSupervisor, label, err)
}

// Remove forgets the unit. [native.ErrNotFound] when the label has no record.
func (s Store) Remove(l string) error {
	err := os.Remove(s.path(l))
	if errors.Is(err, fs.ErrNotExist) {
		return native.ErrNotFound
	}
	return err
}

// Discard removes the files of a unit that has ended, and forgets it.
func (s Store) Discard(l string, files ...string) error {
	for _, path := range files {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.Remove(l)
}

// Attach connects to the socket of a unit. [native.ErrNotFound] when the label
// has no record or nothing listens there.
func (s Store) Attach(ctx context.Context, l string) (net.Conn, error) {
	r, err := s.Get(l)
	if err != nil {
		return nil, About(l, err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", r.Socket)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		err = errors.Join(native.ErrNotFound, err)
	}
	return conn, About(l, err)
}
