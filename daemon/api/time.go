package api

import "time"

// TimeLayout is how times are written: RFC 3339, UTC, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is a moment on the wall clock, with millisecond resolution on the wire.
// It dates facts for people; durations, leases and deadlines never use it,
// because wall clocks step. The one exception is what a job's run has left of its
// time when its home was started again. The zero value is no time and is left out.
type Time struct{ time.Time }

// TimeOf takes a moment to UTC and whole milliseconds, so that what is written
// reads back equal.
func TimeOf(t time.Time) Time { return Time{t.UTC().Round(0).Truncate(time.Millisecond)} }

// ParseTime reads any RFC 3339 time.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.UTC().Year() < 0 || t.UTC().Year() > 9999 {
		return Time{}, malformed("time", s, "is not RFC 3339", "write it as "+TimeLayout)
	}
	return TimeOf(t), nil
}

// String is the wire form.
func (t Time) String() string { return t.UTC().Format(TimeLayout) }

// MarshalText writes the wire form.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON writes the wire form; without it the embedded method would
// write another resolution.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalText reads the wire form only.
func (t *Time) UnmarshalText(text []byte) error {
	return unmarshalCanonical(t, text, "time", ParseTime)
}

// UnmarshalJSON reads the wire form only.
func (t *Time) UnmarshalJSON(text []byte) error {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return malformed("time", string(text), "is not a string", "write it as "+TimeLayout)
	}
	return t.UnmarshalText(text[1 : len(text)-1])
}
