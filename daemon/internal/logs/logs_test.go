package logs

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/config"
)

func TestLogIsBegunAnew(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	log, err := OpenFile(folder, 100)
	is.NoErr(err)
	for _, word := range []string{"one", "two", "three", "four", "five"} {
		_, err := log.Write([]byte(strings.Repeat(word, 10) + "\n"))
		is.NoErr(err)
	}
	is.NoErr(log.Close())
	now, err := os.ReadFile(filepath.Join(folder, File))
	is.NoErr(err)
	old, err := os.ReadFile(filepath.Join(folder, oldLog))
	is.NoErr(err)
	is.True(len(now) <= 100 && len(old) <= 100)
	is.True(strings.HasSuffix(string(now), strings.Repeat("five", 10)+"\n")) // the newest is there
	is.True(strings.HasPrefix(string(old), "three"))                         // and what came just before

	again, err := OpenFile(folder, 100) // a restart goes on where it was
	is.NoErr(err)
	defer again.Close()
	_, err = again.Write([]byte("six\n"))
	is.NoErr(err)
	more, err := os.ReadFile(filepath.Join(folder, File))
	is.NoErr(err)
	is.True(strings.HasPrefix(string(more), string(now[:10])))
}

func TestLevelsOfParts(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	l := New(&out, config.Log{Level: slog.LevelWarn, Levels: map[string]slog.Level{"facts": slog.LevelDebug}})
	l.Part("server").Info("unheard")
	l.Part("facts").With("area", "memory").Debug("heard", "n", 3)
	is.True(!strings.Contains(out.String(), "unheard"))
	is.True(strings.Contains(out.String(), "heard"))
	is.Equal(len(l.journal.lines), 1)
	line := l.journal.lines[0]
	is.Equal(line.Level, api.LogDebug)
	is.Equal(line.Fields, map[string]string{"area": "memory", "n": "3"})
	l.Set(config.Log{Level: slog.LevelDebug})
	l.Part("server").Info("now")
	is.True(strings.Contains(out.String(), "now"))
}

// A line says the reason of its error, in the log and in the journal, unless it does so
// itself.
func TestLogSaysReasons(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	l := New(&out, config.Log{Level: slog.LevelInfo})
	err := fmt.Errorf("while starting: %w", api.NewError(api.ReasonDiskFull, "x"))
	l.Part("daemon").Error("failed", "error", err)
	l.Part("daemon").Error("failed", "reason", "other", "error", err)
	l.Part("daemon").Error("failed", "error", os.ErrNotExist)
	is.Equal(strings.Count(out.String(), "reason=disk_full"), 1)
	is.Equal(l.journal.lines[0].Fields["reason"], "disk_full")
	is.Equal(l.journal.lines[1].Fields["reason"], "other")
	is.Equal(l.journal.lines[2].Fields["reason"], "")
}

func TestJournalIsBounded(t *testing.T) {
	is := is.New(t)
	l := New(&bytes.Buffer{}, config.Log{Level: slog.LevelInfo})
	log := l.Part("daemon")
	for n := range journalLines + 10 {
		log.Info("line", "n", n)
	}
	is.Equal(len(l.journal.lines), journalLines)
	is.Equal(l.journal.lines[0].Fields["n"], "10")
}

// What launchd collects of the program's own words is begun anew by the program, since
// nobody else does, and the words before are kept once.
func TestErrorsAreBegunAnew(t *testing.T) {
	is := is.New(t)
	folder := filepath.Join(t.TempDir(), "Fulmen")
	is.NoErr(os.Mkdir(folder, 0o700))
	is.NoErr(RotateErrors(folder)) // there is none
	file := filepath.Join(filepath.Dir(folder), errorFile)
	is.NoErr(os.WriteFile(file, []byte("short\n"), 0o600))
	is.NoErr(RotateErrors(folder))
	_, err := os.Stat(file)
	is.NoErr(err) // it has room
	for _, word := range []string{"one", "two"} {
		is.NoErr(os.WriteFile(file, bytes.Repeat([]byte(word), mostErrorBytes/3+1), 0o600))
		is.NoErr(RotateErrors(folder))
		_, err = os.Stat(file)
		is.True(os.IsNotExist(err))
		old, err := os.ReadFile(filepath.Join(folder, oldErrors))
		is.NoErr(err)
		is.True(strings.HasPrefix(string(old), word))
	}
}
