package grant

import (
	"sync"
	"time"
)

const (
	// loadWindow is how long ago the use of the GPU still counts: what draws a window
	// takes the GPU for a moment, what computes takes it for seconds.
	loadWindow = 5 * time.Second
	// loadFresh is how old the last reading may be.
	loadFresh = 3 * time.Second
)

// GPULoad is how much of the GPU was used lately. It may be used by several
// goroutines; the zero value knows nothing.
type GPULoad struct {
	mu   sync.Mutex
	read []reading // the oldest first
}

type reading struct {
	at    time.Duration // on the boot clock
	ratio float64
}

// Note adds a reading; nil forgets all of them: the use is not known, or is not
// that of other programs.
func (l *GPULoad) Note(at time.Duration, ratio *float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ratio == nil {
		l.read = nil
		return
	}
	l.read = append(l.since(at-loadWindow), reading{at, *ratio})
}

// Mean is the mean of the last seconds, and whether it is known.
func (l *GPULoad) Mean(now time.Duration) (ratio float64, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	recent := l.since(now - loadWindow)
	if len(recent) == 0 || recent[len(recent)-1].at < now-loadFresh {
		return 0, false
	}
	for _, r := range recent {
		ratio += r.ratio
	}
	return ratio / float64(len(recent)), true
}

// since gives the readings from a time on.
func (l *GPULoad) since(at time.Duration) []reading {
	for i, r := range l.read {
		if r.at >= at {
			return l.read[i:]
		}
	}
	return nil
}
