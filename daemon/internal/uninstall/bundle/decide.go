package bundle

import "time"

const (
	// GoneFor is how long a bundle must be gone before it counts as thrown away:
	// installers and updates take the old one out before they put in the new one.
	GoneFor = 60 * time.Second
	// Slept is how much later than it should a look comes where the Mac slept in
	// between: the minute then begins anew.
	Slept = 5 * time.Second
)

// Seen is what was found at one look.
type Seen struct {
	// Version tells one bundle at the path from another; empty where there is none,
	// or where what is there is another app.
	Version string
	// Elsewhere is the path of a bundle of the same app that is at another place, and
	// in no trash; empty where there is none.
	Elsewhere string
}

// State is what was seen before.
type State struct {
	version string
	isGone  bool
	due     time.Duration // on the clock that counts sleep
	over    bool
	goneFor time.Duration
}

// Began is the state of a daemon that was started from a bundle.
func Began(version string) State { return State{version: version, goneFor: GoneFor} }

// Verdict is what has become of the bundle.
type Verdict string

const (
	// Here: it is where it was.
	Here Verdict = "here"
	// Gone: it is not there, for less than GoneFor.
	Gone Verdict = "gone"
	// Replaced: there is another one, an upgrade.
	Replaced Verdict = "replaced"
	// Moved: it is at another place.
	Moved Verdict = "moved"
	// Trashed: it has been thrown away.
	Trashed Verdict = "trashed"
)

// Next says what has become of the bundle, and after how long to look again; 0
// where only a change is a reason to. A verdict of Replaced, Moved or Trashed is
// given once.
func Next(s State, now time.Duration, seen Seen) (State, Verdict, time.Duration) {
	switch {
	case seen.Version != "" && seen.Version == s.version:
		return State{version: s.version, goneFor: s.goneFor}, Here, 0
	case seen.Version != "":
		return State{version: seen.Version, goneFor: s.goneFor}, Replaced, 0
	case s.over:
		return s, Gone, 0
	case !s.isGone, now > s.due+Slept:
		s.isGone, s.due = true, now+s.goneFor
		return s, Gone, s.goneFor
	case now < s.due:
		return s, Gone, s.due - now
	}
	s.over = true
	if seen.Elsewhere != "" {
		return s, Moved, 0
	}
	return s, Trashed, 0
}
