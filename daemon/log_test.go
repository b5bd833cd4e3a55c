package daemon

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
	log, err := openLog(folder, 100)
	is.NoErr(err)
	for _, word := range []string{"one", "two", "three", "four", "five"} {
		_, err := log.Write([]byte(strings.Repeat(word, 10) + "\n"))
		is.NoErr(err)
	}
	is.NoErr(log.Close())
	now, err := os.ReadFile(filepath.Join(folder, logFile))
	is.NoErr(err)
	old, err := os.ReadFile(filepath.Join(folder, oldLog))
	is.NoErr(err)
	is.True(len(now) <= 100 && len(old) <= 100)
	is.True(strings.HasSuffix(string(now), strings.Repeat("five", 10)+"\n")) // the newest is there
	is.True(strings.HasPrefix(string(old), "three"))                         // and what came just before

	again, err := openLog(folder, 100) // a restart goes on where it was
	is.NoErr(err)
	defer again.Close()
	_, err = again.Write([]byte("six\n"))
	is.NoErr(err)
	more, err := os.ReadFile(filepath.Join(folder, logFile))
	is.NoErr(err)
	is.True(strings.HasPrefix(string(more), string(now[:10])))
}

func TestLevelsOfParts(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	l := &logs{out: &out, levels: config.Log{Level: slog.LevelWarn, Levels: map[string]slog.Level{"facts": slog.LevelDebug}}}
	l.part("server").Info("unheard")
	l.part("facts").With("area", "memory").Debug("heard", "n", 3)
	is.True(!strings.Contains(out.String(), "unheard"))
	is.True(strings.Contains(out.String(), "heard"))
	is.Equal(len(l.journal.lines), 1)
	line := l.journal.lines[0]
	is.Equal(line.Level, api.LogDebug)
	is.Equal(line.Fields, map[string]string{"area": "memory", "n": "3"})
	l.set(config.Log{Level: slog.LevelDebug})
	l.part("server").Info("now")
	is.True(strings.Contains(out.String(), "now"))
}

// A line says the reason of its error, in the log and in the journal, unless it does so
// itself.
func TestLogSaysReasons(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	l := &logs{out: &out, levels: config.Log{Level: slog.LevelInfo}}
	err := fmt.Errorf("while starting: %w", api.NewError(api.ReasonDiskFull, "x"))
	l.part("daemon").Error("failed", "error", err)
	l.part("daemon").Error("failed", "reason", "other", "error", err)
	l.part("daemon").Error("failed", "error", os.ErrNotExist)
	is.Equal(strings.Count(out.String(), "reason=disk_full"), 1)
	is.Equal(l.journal.lines[0].Fields["reason"], "disk_full")
	is.Equal(l.journal.lines[1].Fields["reason"], "other")
	is.Equal(l.journal.lines[2].Fields["reason"], "")
}

func TestJournalIsBounded(t *testing.T) {
	is := is.New(t)
	l := &logs{out: &bytes.Buffer{}, levels: config.Log{Level: slog.LevelInfo}}
	log := l.part("daemon")
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
	is.NoErr(rotateErrors(folder)) // there is none
	file := filepath.Join(filepath.Dir(folder), errorFile)
	is.NoErr(os.WriteFile(file, []byte("short\n"), 0o600))
	is.NoErr(rotateErrors(folder))
	_, err := os.Stat(file)
	is.NoErr(err) // it has room
	for _, word := range []string{"one", "two"} {
		is.NoErr(os.WriteFile(file, bytes.Repeat([]byte(word), mostErrorBytes/3+1), 0o600))
		is.NoErr(rotateErrors(folder))
		_, err = os.Stat(file)
		is.True(os.IsNotExist(err))
		old, err := os.ReadFile(filepath.Join(folder, oldErrors))
		is.NoErr(err)
		is.True(strings.HasPrefix(string(old), word))
	}
}
