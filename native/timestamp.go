package native

import (
	"fmt"
	"time"
)

// timestampLayout is RFC 3339 in UTC with exactly three decimals, so that equal
// times have equal bytes in recordings and golden files.
const timestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a wall-clock time in UTC with millisecond resolution. It is for
// people and logs; durations are measured with [Clock.Boot].
type Timestamp struct{ time.Time }

// Stamp makes a Timestamp of any time: UTC, cut to the millisecond, without a
// monotonic reading.
func Stamp(t time.Time) Timestamp { return Timestamp{t.UTC().Round(0).Truncate(time.Millisecond)} }

// MarshalText writes RFC 3339 UTC with milliseconds. Years outside 0 to 9999
// have no such form and are an error.
func (t Timestamp) MarshalText() ([]byte, error) {
	u := Stamp(t.Time)
	if y := u.Year(); y < 0 || y > 9999 {
		return nil, fmt.Errorf("year %d has no RFC 3339 form", y)
	}
	return u.AppendFormat(nil, timestampLayout), nil
}

// MarshalJSON is MarshalText in quotes; without it the embedded time's own form
// would be used.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	text, err := t.MarshalText()
	if err != nil {
		return nil, err
	}
	return append(append([]byte{'"'}, text...), '"'), nil
}

// UnmarshalText reads any RFC 3339 time and cuts it to the millisecond in UTC.
func (t *Timestamp) UnmarshalText(text []byte) error {
	parsed, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return err
	}
	*t = Stamp(parsed)
	return nil
}

// UnmarshalJSON reads a quoted RFC 3339 time.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' || data[len(data)-1] != '"' {
		return fmt.Errorf("a time is a string in RFC 3339 form, not %.40s", data)
	}
	return t.UnmarshalText(data[1 : len(data)-1])
}
