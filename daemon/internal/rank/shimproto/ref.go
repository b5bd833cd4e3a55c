package shimproto

import (
	"fmt"
	"strings"
)

// Ref names one rank of one attempt of a job.
type Ref struct {
	Job     string `json:"job"`     // "j" and 8 Crockford characters
	Attempt int    `json:"attempt"` // from 1
	Rank    int    `json:"rank"`    // from 0
}

// maxCount bounds attempts and ranks, as the API does.
const maxCount = 9999

// maxEpoch is the largest number that every JSON reader keeps exactly.
const maxEpoch = 1<<53 - 1

// String writes "j4k2m9xq7/2/0".
func (r Ref) String() string { return fmt.Sprintf("%s/%d/%d", r.Job, r.Attempt, r.Rank) }

// Check returns a [FieldError] for the first part that is out of range.
func (r Ref) Check() error {
	const crockford = "0123456789abcdefghjkmnpqrstvwxyz"
	if len(r.Job) != 9 || r.Job[0] != 'j' || strings.Trim(r.Job[1:], crockford) != "" {
		return badField("job", "%.20q is not j and 8 of "+crockford, r.Job)
	}
	if r.Attempt < 1 || r.Attempt > maxCount {
		return badField("attempt", "%d is outside 1 to %d", r.Attempt, maxCount)
	}
	if r.Rank < 0 || r.Rank > maxCount {
		return badField("rank", "%d is outside 0 to %d", r.Rank, maxCount)
	}
	return nil
}

func checkEpoch(epoch int64) error {
	if epoch < 1 || epoch > maxEpoch {
		return badField("epoch", "%d is outside 1 to 2^53-1", epoch)
	}
	return nil
}
