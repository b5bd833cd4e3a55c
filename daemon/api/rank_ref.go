package api

import (
	"cmp"
	"strconv"
	"strings"
)

const (
	// MaxAttempt bounds the attempt number of a job.
	MaxAttempt = 9999
	// MaxRank bounds the rank number of a job.
	MaxRank = 9999
)

// RankRef names one process of one attempt of a job, written
// `j4k2m9xq7/2/0`: job, attempt from 1, rank from 0.
type RankRef struct {
	Job     JobID
	Attempt int
	Rank    int
}

// ParseRankRef reads a rank reference; the job part as people write it.
func ParseRankRef(s string) (RankRef, error) {
	const field = "rank"
	parts := strings.Split(s, "/")
	if len(parts) != 3 {
		return RankRef{}, malformed(field, s, "is not job/attempt/rank", "write it as j4k2m9xq7/2/0")
	}
	job, err := ParseJobID(parts[0])
	if err != nil {
		return RankRef{}, err
	}
	attempt, err := parseCount("attempt", parts[1], 1, MaxAttempt)
	if err != nil {
		return RankRef{}, err
	}
	rank, err := parseCount(field, parts[2], 0, MaxRank)
	if err != nil {
		return RankRef{}, err
	}
	return RankRef{Job: job, Attempt: attempt, Rank: rank}, nil
}

// Valid reports whether all three parts are in range.
func (r RankRef) Valid() bool {
	return r.Job.Valid() && r.Attempt >= 1 && r.Attempt <= MaxAttempt && r.Rank >= 0 && r.Rank <= MaxRank
}

// Compare orders by job, attempt and rank.
func (r RankRef) Compare(o RankRef) int {
	return cmp.Or(cmp.Compare(r.Job, o.Job), cmp.Compare(r.Attempt, o.Attempt), cmp.Compare(r.Rank, o.Rank))
}

// String is the wire form.
func (r RankRef) String() string {
	return string(r.Job) + "/" + strconv.Itoa(r.Attempt) + "/" + strconv.Itoa(r.Rank)
}

// MarshalText writes the wire form and refuses an invalid reference.
func (r RankRef) MarshalText() ([]byte, error) {
	if !r.Valid() {
		return nil, malformed("rank", r.String(), "is not valid", "set job, attempt (from 1) and rank (from 0)")
	}
	return []byte(r.String()), nil
}

// UnmarshalText reads the wire form only.
func (r *RankRef) UnmarshalText(text []byte) error {
	return unmarshalCanonical(r, text, "rank", ParseRankRef)
}
