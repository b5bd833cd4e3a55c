package wire

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// List gathers the entries of a folder and checks that together they can be one.
type List struct {
	// FoldCase refuses names that differ in case only, for a disk that takes
	// them for the same.
	FoldCase bool

	entries []Entry
	types   map[string]Type
	folded  map[string]string
	bytes   int64
}

// Entries are those so far, in the order in which they came: a folder before what
// is in it.
func (l *List) Entries() []Entry { return l.entries }

// Decode adds the entries of a frame.
func (l *List) Decode(data []byte) error {
	var entries []Entry
	if err := Strict(data, &entries); err != nil {
		return err
	}
	for _, e := range entries {
		if err := l.Add(e); err != nil {
			return err
		}
	}
	return nil
}

// Add adds an entry.
func (l *List) Add(e Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	if l.types == nil {
		l.types, l.folded = map[string]Type{}, map[string]string{}
	}
	if len(l.entries) >= MaxFiles {
		return fmt.Errorf("%w: more than %d entries", ErrProtocol, MaxFiles)
	}
	if l.types[e.Path] != "" {
		return fmt.Errorf("%w: %.80q comes twice", ErrProtocol, e.Path)
	}
	if parent := path.Dir(e.Path); parent != "." && l.types[parent] != TypeFolder {
		return fmt.Errorf("%w: %.80q is in no folder", ErrProtocol, e.Path)
	}
	if l.FoldCase {
		lower := strings.ToLower(e.Path)
		if other, taken := l.folded[lower]; taken {
			return &SameNameError{Path: e.Path, Other: other}
		}
		l.folded[lower] = e.Path
	}
	if l.bytes += e.Bytes; l.bytes > MaxBytes {
		return fmt.Errorf("%w: more than %d bytes", ErrProtocol, int64(MaxBytes))
	}
	l.types[e.Path] = e.Type
	l.entries = append(l.entries, e)
	return nil
}

// SameNameError is two names that the receiver's disk cannot tell apart.
type SameNameError struct{ Path, Other string }

// Error names both.
func (e *SameNameError) Error() string {
	return fmt.Sprintf("%q and %q are one name on this disk", e.Path, e.Other)
}

// DecodeIndices reads the indices of files among the entries. They must rise, from
// one frame to the next as well: after is the last one before, or -1.
func DecodeIndices(data []byte, entries []Entry, after int) ([]int, error) {
	var indices []int
	if err := Strict(data, &indices); err != nil {
		return nil, err
	}
	for _, i := range indices {
		if i <= after || i >= len(entries) || entries[i].Type != TypeFile {
			return nil, fmt.Errorf("%w: the index %d", ErrProtocol, i)
		}
		after = i
	}
	return indices, nil
}

// SendParts writes a slice as arrays, in as many frames as it takes; none where it
// is empty.
func SendParts[T any](c *Conn, kind Kind, values []T) error {
	frame := []byte{'['}
	for _, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if len(frame)+len(data)+1 > kind.limit() {
			_ = c.Write(kind, append(frame, ']')) // an error stays
			frame = frame[:1]
		}
		if len(frame) > 1 {
			frame = append(frame, ',')
		}
		frame = append(frame, data...)
	}
	if len(frame) == 1 {
		return nil
	}
	return c.Write(kind, append(frame, ']'))
}
