package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// NoticeHandler gets what a member sends by itself.
type NoticeHandler func(from api.NodeID, params json.RawMessage)

// HandleCall sets who answers the calls of a endpoint. Its error is told the caller as an
// *api.Error.
func (t *Transport) HandleCall(c gate.Call) { t.handlers.calls[c.Name()] = c }

// HandleNotify sets who gets notifications of a name.
func (t *Transport) HandleNotify(method string, h NoticeHandler) { t.handlers.notices[method] = h }

// callState is the connection by which this node calls a peer.
type callState struct {
	current *callClient
	opening *opening                     // nil: none is under way
	retired map[*callClient]native.Timer // with what ends each
}

// retireAfter is how long a connection for calls stays after a better path has
// got one, for the calls that are under way on it.
const retireAfter = 10 * time.Second

// Call calls a method of a member. Errors are *api.Error: the peer's, or
// unreachable with what was tried.
func (t *Transport) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	raw, err := encoded(method, params)
	if err != nil {
		return err
	}
	c, err := t.client(ctx, node)
	if err != nil {
		return err
	}
	slow := t.options.Clock.AfterFunc(slowAfter, func() { t.doubt(node) })
	answer, err := c.call(ctx, method, raw)
	slow.Stop()
	if err == nil && result != nil {
		if err = json.Unmarshal(answer, result); err != nil {
			return fmt.Errorf("the answer to %s: %w", method, err)
		}
	}
	if _, isReported := errors.AsType[*api.Error](err); err == nil || isReported {
		return err
	}
	if ctx.Err() != nil {
		e := api.NewError(api.ReasonDeadline, method)
		if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			e = api.NewError(api.ReasonCancelled, method)
		}
		e.Data.WaitingFor = node.Display()
		return errors.Join(e, context.Cause(ctx))
	}
	return unreachable(ctx, node, []error{err})
}

// encoded is a message's parameters. Those that are encoded already stay as they
// are.
func encoded(method string, params any) (json.RawMessage, error) {
	if raw, is := params.(json.RawMessage); is || params == nil {
		return raw, nil
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("the parameters of %s: %w", method, err)
	}
	return raw, nil
}

// opening is a connection for calls that is being opened.
type opening struct {
	done   chan struct{} // closed when it is over
	client *callClient
	err    error
}

// client is the connection for calls, opened by the first who needs it. The
// opening does not end with that one's patience: to a peer that is far away it
// takes longer than a call, and would never come to anything.
func (t *Transport) client(ctx context.Context, node api.NodeID) (*callClient, error) {
	t.mu.Lock()
	if _, ok := t.options.Members.PublicKey(node); !ok || t.closed {
		t.mu.Unlock()
		return nil, api.NewError(api.ReasonNotAMember, node.Display())
	}
	p := t.peerLocked(node)
	state := &p.calls
	old := state.current
	if old != nil && old.isOver() {
		old = nil
	}
	best, isUp := p.bestLocked()
	if old != nil && (old.best == best || !isUp) {
		t.mu.Unlock()
		return old, nil
	}
	if kept := state.takeLocked(best); kept != nil { // a cable comes and goes
		kept.best, state.current = best, kept
		if old != nil {
			t.retireLocked(state, old)
		}
		t.mu.Unlock()
		return kept, nil
	}
	o := state.opening
	if o == nil {
		o = &opening{done: make(chan struct{})}
		state.opening = o
		t.running.Go(func() { t.openBest(p, best, o) })
	}
	t.mu.Unlock()
	if old != nil {
		return old, nil // it does until there is a better one
	}
	select {
	case <-o.done:
		return o.client, o.err
	case <-ctx.Done():
		return nil, unreachable(ctx, node, nil)
	}
}

// openBest opens a connection on the path that is the best now. One whose path has ended
// meanwhile is dropped: it may lead to a process that no longer counts.
func (t *Transport) openBest(p *peer, best place, o *opening) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer close(o.done)
	var c *callClient
	var err error
	for {
		t.mu.Unlock()
		c, err = t.openCalls(t.ctx, p.node)
		t.mu.Lock()
		if err != nil || t.closed || p.leadsToLocked(c.at, c.to) {
			break
		}
		t.running.Go(c.close)
	}
	state := &p.calls
	state.opening = nil
	old := state.current
	switch {
	case t.closed || t.peers[p.node] != p:
		if err == nil {
			err = api.NewError(api.ReasonNotAMember, p.node.Display())
			t.running.Go(c.close)
		}
	case err == nil:
		c.best, state.current = best, c
		if old != nil {
			t.retireLocked(state, old)
		}
	case old != nil && !old.isOver(): // it is not tried for every call
		old.best, c, err = best, old, nil
	}
	o.client, o.err = c, err
}

