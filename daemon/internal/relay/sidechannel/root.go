package sidechannel

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/waker"
)

// root is the channel of rank 0 at its node, where those of all others end.
type root struct {
	c       *Channels
	ch      Channel
	port    int
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	woken   waker.Waker // has it look whether rank 0 listens
	silence native.Timer
	ending  chan struct{} // closed when the rank has ended

	mu       sync.Mutex
	joiners  []*joiner // by rank
	listens  bool
	seen     native.Listening // what was told last of who listens
	seenAt   time.Duration    // on Clock.Boot
	severed  bool
	failed   bool
	over     bool
	isSilent bool

	connecting chan struct{} // has room for one: whoever looks whether rank 0 has room

	dialling   sync.Mutex              // held while a connection to rank 0's program is made
	dialled    map[netip.AddrPort]bool // those that were, by their near ends
	searchedAt time.Duration           // when strays were looked for last, on Clock.Boot

	teller teller
}

// How often it is looked whether rank 0 listens: no system announces that. While
// others wait for it that costs them time, and a start takes most often less than
// lookHasten. A look takes some 50 us on Linux.
const (
	lookSoon   = time.Millisecond
	lookLater  = 10 * time.Millisecond
	lookIdle   = 50 * time.Millisecond
	lookHasten = 3 * time.Second
	// watchEvery is between two looks whether rank 0 listens still, while ranks are
	// missing, and strayAfter how long it must not.
	watchEvery = 250 * time.Millisecond
	strayAfter = 4
	// takenAfter is how many looks in a row must find another's listener.
	takenAfter = 2
	// lookAgain is after how long it is looked again who listens, and who has connected,
	// before somebody is connected.
	lookAgain = 10 * time.Millisecond
	// doorAgain is between two looks whether rank 0 has accepted a connection.
	doorAgain = 200 * time.Microsecond
)

func newRoot(c *Channels, ch Channel, port int) *root {
	r := &root{c: c, ch: ch, port: port, joiners: make([]*joiner, len(ch.Nodes)), woken: waker.New(), ending: make(chan struct{}), connecting: make(chan struct{}, 1), dialled: map[netip.AddrPort]bool{}, searchedAt: -lookAgain}
	r.teller = teller{c: c, ref: ch.Rank, state: r.handshake, told: api.Handshake{State: api.HandshakeNone}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.silence = c.cfg.Clock.AfterFunc(ch.Within, r.hush)
	r.work.Go(r.watch)
	return r
}

func (r *root) close(within func(done <-chan struct{})) {
	r.silence.Stop()
	r.teller.stop()
	r.mu.Lock()
	r.failed, r.over = true, true
	all := slices.DeleteFunc(slices.Clone(r.joiners), func(j *joiner) bool { return j == nil })
	r.mu.Unlock()
	close(r.ending)
	for _, j := range all {
		if j.isConnected() {
			within(j.spoken)
		}
		j.out.close()
	}
	for _, j := range all {
		within(j.out.sent)
		j.conn.Close()
	}
	r.mu.Lock()
	r.cancel() // closes the connections to rank 0's program: whoever reads one or writes to it ends
	r.mu.Unlock()
	r.work.Wait()
	r.c.cfg.Return(r.port)
}

func (r *root) hush() {
	r.mu.Lock()
	r.isSilent = true
	r.mu.Unlock()
}

// attach takes the stream of a rank. Where there is one that nothing hangs on yet, both
// stay until one of them says something: a node that gets no answer over one path in time
// tries the next as well, keeps one of the two, and closes the other one.
func (r *root) attach(j *joiner) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := j.ref.Rank
	why := ""
	switch {
	case j.epoch != r.ch.Epoch:
		why = "another epoch of the job"
	case n >= len(r.ch.Nodes) || r.ch.Nodes[n] != j.from:
		why = "the plan has the rank on another node"
	case r.joiners[n] != nil && r.joiners[n].isThrough():
		why = "the rank has connected before"
	}
	if why == "" && r.over {
		why = "rank 0 has ended"
	}
	if why != "" {
		r.c.cfg.Log.Warn("a node's side channel was refused", "rank", j.ref.String(), "from", j.from, "why", why)
		j.conn.Close()
		return false
	}
	j.adopt(r)
	if old := r.joiners[n]; old == nil || !old.isHere() || j.isHere() {
		r.joiners[n] = j
	}
	if r.listens {
		j.out.frame(frameListens, nil)
	}
	r.woken.Wake()
	return true
}

