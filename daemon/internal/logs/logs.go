package logs

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/config"
	"fulmen/daemon/internal/server"
)

// File is the daemon's log in its folder; oldLog is the one before.
const (
	File   = "fulmend.log"
	oldLog = "fulmend.log.1"
	// errorFile is where launchd puts what the program itself prints: why it could not
	// start, or of what it died. It lies beside api.MacLogFolder, which need not be there
	// yet; oldErrors, the one before, lies in it.
	errorFile = "fulmend.err"
	oldErrors = "fulmend.err.1"
	// mostErrorBytes is when that file is begun anew; nobody else does it.
	mostErrorBytes = 1 << 20
)

// RotateErrors begins the file of complaints beside the log's folder anew where it is
// full, for the next process: this one goes on in the one that it has.
func RotateErrors(folder string) error {
	path := filepath.Join(filepath.Dir(folder), errorFile)
	status, err := os.Lstat(path)
	if err != nil || status.Size() < mostErrorBytes {
		return nil // there is none, or it has room
	}
	return os.Rename(path, filepath.Join(folder, oldErrors))
}

// Logs makes the loggers of the daemon's parts. Each part has a level of its
// own, which the configuration changes while the daemon runs.
type Logs struct {
	out    io.Writer
	levels atomic.Pointer[config.Log]
	journal
}

// New makes loggers that write to out.
func New(out io.Writer, levels config.Log) *Logs {
	l := &Logs{out: out, journal: journal{readers: map[*server.Stream]func(api.LogLine) bool{}}}
	l.Set(levels)
	return l
}

// Part is the logger of a part.
func (l *Logs) Part(name string) *slog.Logger {
	handler := slog.NewTextHandler(l.out, &slog.HandlerOptions{Level: slog.LevelDebug})
	return slog.New(&leveled{Handler: handler.WithAttrs([]slog.Attr{slog.String("package", name)}), logs: l, part: name})
}

// Set takes the levels of a configuration.
func (l *Logs) Set(levels config.Log) { l.levels.Store(&levels) }

// leveled is a handler that lets through what is at least of its part's level,
// to the log and to the journal.
type leveled struct {
	slog.Handler
	logs *Logs
	part string
	with []slog.Attr
}

// Handle writes a record, with the reason of the error that it has.
func (h *leveled) Handle(ctx context.Context, record slog.Record) error {
	if reason := reasonIn(record); reason != "" {
		record = record.Clone()
		record.AddAttrs(slog.String("reason", string(reason)))
	}
	h.logs.journal.add(h.part, record, h.with)
	return h.Handler.Handle(ctx, record)
}

// reasonIn is the reason of the error among the values of a record, which in a report
// is left of it; empty where there is none, or the record says one itself.
func reasonIn(record slog.Record) api.Reason {
	var found api.Reason
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "reason" {
			found = ""
			return false
		}
		if err, ok := a.Value.Any().(error); ok {
			if e, ok := errors.AsType[*api.Error](err); ok && e != nil {
				found = e.Data.Reason
			}
		}
		return true
	})
	return found
}

// Enabled reports whether the part's level lets a line through.
func (h *leveled) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.logs.levels.Load().LevelOf(h.part)
}

// WithAttrs keeps the level.
func (h *leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &leveled{Handler: h.Handler.WithAttrs(attrs), logs: h.logs, part: h.part, with: slices.Concat(h.with, attrs)}
}

// WithGroup keeps the level.
func (h *leveled) WithGroup(name string) slog.Handler {
	return &leveled{Handler: h.Handler.WithGroup(name), logs: h.logs, part: h.part, with: h.with}
}

// Rotating is a file that is begun anew when it is full; the old one is kept
// once.
type Rotating struct {
	folder string

	mu      sync.Mutex
	file    *os.File
	size    int64
	maximum int64
}

// OpenFile opens the log in a folder.
func OpenFile(folder string, maximum int) (*Rotating, error) {
	r := &Rotating{folder: folder, maximum: int64(maximum)}
	return r, r.open()
}

func (r *Rotating) open() error {
	file, err := os.OpenFile(filepath.Join(r.folder, File), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	status, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	r.file, r.size = file, status.Size()
	return nil
}

// Write appends a line, after beginning the file anew where it would not fit.
// A log that cannot be rotated goes on in the file that it has.
func (r *Rotating) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size > 0 && r.size+int64(len(line)) > r.maximum {
		if err := os.Rename(filepath.Join(r.folder, File), filepath.Join(r.folder, oldLog)); err == nil {
			r.file.Close()
			if err := r.open(); err != nil {
				return 0, err
			}
		}
	}
	n, err := r.file.Write(line)
	r.size += int64(n)
	return n, err
}

// Close closes the file.
func (r *Rotating) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Close()
}
