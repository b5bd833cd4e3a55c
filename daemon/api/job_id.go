package api

import "crypto/rand"

// shortIDLength is that of the common shape of the ids that are drawn at random: a letter
// that says what it is and 8 Crockford characters, 40 random bits.
const shortIDLength = 9

// JobID names a job: `j` and 8 Crockford characters. The zero value is no job.
type JobID string

// NewJobID draws a job id from the system's random source.
func NewJobID() JobID { return JobID(newShortID('j')) }

// ParseJobID reads a job id as people write it: either case, o for 0, i and l for 1.
func ParseJobID(s string) (JobID, error) {
	id, err := parseShortID("job id", 'j', s, "copy it from `fulmen jobs`, such as j4k2m9xq7")
	return JobID(id), err
}

// Valid reports whether the id is canonical.
func (j JobID) Valid() bool { return validShortID('j', string(j)) }

// String is the wire form.
func (j JobID) String() string { return string(j) }

// MarshalText writes the wire form and refuses an invalid id.
func (j JobID) MarshalText() ([]byte, error) {
	if !j.Valid() {
		return nil, malformed("job id", string(j), "is not valid", "set it from NewJobID or ParseJobID")
	}
	return []byte(j), nil
}

// UnmarshalText reads the wire form only.
func (j *JobID) UnmarshalText(text []byte) error {
	return unmarshalCanonical(j, text, "job id", ParseJobID)
}

func newShortID(letter byte) string {
	var b [5]byte
	rand.Read(b[:]) // never fails: the runtime ends the process where the system has no randomness
	return string(letter) + encodeCrockford(b[:], shortIDLength-1)
}

func parseShortID(field string, letter byte, s, remedy string) (string, error) {
	if s == "" || s[0]|0x20 != letter {
		return "", malformed(field, s, "does not begin with "+string(letter), remedy)
	}
	id := string(letter) + FoldCrockford(s[1:])
	if !validShortID(letter, id) {
		return "", malformed(field, s, "is not "+string(letter)+" and 8 letters or digits", remedy)
	}
	return id, nil
}

func validShortID(letter byte, s string) bool {
	return len(s) == shortIDLength && s[0] == letter && isCrockford(s[1:])
}

// MeasureID names one run of a measurement: `m` and 8 Crockford characters.
// The zero value is no measurement.
type MeasureID string

// NewMeasureID draws a measurement id from the system's random source.
func NewMeasureID() MeasureID { return MeasureID(newShortID('m')) }

// ParseMeasureID reads a measurement id as people write it: either case, o for 0, i and l for 1.
func ParseMeasureID(s string) (MeasureID, error) {
	id, err := parseShortID("measurement id", 'm', s, "copy it from the reply of measure.gpu, such as m4k2m9xq7")
	return MeasureID(id), err
}

// Valid reports whether the id is canonical.
func (m MeasureID) Valid() bool { return validShortID('m', string(m)) }

// String is the wire form.
func (m MeasureID) String() string { return string(m) }

// MarshalText writes the wire form and refuses an invalid id.
func (m MeasureID) MarshalText() ([]byte, error) {
	if !m.Valid() {
		return nil, malformed("measurement id", string(m), "is not valid", "set it from NewMeasureID or ParseMeasureID")
	}
	return []byte(m), nil
}

// UnmarshalText reads the wire form only.
func (m *MeasureID) UnmarshalText(text []byte) error {
	return unmarshalCanonical(m, text, "measurement id", ParseMeasureID)
}
