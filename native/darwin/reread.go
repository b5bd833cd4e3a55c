package darwin

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"fulmen/native"
)

// rereadEvery is how often what events announce is looked at all the same. No
// source of Apple's promises an event for each change (a cable that trains anew
// may send none), so a slow look backs them up.
const rereadEvery = time.Minute

// hintRereadToo is the source of a hint for an area that changed in a minute in which
// events spoke of it: whether they spoke of all of the change is not known.
const hintRereadToo = "reread.after_events"

// reread compares areas with how they were, and hints those that have changed. Who
// hears the hints counts those of [native.HintSafetyReread], which no event spoke of:
// a count that grows says that an event is missing.
type reread struct {
	machine *machine
	looking sync.Mutex // held while areas are read

	mu       sync.Mutex
	watchers int
	round    int // grows with every beginning, so that an older timer stands back
	timer    native.Timer
	before   map[native.Area][]byte
	received map[native.Area]bool // announced since the last look
}

func newReread(m *machine) *reread { return &reread{machine: m} }

// rereadAreas are those that events announce; memory and load move all the time
// and are read by whoever wants them.
func rereadAreas() []native.Area {
	return []native.Area{native.AreaIdentity, native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA}
}

// begin looks once a minute until end is called.
func (r *reread) begin() (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watchers++; r.watchers == 1 {
		r.round++
		r.before, r.received = map[native.Area][]byte{}, map[native.Area]bool{}
		r.arm(r.round)
	}
	return sync.OnceFunc(func() {
		r.mu.Lock()
		if r.watchers--; r.watchers == 0 {
			r.timer.Stop()
			r.round++
		}
		r.mu.Unlock()
		r.looking.Lock() // until a look that has begun is over
		defer r.looking.Unlock()
	})
}

// arm sets the next look; the lock is held.
func (r *reread) arm(round int) {
	r.timer = r.machine.clock.AfterFunc(rereadEvery, func() { r.look(round) })
}

// announced notes that an event has spoken of an area: its change is no miss.
func (r *reread) announced(areas []native.Area) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, area := range areas {
		if r.received != nil {
			r.received[area] = true
		}
	}
}

func (r *reread) look(round int) {
	r.looking.Lock()
	defer r.looking.Unlock()
	moved := map[native.Area]string{}
	for _, area := range rereadAreas() {
		if source := r.moved(round, area); source != "" {
			moved[area] = source
		}
	}
	r.mu.Lock()
	current := round == r.round
	if current {
		r.arm(round)
	}
	r.mu.Unlock()
	if !current {
		return
	}
	clock := r.machine.clock
	for _, area := range rereadAreas() {
		if moved[area] == "" {
			continue
		}
		r.machine.listeners.hint(native.Hint{Area: area, Source: moved[area], At: native.Stamp(clock.Now()), BootUS: clock.Boot().Microseconds()})
	}
}

// moved reads an area and gives the source of the hint that it changed, "" where it did
// not.
func (r *reread) moved(round int, area native.Area) string {
	s := native.Snapshot{}
	var why native.Reason
	if area == native.AreaRDMA {
		s.RDMA, why = r.machine.rdma(r.machine.verbs.Last) // no timer calls the library
	} else {
		why = r.machine.read(&s, area)
	}
	now, err := json.Marshal([]any{s, why})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || round != r.round {
		return ""
	}
	before, known := r.before[area]
	received := r.received[area]
	r.before[area], r.received[area] = now, false
	switch {
	case !known && !received, bytes.Equal(before, now):
		return ""
	case received:
		return hintRereadToo
	}
	return native.HintSafetyReread
}
