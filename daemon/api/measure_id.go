package api

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
