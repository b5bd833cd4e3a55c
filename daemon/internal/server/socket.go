package server

import (
	"io"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
)

// socket is a connection as jrpc2 wants it. Send is called under jrpc2's lock
// and only queues.
type socket struct{ conn *conn }

// Recv gives the next message that is worth jrpc2's time.
func (s *socket) Recv() ([]byte, error) {
	c := s.conn
	for {
		if c.box.WaitRoom(c.ctx, maxWaitingBytes) != nil {
			return nil, io.EOF
		}
		kind, message, err := c.ws.Read(c.ctx)
		if err != nil {
			c.cancel(errDisconnected)
			return nil, io.EOF
		}
		if kind != websocket.MessageText {
			c.end(websocket.StatusUnsupportedData, api.NewError(api.ReasonMalformedMessage, ""))
			<-c.ctx.Done() // the farewell first: returning cuts the connection
			return nil, io.EOF
		}
		if s.admit(message) {
			return message, nil
		}
	}
}

// admit answers what is no request, and takes the slots of what is one.
func (s *socket) admit(message []byte) bool {
	c := s.conn
	l, refusal := examine(message)
	if refusal != nil {
		c.push(encodeReply(reply{Error: refusal}))
		return false
	}
	for range l.slots() {
		select {
		case c.slots <- struct{}{}:
		case <-c.ctx.Done():
			return false
		}
	}
	return true
}

// Send queues the reply, or the array of replies, to one message.
func (s *socket) Send(message []byte) error {
	c := s.conn
	c.giveBack(replySlots)
	message = mend(message)
	if !c.push(message) {
		return io.ErrClosedPipe
	}
	c.runReplied(message)
	return nil
}

// giveBack frees slots. It is called under jrpc2's lock, where nothing may wait,
// even if a message was counted wrongly.
func (c *conn) giveBack(n int) {
	for range n {
		select {
		case <-c.slots:
		default:
		}
	}
}

// Close is called when jrpc2 has stopped; the connection ends by itself then.
func (s *socket) Close() error {
	s.conn.cancel(errDisconnected)
	return nil
}

// push queues a message, or ends the connection of a client that does not read.
func (c *conn) push(message []byte) bool {
	if c.box.Push(message) == nil {
		return true
	}
	c.cut()
	return false
}

// runReplied tells the streams of the requests that were just answered, and
// whether the answer was a result: what belongs to a subscription must not
// overtake the reply that names it.
func (c *conn) runReplied(message []byte) {
	c.mu.Lock()
	if len(c.replied) == 0 {
		c.mu.Unlock()
		return
	}
	type due struct {
		f  func(bool)
		ok bool
	}
	var run []due
	replies, _, _ := parseReplies(message)
	for _, r := range replies {
		for _, f := range c.replied[string(r.ID)] {
			run = append(run, due{f, r.Error == nil})
		}
		delete(c.replied, string(r.ID))
	}
	c.mu.Unlock()
	for _, d := range run {
		d.f(d.ok)
	}
}
