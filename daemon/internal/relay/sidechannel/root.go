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
	end
	woken waker.Waker // has it look whether rank 0 listens

	// These are guarded by mu.
	joiners []*joiner // by rank
	listens bool
	seen    native.Listening // what was told last of who listens
	seenAt  time.Duration    // on Clock.Boot

	connecting chan struct{} // has room for one: whoever looks whether rank 0 has room

	dialling   sync.Mutex              // held while a connection to rank 0's program is made
	dialled    map[netip.AddrPort]bool // those that were, by their near ends
	searchedAt time.Duration           // when strays were looked for last, on Clock.Boot
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
	// listenRetry is between two looks whether rank 0 has accepted a connection.
	listenRetry = 200 * time.Microsecond
)

func newRoot(c *Channels, ch request, port int) *root {
	r := &root{joiners: make([]*joiner, len(ch.Nodes)), woken: waker.New(), connecting: make(chan struct{}, 1), dialled: map[netip.AddrPort]bool{}, searchedAt: -lookAgain}
	r.begin(c, ch, port, r.handshake)
	r.work.Go(r.watch)
	return r
}

func (r *root) isSpawned() { r.woken.Wake() }

// streams are those of its ranks that there are.
func (r *root) streams() []*joiner {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.joiners), func(j *joiner) bool { return j == nil })
}

func (r *root) close(within func(done <-chan struct{})) {
	r.finish()
	all := r.streams()
	for _, j := range all {
		if j.standing().connected {
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

// attach takes the stream of a rank.
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
	case r.over:
		why = "rank 0 has ended"
	default:
		j.adoptLocked(r)
		if !r.countsLocked(j, j.standing().waits) {
			why = "the rank has connected before"
		}
	}
	if why != "" {
		r.c.cfg.Log.Warn("a node's side channel was refused", "rank", j.ref.String(), "from", j.from, "why", why)
		j.conn.Close()
		return false
	}
	r.woken.Wake()
	return true
}

// receivedBy reports whether a stream on which something is said counts.
func (r *root) receivedBy(j *joiner) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.countsLocked(j, true)
}

// countsLocked has a stream be its rank's, and reports whether it may be. Where there is
// one that nothing hangs on yet, both stay until one of them says something, and then the
// other one ends: a node that gets no answer over one path in time tries the next as well,
// keeps one of the two, and closes the other one.
func (r *root) countsLocked(j *joiner, isReceived bool) bool {
	old := r.joiners[j.ref.Rank]
	was := old.standing()
	switch {
	case old == j:
		return true
	case was.through:
		return false
	case isReceived && old != nil:
		old.conn.Close()
	case was.waits:
		return true
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
	return slices.ContainsFunc(r.joiners, func(j *joiner) bool { return j.standing().waits })
}

// watch looks for rank 0's listener, and then whether it stays until all are in, and
// takes nobody else. Rank 0 closes it once as many are in as there are other ranks, and
// each has said its number.
func (r *root) watch() {
	began := time.Duration(-1)
	gone, taken := 0, 0
	for r.ctx.Err() == nil {
		r.notify() // on whom it waits: somebody may have come
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
		listens, whole := r.listens, r.isWholeLocked()
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
			r.fail(api.Errorf(reason, r.ch.Rank.String(), "Whether rank 0 listens cannot be found out%s.", native.ErrnoSuffix(err)))
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
func (r *root) pause(d time.Duration) { native.Wait(r.ctx, r.c.cfg.Clock, d, r.woken) }

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
	r.notify()
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
		again := listenRetry
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

// isWholeLocked reports whether every rank is connected.
func (r *root) isWholeLocked() bool {
	return !slices.ContainsFunc(r.joiners[1:], func(j *joiner) bool { return !j.standing().connected })
}

// settle waits until all is read that rank 0's program, which has ended, has said.
func (r *root) settle(within func(done <-chan struct{})) {
	for _, j := range r.streams() {
		if j.standing().connected {
			within(j.received)
		}
	}
}

// awaitedLocked are the ranks, all of which are here, for which the others wait.
func (r *root) awaitedLocked() []int {
	if !r.listens {
		return []int{0}
	}
	flows := make([]gather, 0, len(r.joiners)-1)
	for _, j := range r.joiners[1:] {
		now := j.standing()
		if !now.connected { // it has no room for another
			return []int{0}
		}
		flows = append(flows, now.gather)
	}
	return owing(flows)
}

func (r *root) handshake() (now api.Handshake, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := api.Handshake{State: api.HandshakeNone, Severed: r.severed}
	joined := true
	for n, j := range r.joiners[1:] {
		now := j.standing()
		h.CarriedBytes += now.bytes
		if !now.waits && !now.through {
			h.Missing = append(h.Missing, n+1)
		}
		joined = joined && now.gather.joined
	}
	switch {
	case joined:
		h.State = api.HandshakeJoined
	case r.isWholeLocked():
		h.State = api.HandshakeConnected
	case r.listens:
		h.State = api.HandshakeListening
	}
	if !joined && len(h.Missing) == 0 {
		h.Missing = r.awaitedLocked()
	}
	return h, r.over
}
