package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
)

// rpcMessage is a message of JSON-RPC 2.0 as it comes: a request, a notification,
// which has no id, or an answer, which has no method.
//
// This side of the protocol is written out here: jrpc2, which serves clients, hands
// each message over three goroutines.
type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcFailure     `json:"error"`
}

// parseRPC reads a message. Members send no batches.
func parseRPC(text []byte) (m rpcMessage, err error) {
	err = json.Unmarshal(text, &m)
	return m, err
}

// rpcFailure is an error as it comes. Data of a later version is no reason to
// lose the rest.
type rpcFailure struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// err is the error that the other side told.
func (f *rpcFailure) err() *api.Error {
	out := api.ResponseError{Code: f.Code, Message: f.Message}
	var data api.ErrorData
	if len(f.Data) > 0 && json.Unmarshal(f.Data, &data) == nil {
		out.Data = &data
	}
	return out.Err()
}

// requestRPC is a request, or a notification without an id.
func requestRPC(id []byte, method string, params json.RawMessage) ([]byte, error) {
	return json.Marshal(api.Request{JSONRPC: api.JSONRPCVersion, ID: id, Method: method, Params: params})
}

// answerRPC is an answer.
func answerRPC(id []byte, result any, err error) []byte {
	answer := api.Response{JSONRPC: api.JSONRPCVersion, ID: id}
	if err == nil {
		answer.Result, err = json.Marshal(result)
	}
	if err == nil && len(answer.Result) > api.MaxMessageBytes-len(id)-64 {
		err = errTooLarge
	}
	if err != nil {
		answer.Result, answer.Error = nil, api.AsError(err).Response()
	}
	text, _ := json.Marshal(answer) // its parts have been encoded before, and the id was read as JSON
	return text
}

// records is a connection as messages go over it: one a frame.
type records struct {
	conn   net.Conn
	isOver atomic.Bool
	// writing holds a token while somebody writes. It is no mutex: who waits for a
	// slow peer can give up.
	writing chan struct{}
}

func newRecords(conn net.Conn) *records { return &records{conn: conn, writing: make(chan struct{}, 1)} }

// send writes a message, once those before are written.
func (r *records) send(ctx context.Context, message []byte) error {
	if len(message) > api.MaxMessageBytes {
		return errTooLarge
	}
	select {
	case r.writing <- struct{}{}:
	case <-ctx.Done():
		return errGivenUp
	}
	defer func() { <-r.writing }()
	err := writeWithin(r.conn, message)
	if err != nil { // what follows would be taken for the rest of it
		r.close()
	}
	return err
}

// receive reads one.
func (r *records) receive() ([]byte, error) {
	message, err := readFrame(r.conn, api.MaxMessageBytes)
	if r.isOver.Load() || errors.Is(err, net.ErrClosed) { // what TLS has read before counts no more
		return nil, io.EOF
	}
	return message, err
}

// close ends the connection.
func (r *records) close() {
	r.isOver.Store(true)
	abort(r.conn)
}

var (
	// errEnded is a connection for calls that ended before the answer came.
	errEnded = errors.New("the connection ended")
	// errGivenUp is a call whose context ended before.
	errGivenUp = errors.New("the caller no longer waits")
)

// callClient is an open connection by which this node calls a peer.
type callClient struct {
	*records
	notice func(method string, params json.RawMessage)
	done   chan struct{}  // closed when nothing more comes
	at     place          // the path that it goes by
	to     netip.AddrPort // where it led
	best   place          // the best path when it was opened

	mu      sync.Mutex
	last    uint64
	pending map[uint64]chan rpcMessage
}

// newCallClient makes one that gives notifications to notice, one after the other.
func newCallClient(conn net.Conn, notice func(method string, params json.RawMessage)) *callClient {
	c := &callClient{records: newRecords(conn), notice: notice, done: make(chan struct{}), pending: map[uint64]chan rpcMessage{}}
	go c.read()
	return c
}

// close ends it and waits until the last notification has been heard.
func (c *callClient) close() {
	c.records.close()
	<-c.done
}

func (c *callClient) isOver() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// call asks, and waits for the answer. An *api.Error is what the peer told.
func (c *callClient) call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	answer := make(chan rpcMessage, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.pending[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
	}()
	text, err := requestRPC(strconv.AppendUint(nil, id, 10), method, params)
	if err == nil {
		err = c.send(ctx, text)
	}
	if err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return m.outcome()
	case <-ctx.Done():
		return nil, errGivenUp
	case <-c.done:
	}
	select {
	case m := <-answer: // it was the last that came
		return m.outcome()
	default:
		return nil, errEnded
	}
}

func (m *rpcMessage) outcome() (json.RawMessage, error) {
	if m.Error != nil {
		return nil, m.Error.err()
	}
	return m.Result, nil
}

// read takes what comes until the connection ends.
func (c *callClient) read() {
	defer close(c.done)
	defer c.records.close()
	for {
		text, err := c.receive()
		if err != nil {
			return
		}
		m, err := parseRPC(text)
		if err != nil {
			return
		}
		if m.Method != "" {
			c.notice(m.Method, m.Params)
			continue
		}
		id, err := strconv.ParseUint(string(m.ID), 10, 64)
		if err != nil {
			return
		}
		c.mu.Lock()
		answer := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// callsAtOnce bounds the calls of one member that are worked on.
const callsAtOnce = 16

// callServer answers a member's calls on one connection.
type callServer struct {
	*records
	handle func(ctx context.Context, method string, params json.RawMessage) (any, error)
	// begin says whether a call of so many bytes may be worked on, and what to do when
	// it is over.
	begin func(method string, size int) (end func(), err error)
	// pause waits while a connection is not read; false = it is over.
	pause func(time.Duration) bool
}

// serve answers calls until the connection or ctx ends, and returns when none is
// worked on any more.
func (s *callServer) serve(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.close()
	slots := make(chan struct{}, callsAtOnce)
	for {
		text, err := s.receive()
		if err != nil {
			return
		}
		m, err := parseRPC(text)
		if err != nil || m.Method == "" {
			return // no member sends that
		}
		end, err := s.begin(m.Method, len(text))
		if err != nil {
			s.answer(m.ID, nil, err)
			if !s.pause(unreadFor) {
				return
			}
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			end()
			return
		}
		running.Go(func() {
			defer func() { <-slots }()
			defer end()
			result, err := s.handle(ctx, m.Method, m.Params)
			s.answer(m.ID, result, err)
		})
	}
}

// answer answers a call, unless it was a notification.
func (s *callServer) answer(id []byte, result any, err error) {
	if id != nil {
		_ = s.send(context.Background(), answerRPC(id, result, err)) // who does not hear it has gone
	}
}
