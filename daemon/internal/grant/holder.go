package grant

import (
	"strings"

	"fulmen/daemon/api"
)

// Holder is who holds a grant: a rank, or a measurement. Exactly one is set.
type Holder struct {
	// Rank is a process of a job.
	Rank api.RankRef
	// Measure is a run of a measurement.
	Measure api.MeasureID
}

// ForRank is the holder for a rank.
func ForRank(r api.RankRef) Holder { return Holder{Rank: r} }

// ForMeasure is the holder for a measurement.
func ForMeasure(m api.MeasureID) Holder { return Holder{Measure: m} }

// ParseHolder reads a holder as it is named on the wire and in documents.
func ParseHolder(s string) (Holder, error) {
	if strings.Contains(s, "/") {
		r, err := api.ParseRankRef(s)
		return Holder{Rank: r}, err
	}
	m, err := api.ParseMeasureID(s)
	return Holder{Measure: m}, err
}

// IsMeasure reports whether it is a measurement.
func (h Holder) IsMeasure() bool { return h.Measure != "" }

// Valid reports whether exactly one of its parts is set, and well-formed.
func (h Holder) Valid() bool {
	if h.IsMeasure() {
		return h.Measure.Valid() && h.Rank == api.RankRef{}
	}
	return h.Rank.Valid()
}

// String is the wire form, the name of the grant's document.
func (h Holder) String() string {
	if h.IsMeasure() {
		return h.Measure.String()
	}
	return h.Rank.String()
}
