package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creachadair/jrpc2"

	"fulmen/daemon/api"
	"fulmen/native/frame"
)

// CallHandler answers a member's call. Its error is told the caller as an
// *api.Error.
type CallHandler func(ctx context.Context, from api.NodeID, params json.RawMessage) (any, error)

// NoticeHandler gets what a member sends by itself.
type NoticeHandler func(from api.NodeID, params json.RawMessage)

// HandleCall sets who answers a method.
func (t *Transport) HandleCall(method string, h CallHandler) {
	if t.handlers.calls == nil {
		t.handlers.calls = map[string]CallHandler{}
	}
	t.handlers.calls[method] = h
}

// HandleNotify sets who gets notifications of a name.
func (t *Transport) HandleNotify(method string, h NoticeHandler) {
	if t.handlers.notices == nil {
		t.handlers.notices = map[string]NoticeHandler{}
	}
	t.handlers.notices[method] = h
}

// callsAtOnce bounds the calls of one member that are worked on.
const callsAtOnce = 16

// callState is the connection by which this node calls a peer.
type callState struct {
	current *callClient
	opening chan struct{} // closed when an opening is over
	retired map[*callClient]struct{}
}

// callClient is an open one.
type callClient struct {
	rpc  *jrpc2.Client
	conn net.Conn
	done chan struct{}
	once sync.Once
	at   place // the path that it goes by
	best place // the best path when it was opened
}

// retireAfter is how long a connection for calls stays after a better path has
// got one, for the calls that are under way on it.
const retireAfter = 10 * time.Second

func (c *callClient) close() {
	abort(c.conn)
	c.rpc.Close()
}

func (c *callClient) isOver() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Call calls a method of a member. Errors are *api.Error: the peer's, or
// unreachable with what was tried.
func (t *Transport) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	if _, isEncoded := params.(json.RawMessage); params != nil && !isEncoded {
		encoded, err := json.Marshal(params)
		if err != nil {
			return fmt.Errorf("the parameters of %s: %w", method, err)
		}
		params = json.RawMessage(encoded)
	}
	if result == nil {
		result = new(json.RawMessage)
	}
	c, err := t.client(ctx, node)
	if err != nil {
		return err
	}
	slow := t.options.Clock.AfterFunc(slowAfter, func() { t.doubt(node) })
	err = c.rpc.CallResult(ctx, method, params, result)
	slow.Stop()
	if err == nil {
		return nil
	}
	if failure, ok := errors.AsType[*jrpc2.Error](err); ok && failure.Code != jrpc2.Cancelled && failure.Code != jrpc2.DeadlineExceeded {
		return remoteError(failure)
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

// remoteError is an error that the peer told.
func remoteError(failure *jrpc2.Error) error {
	told := api.ResponseError{Code: int(failure.Code), Message: failure.Message}
	var data api.ErrorData
	if json.Unmarshal(failure.Data, &data) == nil && len(failure.Data) > 0 {
		told.Data = &data
	}
	return told.Err()
}

// client is the connection for calls, opened by the first who needs it.
func (t *Transport) client(ctx context.Context, node api.NodeID) (*callClient, error) {
	for {
		t.mu.Lock()
		if _, ok := t.options.Members.PublicKey(node); !ok || t.closed {
			t.mu.Unlock()
			return nil, api.NewError(api.ReasonNotAMember, node.Display())
		}
		p := t.peer(node)
		state := &p.calls
		old := state.current
		if old != nil && old.isOver() {
			old = nil
		}
		best, isUp := p.best()
		if old != nil && (old.best == best || !isUp) {
			t.mu.Unlock()
			return old, nil
		}
		if opening := state.opening; opening != nil {
			t.mu.Unlock()
			select {
			case <-opening:
				continue
			case <-ctx.Done():
				return nil, unreachable(ctx, node, nil)
			}
		}
		opening := make(chan struct{})
		state.opening = opening
		t.mu.Unlock()
		c, err := t.openCalls(ctx, node)
		t.mu.Lock()
		state.opening = nil
		switch {
		case t.closed || &t.peer(node).calls != state:
			if err == nil {
				err = api.NewError(api.ReasonNotAMember, node.Display())
				go c.close()
			}
		case err == nil:
			c.best, state.current = best, c
			if old != nil {
				t.retire(state, old)
			}
		case old != nil && !old.isOver(): // it is not tried for every call
			old.best, c, err = best, old, nil
		}
		close(opening)
		t.mu.Unlock()
		return c, err
	}
}

// best is the path that calls belong on: a connection that was opened before it
// came up stays behind on a worse one otherwise. The caller holds mu.
func (p *peer) best() (at place, isUp bool) {
	var first Path
	for where, path := range p.known {
		if path.State != api.PathFailed && (!isUp || better(path, first) < 0) {
			at, first, isUp = where, path, true
		}
	}
	return at, isUp
}

// retire ends a connection once the calls on it must be over. The caller holds mu.
func (t *Transport) retire(state *callState, c *callClient) {
	if state.retired == nil {
		state.retired = map[*callClient]struct{}{}
	}
	state.retired[c] = struct{}{}
	t.options.Clock.AfterFunc(retireAfter, func() {
		t.mu.Lock()
		delete(state.retired, c)
		t.mu.Unlock()
		c.close()
	})
}

func (t *Transport) openCalls(ctx context.Context, node api.NodeID) (*callClient, error) {
	conn, path, err := t.connect(ctx, node, api.PeerConn{Carries: api.ConnCalls})
	if err != nil {
		return nil, err
	}
	c := &callClient{conn: conn, at: place{path.Interface, path.PeerInterface}, done: make(chan struct{})}
	c.rpc = jrpc2.NewClient(&records{conn: conn}, &jrpc2.ClientOptions{
		OnNotify: func(r *jrpc2.Request) { t.noticed(node, r) },
		OnStop:   func(*jrpc2.Client, error) { c.once.Do(func() { close(c.done) }) },
	})
	return c, nil
}

func (t *Transport) noticed(node api.NodeID, r *jrpc2.Request) {
	if h := t.handlers.notices[r.Method()]; h != nil {
		defer t.recovered(r.Method())
		h(node, json.RawMessage(r.ParamString()))
	}
}

// callServer answers a member's calls on one connection.
type callServer struct {
	rpc  *jrpc2.Server
	conn *records
}

// stop ends the connection, by which the server ends itself. Its own Stop is not
// used: with a message that has just been read, its reader then sends on a
// closed channel (jrpc2 v1.3.6).
func (s *callServer) stop() { s.conn.Close() }

// acceptCalls answers calls until the connection ends.
func (t *Transport) acceptCalls(node api.NodeID, conn net.Conn) {
	defer conn.Close()
	if !t.keep(node, conn) {
		return
	}
	defer t.unkeep(node, conn)
	if writeFrame(conn, accepted) != nil {
		return
	}
	r := &records{conn: conn}
	s := &callServer{conn: r}
	s.rpc = jrpc2.NewServer(assigner{t, node}, &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: callsAtOnce,
		NewContext: func() context.Context { return t.ctx },
	})
	t.mu.Lock()
	p := t.peer(node)
	p.servers = append(p.servers, s)
	t.mu.Unlock()
	s.rpc.Start(r)
	s.rpc.Wait()
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
	return s.rpc.Notify(t.ctx, method, params)
}

