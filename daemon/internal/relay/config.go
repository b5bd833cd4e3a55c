package relay

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

// Config is what publishing needs.
type Config struct {
	// Peers are the nodes.
	Peers  peer.Caller
	Ledger *ledger.Ledger
	// Job is what is known of a job that counts.
	Job   func(api.JobID) (gate.Known, bool)
	Ranks Ranks
	// Seed is this node's secret, of which the keys of jobs are derived, so that a
	// restarted daemon gives the same.
	Seed []byte
	// Loopback are the addresses where ports are published for this machine; nil =
	// 127.0.0.1 and ::1. One that the machine does not have is left out.
	Loopback []netip.Addr
	// LAN gives the addresses of this machine's networks; nil = those of this node's
	// network document.
	LAN func() []netip.Addr
	// Processes tells who listens at a port.
	Processes native.Processes
	// Clock is what deadlines run on.
	Clock native.Clock
	// Log takes what a maintainer may want to know.
	Log *slog.Logger
}

// Ranks are those of this node; rank.Ranks is them.
type Ranks interface {
	// IsHere reports whether a rank lives on this node.
	IsHere(rank api.RankRef) bool
	// PID is the process of its program; 0 where it does not run.
	PID(rank api.RankRef) int
	// SetPorts says which of its published ports are open.
	SetPorts(rank api.RankRef, open []int)
	// SetReady says whether what it serves is ready, or why it is not.
	SetReady(rank api.RankRef, isReady bool, why string)
	// SetIdle says since when nothing is asked of it; zero while something is.
	SetIdle(rank api.RankRef, since api.Time)
	// Probe has a command run beside it; its error is a part of a sentence.
	Probe(ctx context.Context, rank api.RankRef, command []string, within time.Duration) error
	// Owe notes that one owes something, until it is paid.
	Owe(rank api.RankRef, what api.RankDebt) (paid func())
	// EndUnanswered ends one of which a probe has failed for good.
	EndUnanswered(rank api.RankRef, message string) error
}

// MaxConnections is how many connections one job may have at once: as many as a member
// may have open to published ports of another.
const MaxConnections = 256

// Relay keeps the ports open that jobs publish: those of this node's people here, and
// those of the ranks of this node for whoever submitted their jobs.
type Relay struct {
	cfg    Config
	secret []byte

	mu       sync.Mutex
	open     map[api.JobID]*published
	problems map[api.JobID]*api.Error // why a job's ports are not open that should be
	served   map[api.RankRef]*served
	closed   bool
}

// publishContext begins what the secret of the jobs' keys is derived from.
const publishContext = "fulmen-publish-1"

// New makes the relay and answers the nodes that want a port of a rank here.
func New(cfg Config) *Relay {
	if cfg.Loopback == nil {
		cfg.Loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	}
	secret := hmac.New(sha256.New, cfg.Seed)
	secret.Write([]byte(publishContext))
	r := &Relay{cfg: cfg, secret: secret.Sum(nil), open: map[api.JobID]*published{}, problems: map[api.JobID]*api.Error{}, served: map[api.RankRef]*served{}}
	if cfg.LAN == nil {
		r.cfg.LAN = r.networks
	}
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
