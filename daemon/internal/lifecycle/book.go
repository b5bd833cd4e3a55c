package lifecycle

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"fulmen/daemon/internal/home"
)

const (
	// LoopWithin is the time in which LoopEnds unexpected ends make a loop.
	LoopWithin = 10 * time.Minute
	// LoopEnds is how many ends it takes.
	LoopEnds = 3
	// mostEnds is how many ends are remembered.
	mostEnds = 20
)

// Book is the record of starts and ends, in a file: one run that has not ended in
// order, and the ends before it that were none. A file that is missing or damaged is
// an empty record: it is of no use to anything else.
type Book struct {
	path string
	// RunningSince is when the run began whose end was not written down.
	RunningSince time.Time `json:"running_since,omitzero"`
	// Ends are when unexpected ends were noticed, which is at the next start.
	Ends []time.Time `json:"ends,omitempty"`
}

// Open notes that a run begins at now, on a machine that was started at boot, and
// finds out whether the run before it ended in order. A run that ended because the
// machine did is nobody's fault.
func Open(path string, now, boot time.Time) (*Book, error) {
	b := &Book{path: path}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, home.Explain(err, "read", path)
	}
	if json.Unmarshal(raw, b) != nil {
		*b = Book{path: path}
	}
	if before := b.RunningSince; !before.IsZero() && before.After(boot) {
		b.Ends = append(b.Ends, now)
	}
	// A wall clock that was set back leaves ends in the future, which say nothing.
	b.Ends = slices.DeleteFunc(b.Ends, func(at time.Time) bool { return at.After(now) })
	b.Ends = b.Ends[max(0, len(b.Ends)-mostEnds):]
	b.RunningSince = now
	return b, b.write()
}

// Recent is how many unexpected ends there were in the last LoopWithin.
func (b *Book) Recent(now time.Time) int {
	n := 0
	for _, at := range b.Ends {
		if now.Sub(at) < LoopWithin {
			n++
		}
	}
	return n
}

// Close notes that the run ends in order.
func (b *Book) Close() error {
	b.RunningSince = time.Time{}
	return b.write()
}

func (b *Book) write() error {
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return home.WriteFile(b.path, append(raw, '\n'), 0o600)
}
