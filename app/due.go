package app

import "time"

// Due is when the menu of this state has other lines though nothing happens: a
// job that ended is no longer shown, a code no longer counts. The zero time
// where that is never so. That ages grow is not meant: nobody sees them in a
// menu that is closed.
func (s State) Due() time.Time {
	var due time.Time
	sooner := func(t time.Time) {
		if t.After(s.Now) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	for _, j := range s.Jobs {
		if j.Mine && j.Phase.Ended() {
			sooner(j.EndedAt.Add(lately))
		}
	}
	if s.Code != nil && !s.Code.ExpiresAt.IsZero() {
		sooner(s.Code.ExpiresAt.Time)
	}
	return due
}
