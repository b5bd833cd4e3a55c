package shimproto

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"fulmen/daemon/api/scan"
)

// MaxLine is the longest line, its end not counted, that either side accepts.
const MaxLine = 64 << 10

// Encode writes a message as one line, without its end. A message that its
// reader would refuse is an error here already.
func Encode(m interface {
	messageType() string
	check() error
}) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	line, err := encodeObject(m.messageType(), m, nil)
	if err != nil {
		return nil, err
	}
	if len(line) > MaxLine {
		return nil, ErrTooLong
	}
	return line, nil
}

// DecodeRequest reads what a daemon says. Errors are [FieldError],
// [UnknownTypeError] or [ErrTooLong].
func DecodeRequest(line []byte) (Request, error) {
	kind, err := messageKind(line)
	if err != nil {
		return nil, err
	}
	switch kind {
	case Hello{}.messageType():
		return decodeAs[Hello](line)
	case Renew{}.messageType():
		return decodeAs[Renew](line)
	case Stop{}.messageType():
		return decodeAs[Stop](line)
	case Resize{}.messageType():
		return decodeAs[Resize](line)
	case Query{}.messageType():
		return decodeAs[Query](line)
	}
	return nil, unknownType(line)
}

// DecodeReply reads what a shim says. Errors are as of [DecodeRequest].
func DecodeReply(line []byte) (Reply, error) {
	kind, err := messageKind(line)
	if err != nil {
		return nil, err
	}
	switch kind {
	case Greeting{}.messageType():
		return decodeAs[Greeting](line)
	case Status{}.messageType():
		return decodeAs[Status](line)
	case Exit{}.messageType():
		return decodeAs[Exit](line)
	case InputTaken{}.messageType():
		return decodeAs[InputTaken](line)
	case Refusal{}.messageType():
		return decodeAs[Refusal](line)
	}
	return nil, unknownType(line)
}

// messageKind reads the type alone; what it is not sure of is decoded again by
// the type's own decoder.
func messageKind(line []byte) (string, error) {
	if len(line) > MaxLine {
		return "", ErrTooLong
	}
	kind, isKnown := "", false
	scan.Object(line, func(name, value []byte) bool {
		if string(name) == "t" {
			kind, isKnown = scan.Text(value)
		}
		return !isKnown
	})
	if isKnown {
		return kind, nil // the type's own decoder looks at all of it
	}
	return wholeKind(line)
}

// wholeKind reads the type of a line that has to be right otherwise too.
func wholeKind(line []byte) (string, error) {
	var typed struct {
		Type string `json:"t"`
	}
	_, err := decodeObject(line, &typed)
	return typed.Type, err
}

// unknownType refuses a line whose type neither side speaks, for the first thing
// that is wrong with it.
func unknownType(line []byte) error {
	kind, err := wholeKind(line)
	if err != nil {
		return err
	}
	return &UnknownTypeError{Type: kind}
}

func decodeAs[M interface{ check() error }](line []byte) (m M, err error) {
	if _, err := decodeObject(line, &m); err != nil {
		return m, err
	}
	return m, m.check()
}

// RequestID returns the number of a request that does not read otherwise, so
// that it can be refused by name, or 0.
func RequestID(line []byte) uint64 {
	var numbered struct {
		ID uint64 `json:"id"`
	}
	if json.Unmarshal(line, &numbered) != nil {
		return 0
	}
	return numbered.ID
}

// encodeObject writes v as one JSON object: first the member t, where it is not
// empty, then v's own, then the extra ones in order of their names.
func encodeObject(t string, v any, extra map[string]json.RawMessage) ([]byte, error) {
	own, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var parts [][]byte
	if t != "" {
		parts = append(parts, []byte(`"t":"`+t+`"`))
	}
	if inner := own[1 : len(own)-1]; len(inner) > 0 {
		parts = append(parts, inner)
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, append(append(key, ':'), extra[name]...))
	}
	return append(append([]byte{'{'}, bytes.Join(parts, []byte{','})...), '}'), nil
}

// The versions of this protocol that this program speaks. A daemon is upgraded
// while shims of the previous version run, so there is always one before.
const (
	Version       = 1 // 2026-11-21: first
	OldestVersion = 1
)

// Versions is the range that one side speaks.
type Versions struct {
	Newest int `json:"version"`
	Oldest int `json:"oldest_version"`
}

// OwnVersions is what this program speaks.
func OwnVersions() Versions { return Versions{Newest: Version, Oldest: OldestVersion} }

// Check returns a [FieldError] for a range that is none.
func (v Versions) Check() error {
	if v.Newest < 1 {
		return badField("version", "%d is less than 1", v.Newest)
	}
	if v.Oldest < 1 || v.Oldest > v.Newest {
		return badField("oldest_version", "%d is outside 1 to %d", v.Oldest, v.Newest)
	}
	return nil
}

// Negotiate returns the newest version that both sides speak, or an error that
// matches [ErrVersion] and says which side is older.
func (v Versions) Negotiate(other Versions) (int, error) {
	common := min(v.Newest, other.Newest)
	if common >= v.Oldest && common >= other.Oldest {
		return common, nil
	}
	return 0, fmt.Errorf("%w: here %d to %d, there %d to %d", ErrVersion, v.Oldest, v.Newest, other.Oldest, other.Newest)
}
