package beat

import (
	"maps"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Link carries beats. Send returns at once and does not call back; what it cannot
// send is lost.
type Link interface {
	// Send sends one beat to a node, on every path to it.
	Send(to api.NodeID) error
	// Receive sets the function that is called with each beat that arrives.
	Receive(func(from api.NodeID))
	// HungUp sets the function that is called when a node's system has closed all that
	// was open to it: its daemon ended, and the Mac goes on.
	HungUp(func(node api.NodeID))
}

// Times are how often nodes beat.
type Times struct {
	// Every is the time between two beats.
	Every time.Duration
	// Lost is the silence after which a node is lost.
	Lost time.Duration
}

// DefaultTimes are the defaults of the configuration.
func DefaultTimes() Times { return Times{Every: api.DefaultBeat, Lost: api.DefaultBeatLost} }

// Config is what a beater needs.
type Config struct {
	// Self is this node, to which nothing is sent.
	Self api.NodeID
	// Clock is what silence is measured on.
	Clock native.Clock
	// Link carries the beats.
	Link Link
	// Times are read at every beat.
	Times func() Times
	// Lost is told once of each silence, with how long it has lasted. It is
	// called from a goroutine of its own and must not wait.
	Lost func(node api.NodeID, silent time.Duration)
	// Back is told when a lost node is heard again. It must not wait.
	Back func(node api.NodeID)
}

// Beater sends beats to a set of nodes and listens for theirs.
type Beater struct {
	cfg Config

	mu     sync.Mutex
	peers  map[api.NodeID]*peer
	timer  native.Timer
	round  uint64 // of the timer, so that one that was stopped too late does nothing
	pulse  Pulse
	closed bool
}

type peer struct {
	received       time.Duration // on Boot; at first when it was added
	allowedSilence time.Duration // on Boot: until then it may be silent
	lost           bool
}

// New makes a beater that beats nobody yet.
func New(cfg Config) *Beater {
	b := &Beater{cfg: cfg, peers: map[api.NodeID]*peer{}}
	cfg.Link.Receive(b.receive)
	return b
}

// Watch sets who is to be heard. A node that is new to the set has the whole time
// to be heard first; of those that stay nothing is forgotten.
func (b *Beater) Watch(nodes []api.NodeID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	now := b.cfg.Clock.Boot()
	maps.DeleteFunc(b.peers, func(n api.NodeID, _ *peer) bool { return !slices.Contains(nodes, n) })
	var added []api.NodeID
	for _, n := range nodes {
		if n != b.cfg.Self && b.peers[n] == nil {
			b.peers[n] = &peer{received: now}
			added = append(added, n)
		}
	}
	switch {
	case len(b.peers) == 0:
		b.stop()
	case b.timer == nil:
		b.pulse.Tick(now, 0)
		b.arm()
	}
	b.send(added)
}

// AllowSilence lets a node be silent for so long, because it has said that it will be, or its
// system has: its daemon is started again. Beats that are under way change nothing of that; the first
// one after a silence does.
func (b *Beater) AllowSilence(node api.NodeID, silence time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.peers[node]; p != nil {
		p.allowedSilence = b.cfg.Clock.Boot() + silence
	}
}

// Lost lists the nodes of the set that are lost now.
func (b *Beater) Lost() []api.NodeID {
	b.mu.Lock()
	defer b.mu.Unlock()
	var lost []api.NodeID
	for n, p := range b.peers {
		if p.lost {
			lost = append(lost, n)
		}
	}
	slices.Sort(lost)
	return lost
}

// Now sends a beat to everybody, out of turn: a node to which there is a path again
// has been silent for a while, and heard nothing.
func (b *Beater) Now() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.send(slices.Sorted(maps.Keys(b.peers)))
}

// Close ends all beats.
func (b *Beater) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	clear(b.peers)
	b.stop()
}

func (b *Beater) stop() {
	b.round++
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

func (b *Beater) arm() {
	b.round++
	round := b.round
	b.timer = b.cfg.Clock.AfterFunc(b.cfg.Times().Every, func() { b.beat(round) })
}

// beat sends to everybody and sees who has fallen silent.
func (b *Beater) beat(round uint64) {
	b.mu.Lock()
	if round != b.round {
		b.mu.Unlock()
		return
	}
	now, limit := b.cfg.Clock.Boot(), b.cfg.Times().Lost
	if b.pulse.Tick(now, limit/2) > 0 { // what came meanwhile is heard only now
		for _, p := range b.peers {
			p.received = now
		}
	}
	silent := map[api.NodeID]time.Duration{}
	for n, p := range b.peers {
		if d := now - p.received; d >= limit && now >= p.allowedSilence && !p.lost {
			p.lost = true
			silent[n] = d
		}
	}
	b.send(slices.Sorted(maps.Keys(b.peers)))
	b.arm()
	b.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(silent)) {
		b.cfg.Lost(n, silent[n])
	}
}

// send sends a beat to each; what does not arrive is noticed at the other end.
func (b *Beater) send(nodes []api.NodeID) {
	for _, n := range nodes {
		_ = b.cfg.Link.Send(n)
	}
}

func (b *Beater) receive(from api.NodeID) {
	b.mu.Lock()
	p := b.peers[from]
	back := p != nil && p.lost
	if p != nil {
		now := b.cfg.Clock.Boot()
		if now-p.received > 2*b.cfg.Times().Every {
			p.allowedSilence = 0
		}
		p.received, p.lost = now, false
	}
	b.mu.Unlock()
	if back {
		b.cfg.Back(from)
	}
}

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
