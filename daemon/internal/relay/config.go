package relay

import (
	"log/slog"
	"net/netip"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

// Config is what publishing needs.
type Config struct {
	// Peers are the nodes.
	Peers peer.Caller
	// Target reports whether a port of a rank may be reached by its submitter's node:
	// the rank lives here, and its job's spec publishes the port.
	Target func(job gate.Known, rank api.RankRef, port int) bool
	// Loopback are the addresses where ports are published for this machine; nil =
	// 127.0.0.1 and ::1. One that the machine does not have is left out.
	Loopback []netip.Addr
	// LAN gives the addresses of this machine's networks.
	LAN func() []netip.Addr
	// Secret is what the keys of jobs are derived from, so that a restarted daemon
	// gives the same; nil = a key is drawn and lost with the process.
	Secret []byte
	// Processes tells who listens at a port.
	Processes native.Processes
	// Clock is what deadlines run on.
	Clock native.Clock
	// Log takes what a maintainer may want to know.
	Log *slog.Logger
}

// MaxConnections is how many connections one job may have at once: as many as a member
// may have open to published ports of another.
const MaxConnections = 128

// Relay publishes ports, from this node and on it.
type Relay struct {
	cfg Config

	mu     sync.Mutex
	open   map[api.JobID]*published
	served map[api.RankRef]*served
	closed bool
}

// New makes the relay and answers the nodes that want a port of a rank here.
func New(cfg Config) *Relay {
	if cfg.Loopback == nil {
		cfg.Loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	}
	if cfg.LAN == nil {
		cfg.LAN = func() []netip.Addr { return nil }
	}
	r := &Relay{cfg: cfg, open: map[api.JobID]*published{}, served: map[api.RankRef]*served{}}
	cfg.Peers.HandleStream(gate.ServePerson(gate.Publish, r.accept))
	return r
}

// Shut closes every port and connection, and opens none any more.
func (r *Relay) Shut() {
	r.mu.Lock()
	r.closed = true
	open, here := r.open, r.served
	r.open, r.served = map[api.JobID]*published{}, map[api.RankRef]*served{}
	r.mu.Unlock()
	for _, p := range open {
		p.shut()
	}
	for _, s := range here {
		s.shut()
	}
}
