package files

import (
	"cmp"
	"log/slog"
	"time"

	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/files/carry"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/native"
)

// Config is what copying needs.
type Config struct {
	// Self is the path of the daemon's own program, which every account can execute.
	Self string
	// Peers are the nodes.
	Peers peer.Caller
	// Allowed gives the folder of this node that the nodes of a job's ranks may have,
	// and whose it is. The error (an *api.Error) is told the node that asks.
	Allowed func(job gate.Known) (folder, user string, err error)
	// Account finds a local account by its name; never root's.
	Account func(name string) (account.Account, error)
	// Clock is what silence is measured on.
	Clock native.Clock
	// Silence is how long a copy may rest without a byte; 0 = one minute.
	Silence time.Duration
	// Log takes what a maintainer may want to know; never a path in a person's folder.
	Log *slog.Logger
}

// Files copies folders, from this node and to it.
type Files struct {
	cfg     Config
	carrier carry.Carrier
	// A place for each process that runs. Those that send have their own: a node
	// may fetch from itself.
	senders, receivers chan struct{}
}

// maxEnds bounds the processes at once that send, and those that receive.
const maxEnds = 32

// New makes the copier and answers the nodes that fetch.
func New(cfg Config) *Files {
	carrier := carry.Carrier{Self: cfg.Self, Clock: cfg.Clock, Silence: cmp.Or(cfg.Silence, carry.DefaultSilence), Log: cfg.Log}
	f := &Files{cfg: cfg, carrier: carrier, senders: make(chan struct{}, maxEnds), receivers: make(chan struct{}, maxEnds)}
	cfg.Peers.HandleStream(gate.ServeRank(gate.Files, f.serve))
	return f
}
