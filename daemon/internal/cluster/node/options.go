package node

import (
	"context"
	"log/slog"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/daemon/internal/cluster/replica"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// Sharing is what a person says at pairing about this Mac, and what follows from
// changes of the roster.
type Sharing interface {
	// CheckAccount says why no job may run as an account.
	CheckAccount(name string) error
	// Join begins anew in another cluster, with what was answered.
	Join(cluster api.ClusterID, account string, changes api.ChangeSharing) error
	// MapUser changes one line of the map.
	MapUser(c api.ClusterMapUserParams) error
	// Prune takes out whoever is no member any more.
	Prune() error
}

// Options is what a node is made with.
type Options struct {
	Identity  cluster.Identity
	Roster    *Holder
	Ledger    *ledger.Ledger
	Writer    *ledger.Writer   // for every kind: replication ends what is left of a former life
	Documents ledger.Publisher // kinds reach and pending
	Sharing   Sharing
	// Gate lets other members in.
	Gate     *gate.Gate
	Platform native.Platform
	// Addresses, Discovery and LastSeen are kept over a restart.
	Addresses AddressStore
	Discovery discover.Store
	LastSeen  replica.LastSeen
	// Port is where peers connect, Peers the configured addresses.
	Port  int
	Peers []string
	// Version is Fulmen's.
	Version string
	// Protocol and ProtocolMin are the newest and the oldest that it speaks.
	Protocol, ProtocolMin int
	// Card is what this Mac says of itself to another one at pairing.
	Card func() pairing.Card
	// Removed is called once when this node is no member any more.
	Removed func()
	// Twin is told that two machines answer with a member's identity, and where the
	// second one is; with an empty place that it is gone.
	Twin func(node api.NodeID, at string)
	// Denied is told that the system keeps this node from the local network, and what
	// shows it; "" = it does no more.
	Denied func(detail string)
	// Clocks is told by how much the clocks of members in reach are ahead of this node's:
	// all that differ by a minute or more, each time that they change.
	Clocks func(ahead map[api.NodeID]time.Duration)
	// Timing and ProbeEvery are zero but in tests.
	Timing     replica.Timing
	ProbeEvery time.Duration
	// Log gives a part's log.
	Log func(part string) *slog.Logger
}

// joinWithin bounds the search for a Mac that shows a code, and what follows.
const joinWithin = 30 * time.Second

// notifyWithin bounds how long a removed node is tried to be told.
const notifyWithin = 2 * time.Second

// notifyAgain is how long lies between two tries to tell of a removal.
const notifyAgain = 100 * time.Millisecond

// within is a context that ends by the platform's clock.
func (n *Node) within(ctx context.Context, d time.Duration, waitingFor string) (context.Context, context.CancelFunc) {
	return native.WithTimeout(ctx, n.options.Platform.Clock, d, waitingFor)
}
