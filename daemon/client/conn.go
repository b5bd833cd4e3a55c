package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
)

const (
	// headerVersion of the answer to an upgrade has the daemon's version.
	headerVersion = "Fulmen-Version"
	// readLimit is above what a daemon may send, so that one that sends a little
	// more is still understood.
	readLimit = 2 * api.MaxMessageBytes
)

// conn is one connection. Reads and writes run on its own context and not on a
// call's: a call's end would take the connection with it.
type conn struct {
	ws      *websocket.Conn
	version string
	ctx     context.Context
	cancel  context.CancelCauseFunc

	mu      sync.Mutex
	lastID  uint64
	waiting map[string]chan incoming
}

// incoming is a message from the daemon.
type incoming struct {
	ID     json.RawMessage    `json:"id"`
	Result json.RawMessage    `json:"result"`
	Error  *api.ResponseError `json:"error"`
	Method string             `json:"method"`
	Params json.RawMessage    `json:"params"`
}

// open connects to one address.
func open(ctx context.Context, a Address, timeout time.Duration) (*conn, error) {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	url, header := a.URL, http.Header{}
	dialer := &net.Dialer{}
	transport := &http.Transport{DialContext: dialer.DialContext}
	if a.Socket != "" {
		url = "ws://localhost" + api.PathAPI
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", a.Socket)
		}
	} else {
		header.Set("Authorization", "Bearer "+a.Token)
	}
	ws, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		HTTPHeader: header, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, refusal(a, ctx, resp)
	}
	ws.SetReadLimit(readLimit)
	c := &conn{ws: ws, version: resp.Header.Get(headerVersion), waiting: map[string]chan incoming{}}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c, nil
}

// refusal is why a connection was not made: what the daemon said, if it was one.
func refusal(a Address, ctx context.Context, resp *http.Response) error {
	if resp != nil && resp.Body != nil {
		var e api.Error
		body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		if err == nil && json.Unmarshal(body, &e) == nil && e.Code != 0 {
			return &e
		}
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return api.NewError(api.ReasonCancelled, "")
	case ctx.Err() != nil:
		return api.Errorf(api.ReasonDeadline, a.String(), "The daemon at %s did not answer in time.", a).
			WithWait("the daemon at " + a.String())
	}
	return noDaemon([]Address{a})
}

// call makes a request while read runs.
func (c *conn) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	answer := make(chan incoming, 1)
	id, err := c.request(method, params, answer)
	if err != nil {
		return nil, err
	}
	defer c.forget(id)
	return c.await(ctx, method, answer)
}

// await waits for an answer. One that has come counts, whatever has ended since: a
// daemon that is told to stop answers, and ends the connection a moment later.
func (c *conn) await(ctx context.Context, method string, answer <-chan incoming) (json.RawMessage, error) {
	select {
	case m := <-answer:
		return m.outcome()
	case <-c.ctx.Done():
	case <-ctx.Done():
	}
	select {
	case m := <-answer:
		return m.outcome()
	default:
	}
	if c.ctx.Err() != nil {
		return nil, lost(method)
	}
	return nil, ended(ctx, method)
}

// request sends a request; its answer goes to the channel, if there is one.
func (c *conn) request(method string, params any, answer chan incoming) (string, error) {
	raw := json.RawMessage("{}")
	if params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return "", api.Errorf(api.ReasonBadValue, method, "The parameters of %s cannot be encoded.", method).From(err)
		}
	}
	c.mu.Lock()
	c.lastID++
	id := strconv.FormatUint(c.lastID, 10)
	if answer != nil {
		c.waiting[id] = answer
	}
	c.mu.Unlock()
	text, err := json.Marshal(api.Request{JSONRPC: api.JSONRPCVersion, ID: json.RawMessage(id), Method: method, Params: raw})
	if err != nil {
		return "", err
	}
	if len(text) > api.MaxMessageBytes {
		c.forget(id)
		return "", api.NewError(api.ReasonMessageTooLarge, method)
	}
	ctx, stop := context.WithTimeout(c.ctx, api.WriteDeadline)
	defer stop()
	if err := c.ws.Write(ctx, websocket.MessageText, text); err != nil {
		c.forget(id)
		c.cancel(err)
		return "", lost(method)
	}
	return id, nil
}