// bestLocked is the path that calls belong on: a connection that was opened before it came
// up stays behind on a worse one otherwise.
func (p *peer) bestLocked() (at place, isUp bool) {
	var first Path
	for where, path := range p.known {
		if path.State != api.PathFailed && (!isUp || better(path, first) < 0) {
			at, first, isUp = where, path, true
		}
	}
	return at, isUp
}

// leadsToLocked reports whether a path is active and leads to an address.
func (p *peer) leadsToLocked(at place, to netip.AddrPort) bool {
	path, isKnown := p.known[at]
	return isKnown && path.State != api.PathFailed && path.Address == to
}

// retireLocked ends a connection once the calls on it must be over.
func (t *Transport) retireLocked(state *callState, c *callClient) {
	if state.retired == nil {
		state.retired = map[*callClient]native.Timer{}
	}
	state.retired[c] = t.options.Clock.AfterFunc(retireAfter, func() {
		t.mu.Lock()
		delete(state.retired, c)
		t.mu.Unlock()
		c.close()
	})
}

// dropLocked takes all connections out, and gives them to be closed.
func (s *callState) dropLocked() (all []*callClient) {
	if s.current != nil {
		all = append(all, s.current)
	}
	for c, timer := range s.retired {
		timer.Stop()
		all = append(all, c)
	}
	s.current, s.retired = nil, nil
	return all
}

// takeLocked gives a retired connection that goes by a path, which then ends no more; nil
// where there is none.
func (s *callState) takeLocked(at place) *callClient {
	for c, timer := range s.retired {
		if c.at == at && !c.isOver() && timer.Stop() {
			delete(s.retired, c)
			return c
		}
	}
	return nil
}

func (t *Transport) openCalls(ctx context.Context, node api.NodeID) (*callClient, error) {
	conn, path, err := t.connect(ctx, node, api.PeerConn{Carries: api.ConnCalls})
	if err != nil {
		return nil, err
	}
	c := newCallClient(conn, func(method string, params json.RawMessage) { t.noticed(node, method, params) })
	c.at, c.to = place{path.Interface, path.PeerInterface}, path.Address
	return c, nil
}

func (t *Transport) noticed(node api.NodeID, method string, params json.RawMessage) {
	if h := t.handlers.notices[method]; h != nil {
		defer t.recovered(method)
		h(node, params)
	}
}

// acceptCalls answers calls until the connection ends.
func (t *Transport) acceptCalls(node api.NodeID, conn net.Conn) {
	defer conn.Close()
	s := &callServer{
		records: newRecords(conn), pause: t.pause,
		handle: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			return t.answer(ctx, node, method, params)
		},
		begin: func(method string, size int) (func(), error) { return t.begin(node, method, size) },
	}
	stop, isMember := t.keep(node, s.close)
	if !isMember {
		return
	}
	defer stop()
	if writeFrame(conn, accepted) != nil {
		return
	}
	t.mu.Lock()
	p := t.peerLocked(node)
	p.servers = append(p.servers, s)
	t.mu.Unlock()
	s.serve(t.ctx)
	t.mu.Lock()
	p.servers = slices.DeleteFunc(p.servers, func(o *callServer) bool { return o == s })
	t.mu.Unlock()
}

// Notify sends a member what it has asked for, on the newest connection by which
// it calls this node.
func (t *Transport) Notify(node api.NodeID, method string, params any) error {
	t.mu.Lock()
	var s *callServer
	if p := t.peers[node]; p != nil && len(p.servers) > 0 {
		s = p.servers[len(p.servers)-1]
	}
	t.mu.Unlock()
	if s == nil {
		return api.NewError(api.ReasonNoPath, node.Display())
	}
	raw, err := encoded(method, params)
	if err != nil {
		return err
	}
	text, err := requestRPC(nil, method, raw)
	if err != nil {
		return err
	}
	return s.send(context.Background(), text)
}

// answer has a member's call handled.
func (t *Transport) answer(ctx context.Context, from api.NodeID, method string, params json.RawMessage) (result any, err error) {
	c, isHandled := t.handlers.calls[gate.NameOf(method, params)]
	if !isHandled {
		return nil, api.NewError(api.ReasonUnknownMethod, method)
	}
	defer func() {
		if p := recover(); p != nil {
			t.options.Log.Error("a handler of peers' calls panicked", "method", method, "panic", p)
			result, err = nil, api.NewError(api.ReasonInternal, "")
		}
	}()
	return c.Answer(ctx, from, params)
}

// LastWord opens a connection for calls to a member that is about to be removed, and
// gives what makes them. It outlives the removal, which ends every other connection, and
// ends with ctx.
func (t *Transport) LastWord(ctx context.Context, node api.NodeID) (call func(method string, params any) error, err error) {
	client, err := t.openCalls(ctx, node)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, client.close)
	return func(method string, params any) error {
		raw, err := encoded(method, params)
		if err == nil {
			_, err = client.call(ctx, method, raw)
		}
		return err
	}, nil
}
