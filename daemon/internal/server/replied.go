package server

// Replied has something done once the reply to this request has left for whoever
// asked, or cannot any more, in a goroutine of its own: what ends the daemon, and with
// it the connection, would else overtake the reply.
func (c *Caller) Replied(do func()) {
	conn := c.conn
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if c.requestID == "" || conn.subs == nil { // nobody waits
		go do()
		return
	}
	conn.awaited[c.requestID] = append(conn.awaited[c.requestID], do)
}

// leave notes with a reply, before it is queued, what is to be done once it is written.
func (c *conn) leave(message []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.awaited) == 0 || len(message) == 0 {
		return
	}
	replies, _, _ := parseReplies(message)
	for _, r := range replies {
		if do := c.awaited[string(r.ID)]; do != nil {
			delete(c.awaited, string(r.ID))
			c.leaving[&message[0]] = append(c.leaving[&message[0]], do...)
		}
	}
}

// left does what waited for a message to be written.
func (c *conn) left(message []byte) {
	c.mu.Lock()
	var due []func()
	if len(c.leaving) > 0 && len(message) > 0 {
		due = c.leaving[&message[0]]
		delete(c.leaving, &message[0])
	}
	c.mu.Unlock()
	for _, do := range due {
		go do()
	}
}

// abandoned gives what waited for replies that nobody is sent any more; the caller
// holds mu.
func (c *conn) abandoned() (due []func()) {
	for _, all := range c.awaited {
		due = append(due, all...)
	}
	for _, all := range c.leaving {
		due = append(due, all...)
	}
	c.awaited, c.leaving = nil, nil
	return due
}
