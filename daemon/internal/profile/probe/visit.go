package probe

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"math"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
	"fulmen/native/frame"
)

// visit is a measurement that another node makes of a path to this one.
type visit struct {
	prober  *Prober
	from    api.NodeID
	key     []byte
	params  api.PeerMeasureParams
	token   []byte
	began   time.Duration
	leave   func()         // gives back what Leave took
	listens []net.Listener // at the path's address, and at those beside it
	ctx     context.Context
	cancel  context.CancelCauseFunc
	working sync.WaitGroup

	seen    atomic.Int64 // grows with everything that arrives or leaves
	noise   []byte
	up      streams
	arrived counter
	down    streams
	wrote   atomic.Int64

	mu      sync.Mutex
	used    map[slot]bool // connections that came
	known   map[net.Conn]bool
	control *control
	here    chan struct{} // closed when the control connection has come
}

// slot is a connection's place in a measurement; each is taken once.
type slot struct {
	purpose purpose
	stream  int
}

var errOver = errors.New("the measurement is over")

// prepare takes what is needed and listens at each address, on its interface. Where it
// fails, nothing is kept.
func (v *visit) prepare(ctx context.Context, ifaces []string) (ports []int, err error) {
	if v.leave, err = v.prober.cfg.Leave(ctx, v.from, v.params); err != nil {
		return nil, err
	}
	v.ctx, v.cancel = context.WithCancelCause(v.prober.base)
	for i, sink := range v.sinks() {
		listen, err := v.prober.cfg.Sockets.Listen(v.ctx, ifaces[i], netip.AddrPortFrom(sink, 0))
		if err != nil {
			v.stopListening()
			v.cancel(nil)
			v.leave()
			v.prober.cfg.Log.Info("cannot listen for a measurement", "interface", ifaces[i], "error", err)
			return nil, api.Errorf(api.ReasonLinkGone, ifaces[i], "%s cannot listen on %s.", v.prober.cfg.Peers.Self().Display(), ifaces[i])
		}
		v.listens = append(v.listens, listen)
		ports = append(ports, listen.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// sinks are the addresses at which connections come.
func (v *visit) sinks() []netip.Addr { return append([]netip.Addr{v.params.Sink}, v.params.Beside...) }

func (v *visit) stopListening() {
	for _, l := range v.listens {
		l.Close()
	}
}

// serve serves the measurement to its end, and gives back what it took.
func (v *visit) serve(within time.Duration) {
	clock := v.prober.cfg.Clock
	ctx, stop := native.WithTimeout(v.ctx, clock, within, "the measurement by "+v.from.Display())
	v.ctx = ctx
	context.AfterFunc(ctx, v.stopListening)
	v.noise = noise()
	v.arrived.clock, v.arrived.notify = clock, v.count
	for _, l := range v.listens {
		v.working.Go(func() { v.accept(l) })
	}
	v.working.Go(func() { watch(ctx, clock, &v.seen, leftAfter, func() { v.cancel(errStalled) }) })
	v.working.Go(func() {
		first, done := native.WithTimeout(ctx, clock, comeWithin, "the first connection of "+v.from.Display())
		defer done()
		select {
		case <-v.here:
		case <-first.Done():
			v.cancel(context.Cause(first))
		}
	})
	<-ctx.Done()
	v.prober.cfg.Log.Debug("measured by another node", "node", v.from, "sink", v.params.Sink, "end", context.Cause(ctx))
	v.stopListening()
	v.up.close()
	v.down.close()
	v.working.Wait()
	stop()
	v.cancel(nil)
	v.leave()
	v.prober.end(v.from, clock.Boot()-v.began)
}

var errStalled = errors.New("the measuring node stopped")

// answer serves the control connection.
func (v *visit) answer(c *control) error {
	for {
		var w message
		err := c.receive(&w)
		switch {
		case err != nil:
		case w.Kind == kindEcho:
			err = c.answerEchoes()
		case w.Kind == kindStop && w.Way == forUp:
			v.up.close()
			err = c.report(message{Kind: kindTotal, Bytes: v.arrived.total.Load()})
		case w.Kind == kindStop && w.Way == forDown:
			v.down.close()
			err = c.report(message{Kind: kindTotal, Bytes: v.wrote.Load()})
		default:
			err = errFrame
		}
		if err != nil {
			return err
		}
	}
}

// count tells the measuring node what came.
func (v *visit) count(c count) {
	v.mu.Lock()
	control := v.control
	v.mu.Unlock()
	if control == nil {
		return
	}
	if err := control.report(message{Kind: kindCount, Bytes: c.bytes, AtUS: c.at.Microseconds()}); err != nil {
		v.cancel(err)
	}
}

// moved is told what came or went, and ends what is more than was announced.
func (v *visit) moved() {
	v.seen.Add(1)
	if v.arrived.total.Load()+v.wrote.Load() > v.params.MaxBytes {
		v.cancel(errTooMuch)
	}
}

var errTooMuch = errors.New("more bytes than were announced")

// accept takes the measurement's connections until it is over. Where too many
// are about to prove who they are, the oldest has to go.
func (v *visit) accept(at net.Listener) {
	var unproven []net.Conn // the oldest first; those that proved themselves go unharmed
	for {
		conn, err := at.Accept()
		if err != nil {
			v.cancel(cmp.Or(context.Cause(v.ctx), err))
			return
		}
		unproven = append(unproven, conn)
		if len(unproven) > maxUnproven {
			v.mu.Lock()
			known := v.known[unproven[0]]
			v.mu.Unlock()
			if !known {
				unproven[0].Close()
			}
			unproven = unproven[1:]
		}
		v.working.Go(func() {
			place, err := v.prove(conn)
			if err != nil {
				v.prober.cfg.Log.Debug("refused a connection for a measurement", "remote", conn.RemoteAddr(), "error", err)
				conn.Close()
				return
			}
			v.use(conn, place)
		})
	}
}

// prove sees who dialled, and shows who this node is. A stranger gets random
// bytes and a refusal.
func (v *visit) prove(conn net.Conn) (slot, error) {
	ctx, cancel := native.WithTimeout(v.ctx, v.prober.cfg.Clock, proveWithin, "the proof of a connection")
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	place, proof, err := v.judge(conn)
	answer := welcome{Proof: proof}
	if err != nil {
		answer = welcome{Refused: api.ReasonProbeTokenInvalid}
	}
	data, e := json.Marshal(answer)
	if e == nil {
		_, e = conn.Write(frame.Encode(data))
	}
	if !stop() {
		return place, context.Cause(ctx)
	}
	return place, cmp.Or(err, e)
}

// judge reads a hello and signs the answer to one that is right.
func (v *visit) judge(conn net.Conn) (slot, []byte, error) {
	challenge := drawn(nonceBytes)
	if _, err := conn.Write(frame.Encode(challenge)); err != nil {
		return slot{}, nil, err
	}
	data, err := frame.Read(conn, frameLimit)
	if err != nil {
		return slot{}, nil, err
	}
	var h hello
	if err := h.read(data); err != nil {
		return slot{}, nil, err
	}
	local, ok := conn.LocalAddr().(*net.TCPAddr)
	if !ok || !slices.Contains(v.sinks(), local.AddrPort().Addr().Unmap().WithZone("")) {
		return slot{}, nil, api.NewError(api.ReasonProbeTokenInvalid, conn.LocalAddr().String())
	}
	b := bond{
		measurement: v.params.Measurement, measurer: v.from, measured: v.prober.cfg.Peers.Self(), sink: local.AddrPort().Addr().Unmap().WithZone(""), token: v.token,
		purpose: h.Purpose, stream: h.Stream, challenge: challenge, nonce: h.Nonce,
	}
	if !ed25519.Verify(v.key, b.dialled(), h.Proof) {
		return slot{}, nil, api.NewError(api.ReasonWrongIdentity, conn.RemoteAddr().String())
	}
	place := slot{h.Purpose, h.Stream}
	if !v.take(place, conn) {
		return slot{}, nil, api.NewError(api.ReasonProbeTokenInvalid, string(h.Purpose))
	}
	return place, ed25519.Sign(v.prober.cfg.Key, b.answered()), nil
}

// take takes a place that nobody had.
func (v *visit) take(place slot, conn net.Conn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.used[place] || place.purpose != forControl && v.control == nil {
		return false
	}
	v.used[place], v.known[conn] = true, true
	return true
}

// use does with a connection what it is for.
func (v *visit) use(conn net.Conn, place slot) {
	switch place.purpose {
	case forControl:
		c := newControl(conn, &v.seen)
		v.mu.Lock()
		v.control = c
		v.mu.Unlock()
		close(v.here)
		stop := context.AfterFunc(v.ctx, func() { drop(conn) })
		defer stop()
		v.cancel(cmp.Or(v.answer(c), errOver))
		conn.Close()
	case forUp:
		v.up.run(conn, drain(func(n int) {
			v.arrived.add(n)
			v.moved()
		}), nil)
	case forDown:
		v.down.run(conn, fill(v.noise, func(n int) {
			v.wrote.Add(int64(n))
			v.moved()
		}), nil)
	}
}

// announced answers peer.measure: it lets a node measure a path to this one, or
// says why not.
func (p *Prober) announced(ctx context.Context, caller gate.Member, params api.PeerMeasureParams) (any, error) {
	from := caller.Node()
	params.Sink = params.Sink.Unmap().WithZone("")
	for i, a := range params.Beside {
		params.Beside[i] = a.Unmap().WithZone("")
	}
	switch {
	case !params.Measurement.Valid():
		return nil, api.NewError(api.ReasonMissingField, "measurement")
	case params.Transport != api.TransportSocket:
		return nil, api.NewError(api.ReasonBadValue, "transport")
	case !params.Sink.IsValid():
		return nil, api.NewError(api.ReasonMissingField, "sink")
	case len(params.Beside) >= maxStreams || !areApart(append([]netip.Addr{params.Sink}, params.Beside...)):
		return nil, api.NewError(api.ReasonBadValue, "beside")
	case params.MaxBytes <= 0:
		return nil, api.NewError(api.ReasonBadValue, "max_bytes")
	case params.DeadlineS <= 0 || params.DeadlineS > math.MaxInt32:
		return nil, api.NewError(api.ReasonBadValue, "deadline_s")
	}
	key, ok := p.publicKey(from)
	if !ok {
		return nil, api.NewError(api.ReasonNoSuchNode, from.Display())
	}
	var ifaces []string
	for _, sink := range append([]netip.Addr{params.Sink}, params.Beside...) {
		iface, ok := p.cfg.Interface(sink)
		if !ok {
			return nil, api.Errorf(api.ReasonAddressLost, sink.String(), "%s does not have the address %s.", p.cfg.Peers.Self().Display(), sink)
		}
		ifaces = append(ifaces, iface)
	}
	if err := p.begin(ctx, from); err != nil {
		return nil, err
	}
	v := &visit{
		prober: p, from: from, key: key, params: params, token: drawn(tokenBytes), began: p.cfg.Clock.Boot(),
		used: map[slot]bool{}, known: map[net.Conn]bool{}, here: make(chan struct{}),
	}
	ports, err := v.prepare(ctx, ifaces)
	if err != nil {
		p.end(from, 0)
		return nil, err
	}
	go v.serve(min(api.Seconds(params.DeadlineS), visitWithin))
	return api.PeerMeasureResult{Token: v.token, Port: ports[0], Ports: ports[1:]}, nil
}

// areApart reports whether addresses are valid, and each there once.
func areApart(all []netip.Addr) bool {
	for i, a := range all {
		if !a.IsValid() || slices.Contains(all[:i], a) {
			return false
		}
	}
	return true
}

// begin takes the one place there is for a node that measures this one. It
// waits a little for it: who has just measured one path goes on with the next
// while this end still clears away the first.
func (p *Prober) begin(ctx context.Context, from api.NodeID) error {
	ctx, stop := native.WithTimeout(ctx, p.cfg.Clock, placeWithin, "the measurement before")
	defer stop()
	select {
	case p.place <- struct{}{}:
	case <-ctx.Done():
		return api.NewError(api.ReasonMeasurementRunning, p.cfg.Peers.Self().Display())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	wait, ok := p.budgets.allows(from, p.cfg.Clock.Boot())
	switch {
	case p.closed:
		<-p.place
		return api.NewError(api.ReasonStopping, p.cfg.Peers.Self().Display())
	case !ok:
		<-p.place
		return api.NewError(api.ReasonMeasureBudgetSpent, from.Display()).
			WithRemedy("Try again in " + wait.Round(time.Second).String() + ".")
	}
	p.visits.Add(1)
	return nil
}

// end gives the place back, and puts what it took down to the node.
func (p *Prober) end(from api.NodeID, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.budgets.charge(from, took, p.cfg.Clock.Boot())
	<-p.place
	p.visits.Done()
}

// leastCost is what an announcement costs a peer even where nothing comes of it.
const leastCost = 100 * time.Millisecond

// budgets are what peers have used up of this node's time. What was used is
// forgotten evenly, all of it in BudgetPeriod.
type budgets struct {
	limit time.Duration
	used  map[api.NodeID]spent
}

// spent is how much was used up at a time of the clock that nobody sets.
type spent struct {
	used, at time.Duration
}

// left is what a peer has used up of it now.
func (b *budgets) usedBy(peer api.NodeID, now time.Duration) time.Duration {
	s := b.used[peer]
	forgotten := time.Duration(float64(now-s.at) * float64(b.limit) / float64(BudgetPeriod))
	return max(s.used-forgotten, 0)
}

// allows reports whether a peer may measure now, and when not, in how long it may.
func (b *budgets) allows(peer api.NodeID, now time.Duration) (wait time.Duration, ok bool) {
	over := b.usedBy(peer, now) + leastCost - b.limit
	if over <= 0 {
		return 0, true
	}
	return time.Duration(float64(over) * float64(BudgetPeriod) / float64(b.limit)), false
}

// charge adds what a measurement took. Peers that have used up nothing are forgotten.
func (b *budgets) charge(peer api.NodeID, took, now time.Duration) {
	used := b.usedBy(peer, now) + max(took, leastCost)
	for other := range b.used {
		if b.usedBy(other, now) == 0 {
			delete(b.used, other)
		}
	}
	b.used[peer] = spent{used: used, at: now}
}
