package transport

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
)

var (
	// errEnded is a connection for calls that ended before the answer came.
	errEnded = errors.New("the connection ended")
	// errGivenUp is a call whose context ended before.
	errGivenUp = errors.New("the caller does not wait any more")
)

// callClient is an open connection by which this node calls a peer.
type callClient struct {
	conn   *records
	notice func(method string, params json.RawMessage)
	done   chan struct{} // closed when nothing more comes
	at     place         // the path that it goes by
	best   place         // the best path when it was opened
	// writing holds a token while somebody writes. It is no mutex: who waits for a
	// slow peer can give up.
	writing chan struct{}

	mu      sync.Mutex
	last    uint64
	pending map[uint64]chan rpcMessage
}

// newCallClient makes one that gives notifications to notice, one after the other.
func newCallClient(conn *records, notice func(method string, params json.RawMessage)) *callClient {
	c := &callClient{conn: conn, notice: notice, done: make(chan struct{}), writing: make(chan struct{}, 1), pending: map[uint64]chan rpcMessage{}}
	go c.read()
	return c
}

// close ends it and waits until the last notification has been heard.
func (c *callClient) close() {
	c.conn.close()
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

func (c *callClient) send(ctx context.Context, message []byte) error {
	select {
	case c.writing <- struct{}{}:
	case <-ctx.Done():
		return errGivenUp
	case <-c.done:
		return errEnded
	}
	defer func() { <-c.writing }()
	err := c.conn.send(message)
	if err != nil && !errors.Is(err, errTooLarge) { // what follows would be taken for the rest of it
		c.conn.close()
	}
	return err
}

// read takes what comes until the connection ends.
func (c *callClient) read() {
	defer close(c.done)
	defer c.conn.close()
	for {
		text, err := c.conn.receive()
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
