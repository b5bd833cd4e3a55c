package rdma

import (
	"context"
	"log/slog"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

// Conditions is where this node's own troubles are told.
type Conditions interface {
	// Raise says that a condition holds.
	Raise(code api.Reason, subject, detail string) error
	// Clear says that it holds no longer.
	Clear(code api.Reason, subject string) error
}

// Facts reads this machine.
type Facts interface {
	// Snapshot reads areas now.
	Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error)
}

// Records keeps what is needed to put changes back. What was saved is there after
// a crash, whole.
type Records interface {
	// Load gives what was saved last.
	Load() ([]change.Record, error)
	// Save replaces it.
	Save([]change.Record) error
}

// History keeps the audit log.
type History interface {
	// Load gives what was saved last, the newest first.
	Load() ([]api.RDMAChange, error)
	// Save replaces it.
	Save([]api.RDMAChange) error
}

// Config is what an [Owner] needs. Functions answer from memory.
type Config struct {
	// Node is this node.
	Node  api.NodeID
	Clock native.Clock
	Peers peer.Caller
	// Facts and Network are the machine's.
	Facts   Facts
	Network native.NetworkActions
	// Records and History outlive the daemon.
	Records Records
	History History
	// Documents and Conditions publish.
	Documents  ledger.Publisher
	Conditions Conditions
	// Allowed says why a node's administrators may not change RDMA here; empty where
	// they may.
	Allowed func(from api.NodeID) api.Reason
	// Check says why RDMA cannot be enabled on a cable as this node sees it; nil where
	// it can, or is already.
	Check func(link api.LinkID) *api.Error
	// Able says why this machine's network cannot be changed in some way; nil where it
	// can. It may be nil itself: then everything can be.
	Able func(native.Feature) error
	// Busy says what must not be disturbed on this node; nil where nothing is.
	Busy func() *api.Error
	// Quiet waits until no test uses the RDMA device of a receptacle of this node, and
	// says who still does when ctx ends. It may be nil itself.
	Quiet func(ctx context.Context, receptacle api.Receptacle) *api.Error
	// Idle, where set, is called after [Owner.Changing] may have become false.
	Idle func()
	// Others gives what another node says of its end of a cable.
	Others func(node api.NodeID, link api.LinkID) (api.RDMAChange, bool)
	// Name is what people call a node.
	Name func(api.NodeID) string
	// Prove tests a cable of this node over RDMA, once both ends are changed: nil
	// where data came through. It may be nil itself; then changes are verified by what
	// the system says alone. An *api.Error of jaccl_missing says that nothing can be
	// tested here.
	Prove func(ctx context.Context, link api.LinkID) error
	// Log may be nil.
	Log *slog.Logger
}

// Deadlines. Together they are shorter than change.DoubtWithin.
const (
	// quietWithin is how long a change waits for a test of the cable to end.
	quietWithin = 10 * time.Second
	// planWithin bounds planning at an end, the wait for another change included.
	planWithin = 20 * time.Second
	// seenWithin is how long an end waits to see a cable as the asking node does.
	seenWithin = 3 * time.Second
	// stepWithin bounds one setting, repeated while somebody else holds the
	// configuration.
	stepWithin = 15 * time.Second
	// shownWithin bounds the wait for the system to show what was changed.
	shownWithin = 20 * time.Second
	// applyWithin bounds an end's part.
	applyWithin = 60 * time.Second
	// proveWithin bounds the test over the cable.
	proveWithin = 60 * time.Second
	// keepWithin bounds the last word to an end.
	keepWithin = 10 * time.Second
	// backWithin bounds putting back at an end.
	backWithin = 60 * time.Second
	// retryAfter is the pause after somebody else was quicker with the configuration.
	retryAfter = 200 * time.Millisecond
	// lostAfter is how long an address is missing before it counts as lost: a cable
	// that is plugged has none for a moment.
	lostAfter = 3 * time.Second
	// historyMax is how many changes the audit log remembers.
	historyMax = 200
)
