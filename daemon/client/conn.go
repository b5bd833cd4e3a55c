package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
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
		e := api.Errorf(api.ReasonDeadline, a.String(), "The daemon at %s did not answer in time.", a)
		e.Data.WaitingFor = "the daemon at " + a.String()
		return e
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
	e := api.Errorf(api.ReasonDeadline, method, "The daemon did not answer %s in time.", method)
	e.Data.WaitingFor = method
	return e
}
