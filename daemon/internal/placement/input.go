package placement

import (
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// Input is all that a plan depends on. Nodes and documents may be in any order.
type Input struct {
	// Spec is what is to be placed.
	Spec api.JobSpec
	// SpecSHA256 is the hash of the spec's signed bytes, for the plan.
	SpecSHA256 string
	// Nodes are the cluster's members. Of two with one id neither counts.
	Nodes []Node
	// Graph is how they are joined.
	Graph topology.Graph
	// Trusted are networks that the planning node's configuration trusts for unencrypted traffic.
	Trusted []netip.Prefix
	// Brief leaves out remedies, the larger part of the work of a refusal: for planning again after a change.
	Brief bool
	// Documents are those that Nodes and Graph were made of, for [api.Plan.Used]; none = the plan names none.
	Documents []api.Document
}

// Node is one member as placement sees it. A nil field is a fact that is not known.
type Node struct {
	// ID is the node.
	ID api.NodeID
	// ShortName is for people.
	ShortName string
	// Reached says that the planning node can reach it now.
	Reached bool
	// State is what it says of itself; empty counts as awake.
	State api.SelfState
	// StateReason is why, such as lid_closed.
	StateReason api.Reason
	// Refusal is why it takes no job of the spec's principal; empty where it does.
	Refusal api.Reason
	// OwnPrincipal says that the principal is one of its own people, to whom nothing is lent.
	OwnPrincipal bool
	// MLX is what is known of the MLX that the program will use there.
	MLX api.ProgramMLX
	// WorkingSetBytes is the GPU's largest recommended working set.
	WorkingSetBytes *int64
	// AvailableBytes is what a new program could get without swapping.
	AvailableBytes *int64
	// OthersMaxBytes bounds what people of other nodes get of the working set together.
	OthersMaxBytes *int64
	// Lent are the grants that hold there for other jobs.
	Lent []Lent
	// FP16TFLOPS is what its GPU was measured to give.
	FP16TFLOPS *float64
	// Thunderbolt5 says whether any of its receptacles is Thunderbolt 5.
	Thunderbolt5 *bool
	// RDMAOn says whether its system is new enough for RDMA and its switch is on.
	RDMAOn *bool
	// Limits are what its RDMA devices can have at once, by receptacle, where they tell.
	Limits map[api.Receptacle]api.RDMALimits
	// Network is its network document.
	Network *api.Network
}

// Lent is what a node has granted to a rank of another job.
type Lent struct {
	// Job is whose rank.
	Job api.JobID
	// Principal is whose job.
	Principal api.Principal
	// GPU is how the GPU is lent.
	GPU api.GPUShare
	// MemoryBytes is what is lent of the GPU's working set.
	MemoryBytes int64
	// Receptacles are those whose RDMA device is lent.
	Receptacles []api.Receptacle
}

// name is what people call the node.
func (n *Node) name() string {
	if n.ShortName != "" {
		return n.ShortName
	}
	return n.ID.Display()
}

// interfaces are the node's; none where they are not known.
func (n *Node) interfaces() []api.Interface {
	if n.Network == nil {
		return nil
	}
	return n.Network.Interfaces
}

// room is what a rank may be granted of the GPU's working set; false where the
// node does not tell.
func (n *Node) room() (int64, bool) {
	if n.WorkingSetBytes == nil {
		return 0, false
	}
	left := *n.WorkingSetBytes
	others := int64(0)
	for _, l := range n.Lent {
		left -= l.MemoryBytes
		if l.Principal.Node != n.ID {
			others += l.MemoryBytes
		}
	}
	if n.OthersMaxBytes != nil && !n.OwnPrincipal {
		left = min(left, *n.OthersMaxBytes-others)
	}
	return max(left, 0), true
}

// free is the memory that the objective counts: what may be granted, and no
// more than is available; 0 where neither is known.
func (n *Node) free() int64 {
	left, told := n.room()
	switch {
	case n.AvailableBytes == nil:
		return left
	case !told:
		return *n.AvailableBytes
	}
	return min(left, *n.AvailableBytes)
}

// tflops is the GPU's measured speed; 0 where it was not measured.
func (n *Node) tflops() float64 {
	if n.FP16TFLOPS == nil {
		return 0
	}
	return *n.FP16TFLOPS
}
