package server

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server/token"
	"fulmen/native"
)

// Config is what a server is made of. Fields without a remark are needed.
type Config struct {
	// Handlers are the methods that are built; the others answer that they are not.
	Handlers Handlers
	// Facts is where state.get and state.watch read.
	Facts Facts
	// Tokens are the tokens and one-time secrets.
	Tokens *token.Book
	// Owner is the uid of the account that holds the end local of a TCP connection of
	// this machine with remote. Where it is nil, or fails, no secret is redeemed over
	// TCP.
	Owner func(local, remote netip.AddrPort) (uint32, error)
	// Clock is the machine's.
	Clock native.Clock
	// Log gets the causes that clients are not told.
	Log *slog.Logger
	// Node is this node, whose accounts callers are.
	Node api.NodeID
	// Mode is the account under which the daemon runs.
	Mode api.DaemonMode
	// UID is the daemon's own, of class admin in user mode.
	UID uint32
	// InAdminGroup says whether a user is in the group of administrators; nil
	// where there is none, as on macOS.
	InAdminGroup func(uid uint32) (bool, error)
	// Authorizer checks authorisations; nil where the system has none, as on Linux.
	Authorizer Authorizer
	// Version is that of Fulmen, told to clients when they connect.
	Version string
	// Schema is served as it is; nil = not there.
	Schema []byte
	// Assets has index.html and the folder assets; nil = a plain page.
	Assets fs.FS
	// Metrics answers PathMetrics, for whoever has shown a token or came by the
	// Unix socket; nil = not there.
	Metrics http.Handler
	// URL is the WebSocket's address that clients are told; empty: that of the first
	// TCP listener that is served.
	URL string
	// Accepted, if set, hears of every connection that is accepted, by 1, and of its
	// end, by -1.
	Accepted func(by int)
	// Refuse says why a method is not answered, or nothing of what is beside the
	// WebSocket, whose name is empty; it returns nil for a method that is. Nil refuses
	// nothing. Where it is set, nothing but the WebSocket on the Unix socket is served,
	// so that Tokens and Facts are not needed.
	Refuse func(method string) error
	// Audit, if set, hears of each call to a method of the table before it is made. What
	// it returns, if anything, hears the error with which the call ended, or nil.
	Audit func(ctx context.Context, c *Caller, method api.MethodInfo, params json.RawMessage) func(error)
	// Limits may be zero, for the defaults.
	Limits Limits
}

// Limits bound what clients can take. Zero fields have the defaults.
type Limits struct {
	// Clients is the most connections that have shown who they are; 2,000.
	Clients int
	// ClientsPerUser is the most of one local user, so that nobody keeps the
	// others out; 1,500.
	ClientsPerUser int
	// HalfOpen is the most, on each listener, that have not yet; 1,024. For one
	// more the oldest has to go, of the account that has the most of them.
	HalfOpen int
	// HelloDeadline bounds the time until a connection has shown who it is; 5 s.
	HelloDeadline time.Duration
	// WriteDeadline is what a client gets to read a message; api.WriteDeadline.
	WriteDeadline time.Duration
	// CallDeadline bounds the handling of a request; 2 min.
	CallDeadline time.Duration
	// FeedBytes bounds the changes that wait for one subscription; 4 MiB.
	FeedBytes int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Clients: cmp.Or(l.Clients, 2000), ClientsPerUser: cmp.Or(l.ClientsPerUser, 1500), HalfOpen: cmp.Or(l.HalfOpen, 1024),
		HelloDeadline: cmp.Or(l.HelloDeadline, 5*time.Second), WriteDeadline: cmp.Or(l.WriteDeadline, api.WriteDeadline),
		CallDeadline: cmp.Or(l.CallDeadline, 2*time.Minute), FeedBytes: cmp.Or(l.FeedBytes, 4<<20),
	}
}