func (c *conn) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// read hands answers to who waits for them, until the connection ends.
func (c *conn) read() {
	defer c.close()
	for {
		m, err := c.next()
		if err != nil {
			c.cancel(err)
			return
		}
		c.mu.Lock()
		answer := c.waiting[string(m.ID)]
		delete(c.waiting, string(m.ID))
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// next reads one message.
func (c *conn) next() (incoming, error) {
	var m incoming
	_, text, err := c.ws.Read(c.ctx)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}

func (c *conn) close() {
	c.cancel(net.ErrClosed)
	_ = c.ws.CloseNow() // it may be closed already
}

// outcome is the result, or the error as clients see it.
func (m incoming) outcome() (json.RawMessage, error) {
	if m.Error != nil {
		return nil, m.Error.Err()
	}
	return m.Result, nil
}

// lost is a connection that ended before the answer came.
func lost(method string) error {
	return api.Errorf(api.ReasonNoDaemon, method, "The daemon ended the connection before it had answered %s.", method)
}

// ended is a context that ended before the answer came.
func ended(ctx context.Context, method string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return api.NewError(api.ReasonCancelled, method)
	}
	return api.Errorf(api.ReasonDeadline, method, "The daemon did not answer %s in time.", method).WithWait(method)
}

// Stream makes a request that is followed by notifications, on a connection of
// its own, so that whoever reads slowly holds nobody up. It gives the result
// and the notifications' parameters. The sequence ends with an error when the
// connection does, or where notifications were lost; ending the context, or the loop over it, ends the stream.
func Stream[R, N any](ctx context.Context, c *Client, method string, params any) (R, iter.Seq2[N, error], error) {
	var result R
	s, raw, err := c.stream(ctx, method, params)
	if err != nil {
		return result, nil, err
	}
	if err := decodeResult(method, raw, &result); err != nil {
		s.close()
		return result, nil, err
	}
	return result, func(yield func(N, error) bool) {
		defer s.close()
		for {
			var n N
			raw, err := s.notification(ctx)
			if err == nil {
				err = decodeResult(method, raw, &n)
			}
			if err == nil {
				err = s.numbered(n)
			}
			if !yield(n, err) || err != nil {
				return
			}
		}
	}, nil
}

// ToEnd reads what follows a request until take says that it was the last.
func ToEnd[N any](changes iter.Seq2[N, error], take func(N) (isLast bool)) error {
	for c, err := range changes {
		if err != nil || take(c) {
			return err
		}
	}
	return nil
}

// Measure begins or follows a measurement, and gives each of its states to take, up to
// its end.
func Measure(ctx context.Context, c *Client, method string, params any, take func(m api.Measurement, ended bool)) error {
	started, changes, err := Stream[api.MeasureStarted, api.MeasureChanged](ctx, c, method, params)
	if err != nil {
		return err
	}
	take(started.Measurement, false)
	return ToEnd(changes, func(c api.MeasureChanged) bool {
		take(c.Measurement, c.Terminal)
		return c.Terminal
	})
}

// streaming is a connection that reads notifications.
type streaming struct {
	conn   *conn
	method string
	early  []json.RawMessage // that came before the answer
	n      uint64            // how many have come
	unhook func() bool
}

// stream opens a connection, makes the request and reads its answer. The
// connection ends with the context.
func (c *Client) stream(ctx context.Context, method string, params any) (*streaming, json.RawMessage, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	s := &streaming{conn: conn, method: method}
	s.unhook = context.AfterFunc(ctx, conn.close)
	// The answer has a deadline, and what follows has none.
	hurry := time.AfterFunc(c.options.Timeout, func() { conn.cancel(context.DeadlineExceeded) })
	raw, err := s.answer(ctx, params)
	if !hurry.Stop() || err != nil {
		s.close()
		if errors.Is(context.Cause(conn.ctx), context.DeadlineExceeded) {
			err = api.Errorf(api.ReasonDeadline, method, "The daemon did not answer %s in time.", method)
		}
		return nil, nil, err
	}
	go conn.keepAsking(c.options.Ping)
	return s, raw, nil
}

func (s *streaming) answer(ctx context.Context, params any) (json.RawMessage, error) {
	id, err := s.conn.request(s.method, params, nil)
	if err != nil {
		return nil, err
	}
	for {
		m, err := s.conn.next()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ended(ctx, s.method)
		case err != nil:
			return nil, lost(s.method)
		case string(m.ID) == id:
			return m.outcome()
		case m.Method != "":
			s.early = append(s.early, m.Params)
		}
	}
}

// notification gives the parameters of the next one.
func (s *streaming) notification(ctx context.Context) (json.RawMessage, error) {
	if len(s.early) > 0 {
		raw := s.early[0]
		s.early = s.early[1:]
		return raw, nil
	}
	for {
		m, err := s.conn.next()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ended(ctx, s.method)
		case err != nil:
			return nil, cutOff(err)
		case m.Method != "":
			return m.Params, nil
		}
	}
}

// numbered takes a notification for what it is. The daemon numbers them from 1, and says
// that it had to leave some out, or does so in a gap: a loss ends the stream.
func (s *streaming) numbered(notification any) error {
	s.n++
	v := reflect.Indirect(reflect.ValueOf(notification))
	if v.Kind() != reflect.Struct {
		return nil
	}
	if n := v.FieldByName("N"); n.IsValid() && n.Uint() != s.n { // absent, and 0, where it lagged
		return api.NewError(api.ReasonLagged, "")
	}
	return nil
}

// cutOff is the end of a stream that nobody asked for.
func cutOff(err error) error {
	if ce, ok := errors.AsType[websocket.CloseError](err); ok {
		if _, known := api.LookupReason(api.Reason(ce.Reason)); known {
			return api.NewError(api.Reason(ce.Reason), "")
		}
	}
	return api.Errorf(api.ReasonNoDaemon, "", "The connection to the daemon was lost.")
}

func (s *streaming) close() {
	s.unhook()
	s.conn.close()
}

// keepAsking pings while the connection lasts. Nothing announces that a process
// hangs; somebody who looks at what it says wants to know.
func (c *conn) keepAsking(every time.Duration) {
	for Pause(c.ctx, every) {
		ctx, stop := context.WithTimeout(c.ctx, every)
		err := c.ws.Ping(ctx)
		stop()
		if err != nil {
			c.close()
			return
		}
	}
}