// heardBy has a stream be its rank's as soon as something is said on it, and reports
// whether it is; the one before it ends.
func (r *root) heardBy(j *joiner) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.joiners[j.ref.Rank]
	switch {
	case old == j:
		return true
	case old != nil && old.isThrough():
		return false
	case old != nil:
		old.conn.Close()
	}
	r.joiners[j.ref.Rank] = j
	if r.listens {
		j.out.frame(frameListens, nil)
	}
	return true
}

// awaits reports whether somebody is held for rank 0.
func (r *root) awaits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.joiners, func(j *joiner) bool { return j != nil && j.isHere() })
}

// watch looks for rank 0's listener, and then whether it stays until all are in, and
// takes nobody else. Rank 0 closes it once as many are in as there are other ranks, and
// each has said its number.
func (r *root) watch() {
	began := time.Duration(-1)
	gone, taken := 0, 0
	for r.ctx.Err() == nil {
		r.tell() // on whom it waits: somebody may have come
		group := r.c.cfg.Group(r.ch.Rank)
		if group == 0 {
			r.pause(lookIdle)
			continue
		}
		if began < 0 {
			began = r.c.cfg.Clock.Boot()
		}
		l, err := r.look(group)
		r.mu.Lock()
		listens, whole := r.listens, r.isWhole()
		r.mu.Unlock()
		if !l.Others {
			taken = 0
		}
		switch {
		case err != nil:
			reason := api.ReasonInternal
			if unsupported, is := errors.AsType[*native.UnsupportedError](err); is {
				reason = api.Reason(unsupported.Reason.Key())
			}
			r.c.cfg.Log.Warn("whether rank 0 listens is not known", "rank", r.ch.Rank.String(), "err", err)
			r.fail(api.Errorf(reason, r.ch.Rank.String(), "Whether rank 0 listens cannot be found out%s.", native.Said(err)))
			return
		case whole && !l.Group:
			return
		case l.Others:
			// A program that is just ending has its listener still and is found no more.
			if taken++; taken < takenAfter {
				native.Pause(r.ctx, r.c.cfg.Clock, lookIdle)
				continue
			}
			r.fail(api.Errorf(api.ReasonPortTaken, r.ch.Rank.String(), "Another program listens at port %d, which rank 0 was given.", r.port))
			return
		case !listens && l.Group:
			r.opened()
		case listens && !l.Group:
			if gone++; gone >= strayAfter {
				r.stray(netip.AddrPort{})
				return
			}
		case listens:
			gone = 0
		}
		if from, found := r.seesStray(l); found {
			r.stray(from)
			return
		}
		isNew := r.c.cfg.Clock.Boot()-began < lookHasten
		switch awaited := r.awaits(); {
		case listens || l.Group:
			native.Pause(r.ctx, r.c.cfg.Clock, watchEvery)
		case isNew && awaited:
			r.pause(lookSoon)
		case isNew || awaited:
			r.pause(lookLater)
		default:
			r.pause(lookIdle)
		}
	}
}

// look finds out who listens at rank 0's port.
func (r *root) look(group int) (native.Listening, error) {
	r.mu.Lock()
	before := r.seen
	r.mu.Unlock()
	l, err := r.c.cfg.Machine.Listens(group, r.port, before)
	r.mu.Lock()
	r.seen, r.seenAt = l, r.c.cfg.Clock.Boot()
	r.mu.Unlock()
	return l, err
}

// hasRoom reports whether rank 0 was seen just now to have room for a connection,
// and takes it.
func (r *root) hasRoom() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.seen.Group || r.seen.Others || r.seen.Room == 0 || r.c.cfg.Clock.Boot()-r.seenAt > lookAgain {
		return false
	}
	r.seen.Room--
	return true
}

// forget has it looked again who listens.
func (r *root) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = native.Listening{}
}

