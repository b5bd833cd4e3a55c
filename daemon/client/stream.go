package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
)

// Stream makes a request that is followed by notifications, on a connection of
// its own, so that whoever reads slowly holds nobody up. It gives the result
// and the notifications' parameters. The sequence ends with an error when the
// connection does; ending the context, or the loop over it, ends the stream.
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
			if !yield(n, err) || err != nil {
				return
			}
		}
	}, nil
}

// streaming is a connection that reads notifications.
type streaming struct {
	conn   *conn
	method string
	early  []json.RawMessage // that came before the answer
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
	for {
		t := time.NewTimer(every)
		select {
		case <-c.ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		ctx, stop := context.WithTimeout(c.ctx, every)
		err := c.ws.Ping(ctx)
		stop()
		if err != nil {
			c.close()
			return
		}
	}
}