// assigner finds the handler of a member's call.
type assigner struct {
	t    *Transport
	from api.NodeID
}

// Assign is jrpc2's.
func (a assigner) Assign(_ context.Context, method string) jrpc2.Handler {
	h := a.t.handlers.calls[method]
	if h == nil {
		return nil
	}
	return func(ctx context.Context, r *jrpc2.Request) (result any, err error) {
		defer func() {
			if p := recover(); p != nil {
				a.t.options.Log.Error("a handler of peers' calls panicked", "method", method, "panic", p)
				result, err = nil, told(api.NewError(api.ReasonInternal, ""))
			}
		}()
		result, err = h(ctx, a.from, json.RawMessage(r.ParamString()))
		if err != nil {
			return nil, told(api.AsError(err))
		}
		return result, nil
	}
}

// told is an error as it is sent.
func told(e *api.Error) error {
	data, err := json.Marshal(e.Data)
	if err != nil { // strings only: it cannot be
		data = nil
	}
	return &jrpc2.Error{Code: jrpc2.Code(e.Code), Message: e.Message, Data: data}
}

// records is a connection as jrpc2 has it: one message a frame.
type records struct {
	conn   net.Conn
	isOver atomic.Bool
}

// Send writes a message.
func (r *records) Send(message []byte) error {
	if len(message) > api.MaxMessageBytes {
		return errTooLarge
	}
	return writeWithin(r.conn, message)
}

// Recv reads one.
func (r *records) Recv() ([]byte, error) {
	message, err := frame.Read(r.conn, api.MaxMessageBytes)
	if r.isOver.Load() || errors.Is(err, net.ErrClosed) { // what TLS has read before counts no more
		return nil, io.EOF
	}
	return message, err
}

// Close ends the connection.
func (r *records) Close() error {
	r.isOver.Store(true)
	abort(r.conn)
	return nil
}
