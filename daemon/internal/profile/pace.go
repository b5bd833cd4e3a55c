package profile

import "time"

// pacing is a GPU or a path, as far as it matters here.
type pacing struct {
	// IsWanted says that somebody watches it, or that a job is to be placed.
	IsWanted bool
	// IsMeasured says that there is a result; Age is how old it is, negative where
	// it is dated in the future.
	IsMeasured bool
	Age        time.Duration
	// IsChanged says that the result is of something that has become another: the
	// cable, the address, the system or MLX.
	IsChanged bool
	// IsLow says that the last result was clearly below what is usual.
	IsLow bool
	// TTL is from which age on a result is old.
	TTL time.Duration
	// Failures counts the failures in a row since, FailedAgo is how long ago the
	// last one was.
	Failures  int
	FailedAgo time.Duration
}

// pacingVerdict is what to do.
type pacingVerdict struct {
	// IsDue says that it is to be measured now.
	IsDue bool
	// In is after how long it may be due without anything else happening; 0 where
	// only something else makes it due.
	In time.Duration
	// IsFull says that it takes the long measurement: at first sight, after a
	// change, and to see whether a low result was chance.
	IsFull bool
}

// judge says whether a subject is to be measured now. Nothing is measured that
// nobody watches, but for what was measured and has become another.
func judge(s pacing) pacingVerdict {
	v := pacingVerdict{IsFull: !s.IsMeasured || s.IsChanged || s.IsLow}
	isStale := !s.IsMeasured || s.Age < 0 || s.Age >= s.TTL || s.IsChanged
	isNew := s.IsMeasured && s.Age >= 0 && s.Age < leastPause
	switch wait := backOff(s.Failures) - max(s.FailedAgo, 0); {
	case !s.IsWanted && !(s.IsMeasured && s.IsChanged):
	case s.Failures > 0 && wait > 0:
		v.In = wait
		if !isStale {
			v.In = max(wait, s.TTL-s.Age)
		}
	case isStale && isNew:
		v.In = leastPause - s.Age
	case isStale:
		v.IsDue = true
	default:
		v.In = s.TTL - s.Age
	}
	return v
}

// leastPause is the least time between two measurements of one subject, however often
// it becomes another.
const leastPause = 10 * time.Second

const (
	// backOffFirst is how long after a failure the next try comes; each one doubles
	// it, up to backOffMost.
	backOffFirst = 15 * time.Second
	backOffMost  = time.Hour
)

// backOff is how long after so many failures in a row the next try comes.
func backOff(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	return min(backOffFirst<<min(failures-1, 10), backOffMost)
}
