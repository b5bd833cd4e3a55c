package probe

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"net/netip"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

// Leave takes what a measurement by another node needs of this one: its
// grants, and that nothing speaks against measuring now. It is asked for this
// node's own measurements of itself too, which hold the grants already. What it
// gives is called once when the measurement has ended. The error is an
// *api.Error that says why not.
type Leave func(ctx context.Context, from api.NodeID, p api.PeerMeasureParams) (release func(), err error)

// Config is what a [Prober] needs. Log and Budget may be left out.
type Config struct {
	Peers   peer.Caller
	Sockets native.Sockets
	Clock   native.Clock
	// Key is this node's own.
	Key ed25519.PrivateKey
	// Members gives a member's public key; false for whoever is none.
	Members func(node api.NodeID) (publicKey []byte, ok bool)
	// Leave is asked before another node may measure.
	Leave Leave
	// Interface gives this node's interface that has an address.
	Interface func(sink netip.Addr) (iface string, ok bool)
	// Budget is how much of this node's time each peer may use up in
	// BudgetPeriod; DefaultBudget where zero.
	Budget time.Duration
	Log    *slog.Logger
}

const (
	// DefaultBudget is how much of a node's time one peer may use up in
	// BudgetPeriod: a full measurement takes about 5 s, so that every path
	// can be measured in full a few times in a row, and refreshed for ever.
	DefaultBudget = 90 * time.Second
	// BudgetPeriod is how long it takes until a budget that was used up is full again.
	BudgetPeriod = 10 * time.Minute
)
