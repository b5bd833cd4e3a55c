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

// Amount is how much is measured.
type Amount string

const (
	// AmountFull is round trips, and each way about 1 s of transfer after the
	// connections have come to speed, with as many as fill the path.
	AmountFull Amount = "full"
	// AmountRefresh is round trips, and each way 32 MiB or 50 ms of transfer,
	// whichever ends first, with as many connections as an earlier measurement found.
	AmountRefresh Amount = "refresh"
	// AmountRTT is round trips only.
	AmountRTT Amount = "rtt"
)

const (
	// leaveWithin bounds the other node's answer to the announcement.
	leaveWithin = 10 * time.Second
	// placeWithin is how long another measurement may take to end before one is refused.
	placeWithin = time.Second
	// comeWithin is how long a measured node waits for the measuring one's first
	// connection, which follows the announcement's answer.
	comeWithin = 5 * time.Second
	// proveWithin bounds the proof of both identities on a connection, and the
	// dialling before it.
	proveWithin = 3 * time.Second
	// stalledAfter is how long nothing at all may arrive or leave. The kernel
	// sends a lost packet again after 0.2, 0.4 and 0.8 s.
	stalledAfter = 3 * time.Second
	// leftAfter is the same at the measured node, which lets the other one notice first.
	leftAfter = 2 * stalledAfter
	// fullWithin and briefWithin bound a whole measurement, which take about 5 s
	// and well under 1 s.
	fullWithin  = 20 * time.Second
	briefWithin = 10 * time.Second
	// visitWithin is the longest that a measured node puts up with.
	visitWithin = 30 * time.Second

	// maxStreams is how many connections are used at once; more have not been
	// seen to give more.
	maxStreams = 8
	// maxStrangers is how many connections may be about to prove who they are.
	maxStrangers = 32

	// chunk is how much is written and read at once. Above 256 KiB a transfer
	// over loopback gets no faster; under 64 KiB it costs wake-ups.
	chunk = 256 << 10

	// fullBytes and briefBytes are the most that is sent, both ways together:
	// far above what 1 s over the fastest cable takes, and what a refresh may
	// take with its warm-up.
	fullBytes  = 256 << 30
	briefBytes = 1 << 30
)

// Path is what is measured.
type Path struct {
	// Peer is the node at the other end; this node itself for its loopback.
	Peer api.NodeID
	// Interface is this node's, and Source its address there.
	Interface string
	Source    netip.Addr
	// Sink is the peer's address, without a zone.
	Sink netip.Addr
	// Streams is how many connections at once an earlier measurement found to
	// fill the path, 0 = not known.
	Streams int
}

// Result is what a path gave. What was not measured is nil.
type Result struct {
	// UpBitsPerS is payload away from this node, DownBitsPerS towards it, each
	// timed by its receiver.
	UpBitsPerS, DownBitsPerS *int64
	// RTTUS is the median round trip of small messages, JitterUS the mean
	// difference of consecutive ones, in microseconds.
	RTTUS, JitterUS *float64
	// LossRatio is the part of the round trips for which a system had to send
	// again; nil where a system does not count that.
	LossRatio *float64
	// RTTSamples counts the round trips behind RTTUS and JitterUS.
	RTTSamples int
	// Streams counts the connections used at once, of the direction that used
	// more; UpStreams and DownStreams are those of each.
	Streams, UpStreams, DownStreams int
	// MovedBytes is what was sent, both ways together, warm-up included.
	MovedBytes int64
	// Took is how long the whole measurement took.
	Took time.Duration
}