// pause waits, or less when somebody comes.
func (r *root) pause(d time.Duration) {
	passed := make(chan struct{})
	timer := r.c.cfg.Clock.AfterFunc(d, func() { close(passed) })
	defer timer.Stop()
	select {
	case <-passed:
	case <-r.woken:
	case <-r.ctx.Done():
	}
}

// opened says to all that rank 0 listens.
func (r *root) opened() {
	r.mu.Lock()
	r.listens = true
	for _, j := range r.joiners {
		if j != nil {
			j.out.frame(frameListens, nil)
		}
	}
	r.mu.Unlock()
	r.tell()
}

// connect connects to rank 0's program, when that has room for a connection: on Linux
// JACCL has it for one that it has not accepted yet, and others wait for a second.
func (r *root) connect() (net.Conn, error) {
	ctx, cancel := native.WithTimeout(r.ctx, r.c.cfg.Clock, r.ch.Within, "rank 0 to accept a connection")
	defer cancel()
	select {
	case r.connecting <- struct{}{}:
		defer func() { <-r.connecting }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for gone := 0; ; {
		again := doorAgain
		room := r.hasRoom()
		if !room {
			l, err := r.look(r.c.cfg.Group(r.ch.Rank))
			switch {
			case err != nil:
				return nil, err
			case l.Others: // watch says so, if that stays
				again = watchEvery
			case !l.Group:
				// Or its program is about to end, which is told by then.
				if again, gone = watchEvery, gone+1; gone >= strayAfter {
					return nil, &strayError{}
				}
			default:
				room = r.hasRoom()
			}
		}
		if room {
			conn, err := r.dial(ctx)
			if !errors.Is(err, syscall.ECONNREFUSED) {
				return conn, err
			}
			r.forget() // it listens no more
		}
		if !native.Pause(ctx, r.c.cfg.Clock, again) {
			return nil, context.Cause(ctx)
		}
	}
}

// isWhole reports whether every rank is connected. The caller holds mu.
func (r *root) isWhole() bool {
	return !slices.ContainsFunc(r.joiners[1:], func(j *joiner) bool { return j == nil || !j.isConnected() })
}

// fail ends rank 0, once.
func (r *root) fail(why *api.Error) {
	r.mu.Lock()
	over := r.failed
	r.failed = true
	r.mu.Unlock()
	if !over {
		r.c.cfg.Fail(r.ch.Rank, why)
	}
}

// tell has it told how far rank 0 is, and on whom it waits.
func (r *root) tell() { r.teller.news() }

// settle waits until all is read that rank 0's program, which has ended, has said.
func (r *root) settle(within func(done <-chan struct{})) {
	r.mu.Lock()
	all := slices.Clone(r.joiners)
	r.mu.Unlock()
	for _, j := range all {
		if j != nil && j.isConnected() {
			within(j.heard)
		}
	}
}

// awaited are the ranks, all of which are here, for which the others wait. The caller
// holds mu.
func (r *root) awaited() []int {
	if !r.listens {
		return []int{0}
	}
	flows := make([]gather, 0, len(r.joiners)-1)
	for _, j := range r.joiners[1:] {
		now, connected := j.gathered()
		if !connected { // it has no room for another
			return []int{0}
		}
		flows = append(flows, now)
	}
	return owing(flows)
}

func (r *root) handshake() (now api.Handshake, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := api.Handshake{State: api.HandshakeNone, Severed: r.severed}
	joined := true
	for n, j := range r.joiners[1:] {
		if j == nil {
			h.Missing, joined = append(h.Missing, n+1), false
			continue
		}
		here, hasJoined, bytes := j.progress()
		h.CarriedBytes += bytes
		if !here {
			h.Missing = append(h.Missing, n+1)
		}
		joined = joined && hasJoined
	}
	switch {
	case joined:
		h.State = api.HandshakeJoined
	case r.isWhole():
		h.State = api.HandshakeConnected
	case r.listens:
		h.State = api.HandshakeListening
	}
	if !joined && len(h.Missing) == 0 {
		h.Missing = r.awaited()
	}
	return h, r.over
}
