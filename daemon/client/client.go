package client

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"fulmen/daemon/api"
)

// DefaultTimeout bounds a call whose context has no deadline.
const DefaultTimeout = 30 * time.Second

// DefaultPing is Options.Ping. A process that is gone is announced by the
// kernel; one that hangs is not.
const DefaultPing = 30 * time.Second

// Options say how to reach a daemon.
type Options struct {
	// Addresses are tried in order; the first that answers is used.
	Addresses []Address
	// Timeout bounds connecting, and calls whose context has no deadline; 0 = DefaultTimeout.
	Timeout time.Duration
	// Ping is how often a watch or stream asks whether the daemon still lives, and
	// how long it waits for the answer; 0 = DefaultPing.
	Ping time.Duration
	// Version is the caller's own version of Fulmen, to find skew; empty = not compared.
	Version string
}

// Client talks to one daemon. It may be used by several goroutines, and
// connects again by itself when a connection was lost between calls.
type Client struct {
	options Options

	mu     sync.Mutex
	conn   *conn
	closed bool
}

// Dial connects to the first address that answers. If none does, the error has
// api.ReasonNoDaemon.
func Dial(ctx context.Context, o Options) (*Client, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Ping <= 0 {
		o.Ping = DefaultPing
	}
	c := &Client{options: o}
	_, err := c.connected(ctx)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Close ends the connection. Calls under way end with an error; watches go on
// until their context ends.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.conn != nil {
		c.conn.close()
	}
	return nil
}

// Version is the daemon's version of Fulmen, as of the last connection.
func (c *Client) Version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn.version
}

// Skew compares Options.Version with the daemon's version: empty where they are
// the same or one is not known, else the reason of the condition to show. Both
// go on working: fields that one does not know are left out.
func (c *Client) Skew() api.Reason { return skew(c.options.Version, c.Version()) }

// Call makes a request and reads its result into an R. Params is a struct of
// package api, or nil for none. A call that the connection's end cut off is not
// repeated: it may have been carried out.
func Call[R any](ctx context.Context, c *Client, method string, params any) (R, error) {
	var result R
	raw, err := c.call(ctx, method, params)
	if err != nil {
		return result, err
	}
	return result, decodeResult(method, raw, &result)
}

func (c *Client) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	ctx, stop := c.bounded(ctx)
	defer stop()
	conn, err := c.connected(ctx)
	if err != nil {
		return nil, err
	}
	return conn.call(ctx, method, params)
}

// connected gives the connection, and makes a new one if it was lost.
func (c *Client) connected(ctx context.Context) (*conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, api.Errorf(api.ReasonCancelled, "", "The client was closed.")
	case c.conn != nil && c.conn.ctx.Err() == nil:
		return c.conn, nil
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	go conn.read()
	c.conn = conn
	return conn, nil
}

// connect opens a connection of its own, to the first address that answers.
func (c *Client) connect(ctx context.Context) (*conn, error) {
	var last error
	for _, a := range c.options.Addresses {
		conn, err := open(ctx, a, c.options.Timeout)
		if err == nil {
			return conn, nil
		}
		last = err
		if !errors.Is(err, api.ReasonNoDaemon) {
			return nil, err
		}
	}
	if len(c.options.Addresses) == 1 && last != nil {
		return nil, last
	}
	return nil, noDaemon(c.options.Addresses)
}

// bounded gives a context without a deadline the default one.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.options.Timeout)
}

func noDaemon(tried []Address) error {
	e := api.NewError(api.ReasonNoDaemon, "")
	if len(tried) > 0 {
		e.Message = "No daemon answers at " + describe(tried) + "."
	}
	return e
}

func decodeResult(method string, raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return api.Errorf(api.ReasonMalformedMessage, method, "This version does not understand the daemon's answer to %s.", method).From(err)
	}
	return nil
}

// IsRetryable reports whether doing the same again may help after an error: what was
// asked for was right, and the daemon is gone, busy or not ready.
func IsRetryable(err error) bool {
	e, ok := errors.AsType[*api.Error](err)
	if !ok {
		return false
	}
	switch e.Code {
	case api.CodeUnreachable, api.CodeDeadline, api.CodeExhausted, api.CodePrecondition, api.CodeInternal:
		return true
	}
	return false
}
