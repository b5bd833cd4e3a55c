package server

import (
	"context"
	"sync"

	"fulmen/daemon/internal/server/outbox"
)

// Replied has something done once, after the reply to this request has left for
// whoever asked, or cannot any more: what ends the daemon, and with it the connection,
// would else overtake the reply. It is done in a goroutine of its own.
func (c *Caller) Replied(do func()) {
	if c.requestID == "" { // nobody waits
		go do()
		return
	}
	do = sync.OnceFunc(do)
	context.AfterFunc(c.conn.ctx, do)
	behind := outbox.NewSlot(last(do))
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	c.conn.replied[c.requestID] = append(c.conn.replied[c.requestID], func(bool) { c.conn.box.Ready(behind) })
}

// last has its place in the queue behind a message, and nothing to say: when its turn
// comes, the message is written.
type last func()

// Next implements [outbox.Source].
func (l last) Next() (message []byte, more bool) {
	go l()
	return nil, false
}
