package sidechannel

import (
	"context"
	"log/slog"
	"net"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

// Config is what side channels need.
type Config struct {
	// Peers are the nodes.
	Peers peer.Caller
	// Machine is the loopback of this machine.
	Machine Machine
	// Take takes a port out of the node's one table, unless somebody has it, and
	// Return puts it back.
	Take   func(port int) bool
	Return func(port int)
	// Group is the process group of a rank's program; 0 while none runs.
	Group func(api.RankRef) int
	// Notify is told how far a rank of this node has come, each time that changes.
	// Calls for one rank come one at a time.
	Notify func(api.RankRef, api.Handshake)
	// Fail is told why a rank of this node has to end, once.
	Fail func(api.RankRef, *api.Error)
	// Name is what people call a node.
	Name func(api.NodeID) string
	// Account is what people call an account of this machine.
	Account func(uid uint32) string
	// Clock is what deadlines run on.
	Clock native.Clock
	// Log takes what a maintainer may want to know.
	Log *slog.Logger
}

// Machine is the loopback of a machine, 127.0.0.1: JACCL knows no IPv6.
type Machine interface {
	native.Processes
	// Listen listens at a port that nobody else may have, nor listen at beside.
	Listen(port int) (net.Listener, error)
	// Dial connects to a port.
	Dial(ctx context.Context, port int) (net.Conn, error)
}

// request is what the side channel of a rank of this node was opened for.
type request struct {
	// Rank is whose it is.
	Rank api.RankRef
	// Epoch is that of the job's home.
	Epoch uint64
	// Nodes are the nodes of the attempt's ranks, by rank; two at least.
	Nodes []api.NodeID
	// Within is how long it carries anything.
	Within time.Duration
}

// rootOf is the rank 0 that a rank's group gathers around.
func rootOf(ref api.RankRef) api.RankRef { return api.RankRef{Job: ref.Job, Attempt: ref.Attempt} }
