package stall

import (
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Reading is what a node sees of a rank at a moment: counts since the rank began.
type Reading struct {
	native.Activity
	// At is when, on Boot.
	At time.Duration
	// Printed are the bytes of its output.
	Printed int64
	// Carried is what its RDMA devices and its side channel have carried.
	Carried uint64
	// GPU is the share of the GPU's time that is used now; below 0 where that is not known.
	GPU float64
	// Beat is when its heartbeat was touched last, on the file system's clock; 0 = never.
	Beat int64
	// Owes is what it owes, for OwesFor; empty where nothing is known of that kind.
	Owes    api.RankDebt
	OwesFor time.Duration
	// Stack is what its threads are in, by their stacks; empty where nobody has looked since it
	// got on.
	Stack Stack
}

// Stack is what a rank's stacks show.
type Stack string

// The stacks.
const (
	StackCollective Stack = "collective" // a thread is inside a collective
	StackOutside    Stack = "outside"    // none is
)

// What counts as getting on, each second; less is what a rank does that only waits: a health
// check answered, a thread that looks at its clock.
const (
	leastCPU     = 0.02
	leastFile    = 4 << 10
	leastFaults  = 16
	leastNetwork = 1 << 10
	leastShared  = 64 << 10 // of a whole interface, over which this daemon beats as well
	leastGPU     = 0.05
	// waitsAbove is the kernel's share of the time of a thread that asks a socket without
	// a pause; of one that computes it is a hundredth.
	waitsAbove = 0.25
	// leastApart is between two readings that are compared: the kernel counts in ticks.
	leastApart = time.Second
	// mostApart is between two readings of which nobody slept: longer ones say nothing, since
	// a Mac that wakes has moved little of the time.
	mostApart = 8 * time.Second
)

// Meter is one rank. The zero value has seen nothing.
type Meter struct {
	// Polls says that the rank's group polls memory, as JACCL does.
	Polls bool
	// Alone says that it has no group to wait for.
	Alone bool

	before   Reading
	moved    time.Duration // when it was seen to get on last
	stirred  time.Duration // when it was seen to do anything but wait
	activity api.RankActivity
	halt     native.Halt
	halted   time.Duration // since when
}

// Take takes a reading. One that follows too closely is left out.
func (m *Meter) Take(r Reading) {
	apart := r.At - m.before.At
	if m.before.At == 0 || apart > mostApart {
		m.before, m.moved, m.stirred, m.activity = r, r.At, r.At, ""
		m.halt, m.halted = r.Halt, r.At
		return
	}
	if apart < leastApart {
		return
	}
	computes, waits := m.threads(r)
	m.activity = m.does(r, computes, waits, apart)
	if m.gotOn(r, apart.Seconds()) || m.activity == api.RankComputing {
		m.moved, m.stirred = r.At, r.At
	}
	if m.stirs(r, computes) {
		m.stirred = r.At
	}
	if r.Halt != m.halt || r.Halt != "" && m.moved == r.At {
		m.halt, m.halted = r.Halt, r.At
	}
	m.before = r
}

// threads is the CPU time of the threads that compute, each by itself, and of those that ask
// a socket, since the reading before.
func (m *Meter) threads(r Reading) (computes []time.Duration, waits time.Duration) {
	was := make(map[uint64]native.Thread, len(m.before.Threads))
	for _, t := range m.before.Threads {
		was[t.ID] = t
	}
	for _, t := range r.Threads {
		user, system := max(0, t.User-was[t.ID].User), max(0, t.System-was[t.ID].System)
		switch all := user + system; {
		case all == 0:
		case float64(system) >= waitsAbove*float64(all) && !m.Polls:
			waits += all
		default:
			computes = append(computes, all)
		}
	}
	return computes, waits
}

// does says what the threads have done.
func (m *Meter) does(r Reading, each []time.Duration, waits, apart time.Duration) api.RankActivity {
	computes := time.Duration(0)
	for _, one := range each {
		computes += one
	}
	least := time.Duration(leastCPU * float64(apart))
	switch {
	case max(computes, waits) < least:
		return api.RankIdle
	case m.Alone:
		return api.RankComputing
	case m.Polls && r.Stack == StackCollective:
		return api.RankWaiting
	case m.Polls && r.Stack == "":
		return api.RankUnknown
	case m.Polls || computes >= least:
		return api.RankComputing
	}
	return api.RankWaiting
}

// stirs reports whether a thread has done anything but wait, or a byte has moved that is
// the group's: so ranks that meet for a moment again and again are told from those that
// never come back from a collective. What whole interfaces carry says nothing of that.
func (m *Meter) stirs(r Reading, computes []time.Duration) bool {
	others := time.Duration(0)
	for _, one := range computes {
		others += one
	}
	if m.Polls && len(computes) > 0 { // one of them polls
		others -= slices.Max(computes)
	}
	now, before := r.NetworkBytes, m.before.NetworkBytes
	return others > 0 || now != nil && before != nil && *now != *before && !r.NetworkShared
}

// gotOn reports whether anything but the time of its threads shows that it does.
func (m *Meter) gotOn(r Reading, seconds float64) bool {
	grew := func(now, before uint64, least float64) bool {
		// Connections that were closed meanwhile count no more.
		return float64(max(now, before)-min(now, before)) >= least*seconds
	}
	network := float64(leastNetwork)
	if r.NetworkShared {
		network = leastShared
	}
	b := m.before
	return r.Printed != b.Printed || r.Beat != b.Beat || r.Carried != b.Carried || r.GPU >= leastGPU ||
		grew(r.FileBytes, b.FileBytes, leastFile) || grew(r.Faults, b.Faults, leastFaults) ||
		r.NetworkBytes != nil && b.NetworkBytes != nil && grew(*r.NetworkBytes, *b.NetworkBytes, network)
}

// Progress is what the rank's home is told at a moment; false before two readings.
func (m *Meter) Progress(rank int, now time.Duration) (p api.RankProgress, isKnown bool) {
	if m.activity == "" {
		return p, false
	}
	at := m.before.At
	p = api.RankProgress{Rank: rank, AgeS: (now - at).Seconds(), QuietS: (at - m.moved).Seconds(), StillS: (at - m.stirred).Seconds(), Activity: m.activity,
		Owes: m.before.Owes, OwesS: m.before.OwesFor.Seconds()}
	if m.halt != "" {
		p.Halt, p.HaltS = api.RankHalt(m.halt), (at - m.halted).Seconds()
	}
	unknown := native.Reasons{}
	if m.before.NetworkBytes == nil {
		unknown.Add("network", native.ReasonNoPlatform)
	}
	if m.before.GPU < 0 {
		unknown.Add("gpu", native.ReasonNoPlatform)
	}
	if m.Polls && m.activity == api.RankUnknown {
		unknown.Add("cpu", native.ReasonNotYetRead)
	}
	for field, why := range unknown {
		if p.Unknown == nil {
			p.Unknown = map[string]api.Reason{}
		}
		p.Unknown[field] = api.Reason(why.Key())
	}
	return p, true
}

// Quiet is for how long it was not seen to get on, so that its stacks are worth a look.
func (m *Meter) Quiet() time.Duration { return m.before.At - m.moved }
