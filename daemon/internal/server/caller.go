package server

import (
	"context"
	"os/user"
	"slices"
	"strconv"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server/token"
)

// Caller is who makes a request, and the request's side of the connection.
type Caller struct {
	// UID is the local user, by the kernel's word or the token's.
	UID uint32
	// Socket says that the call came over the Unix socket.
	Socket bool
	// Token is the name of the token; empty on the Unix socket.
	Token string

	conn      *conn
	method    api.MethodInfo
	requestID string // empty: nobody waits for a reply
}

// identity is who is at the other end of a connection.
type identity struct {
	uid    uint32
	socket bool
	token  token.Record // zero on the Unix socket
}

// Class is the highest class of the connection at this moment: a group that a
// user was taken out of counts no longer.
func (c *Caller) Class() api.MethodClass {
	if c.Socket && (c.conn.authorized.Load() || c.conn.server.isAdmin(c.UID)) {
		return api.ClassAdmin
	}
	return api.ClassUser
}

// Principal is the caller as an account of this node.
func (c *Caller) Principal() api.Principal {
	return api.Principal{User: UserName(c.UID), Node: c.conn.server.config.Node}
}

// UserName is the name of a local account, its number where it has none.
func UserName(uid uint32) string {
	text := strconv.FormatUint(uint64(uid), 10)
	if account, err := user.LookupId(text); err == nil {
		return account.Username
	}
	return text
}

// Viewer is the caller as a reader of documents.
func (c *Caller) Viewer() Viewer { return Viewer{UID: c.UID, Class: c.Class()} }

// may refuses a caller whose class is too low for the method.
func (c *Caller) may() error {
	if classCovers(c.Class(), c.method.Class) {
		return nil
	}
	e := api.NewError(api.ReasonAdminRequired, c.method.Name)
	if !c.Socket {
		e.Data.Remedy = "Use the Unix socket instead: a token never has the rights of an administrator."
	}
	return e
}

// classCovers reports whether a caller of one class may call methods of
// another. Peers have a table of their own, which is not served here: the class
// neither covers nor is covered.
func classCovers(has, needs api.MethodClass) bool {
	order := []api.MethodClass{api.ClassRead, api.ClassUser, api.ClassAdmin}
	h, n := slices.Index(order, has), slices.Index(order, needs)
	return h >= 0 && n >= 0 && h >= n
}

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
	behind := &slot{source: last(do)}
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	c.conn.underWay[c.requestID] = append(c.conn.underWay[c.requestID], func(bool) { c.conn.box.Ready(behind) })
}

// last has its place in the queue behind a message, and nothing to say: when its turn
// comes, the message is written.
type last func()

// Next implements [source].
func (l last) Next() (message []byte, more bool) {
	go l()
	return nil, false
}
