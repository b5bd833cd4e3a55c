package beat

import "time"

// Pulse tells who judges by the time that passed whether it ran itself meanwhile: a
// process that was stopped, and a Mac that slept, heard nobody and asked nobody. The zero
// value has not ticked yet.
type Pulse struct {
	last   time.Duration
	ticked bool
}

// Tick notes a moment on a clock that counts sleep, and gives how long nothing ran: the
// time since the last tick, where that was more than most.
func (p *Pulse) Tick(now, most time.Duration) (away time.Duration) {
	if gap := now - p.last; p.ticked && gap > most {
		away = gap
	}
	p.last, p.ticked = now, true
	return away
}
