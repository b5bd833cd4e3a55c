package topology

import (
	"time"

	"fulmen/daemon/api"
)

// Input is what the graph is made of.
type Input struct {
	// Nodes are the members, in any order.
	Nodes []Node
	// At is now. Where it is zero, no measurement is called old.
	At api.Time
	// SocketTTL and RDMATTL are the ages from which numbers are old; zero means
	// api.DefaultSocketTTL and api.DefaultRDMATTL.
	SocketTTL time.Duration
	RDMATTL   time.Duration
}

// Node is what one node's documents say. A nil or empty field is a document
// that is not held.
type Node struct {
	// ID is the node. Two nodes with one id are a fault, and neither counts.
	ID api.NodeID
	// ShortName is for people, and what a host file calls it.
	ShortName string
	// Identity is the identity document, IdentityUnknown its reasons.
	Identity        *api.Identity
	IdentityUnknown map[string]api.Reason
	// Network is the network document.
	Network *api.Network
	// Thunderbolt are the thunderbolt documents, one for each receptacle.
	Thunderbolt []Port
	// RDMA are the rdma documents, one for each receptacle; RDMAUnknown are their reasons.
	RDMA        []api.RDMA
	RDMAUnknown map[api.Receptacle]map[string]api.Reason
	// RDMAChanges are the rdma-change documents, one for each cable.
	RDMAChanges []api.RDMAChange
	// Reach are the reach documents.
	Reach []api.Reach
	// Profiles are the link-profile documents.
	Profiles []Profile
	// Faults are the codes of the conditions that the node raised on a receptacle.
	Faults map[api.Receptacle][]api.Reason
	// State is the node-state document.
	State *api.NodeState
	// Stale says that the node cannot be reached now, so that its documents may be out of date.
	Stale bool
	// Simulated says that no real hardware is behind it.
	Simulated bool
}

// Port is a thunderbolt document with its reasons.
type Port struct {
	api.Thunderbolt
	// Unknown gives, for absent fields, the reason, as the document has it.
	Unknown map[string]api.Reason
}

// Profile is a link-profile document with its name.
type Profile struct {
	// Name is the document's: a peer's address, or a cable.
	Name string
	api.LinkProfile
	// Simulated says that the numbers are a scenario's.
	Simulated bool
}

// displayName is what people call a node.
func (n *Node) displayName() string {
	if n.ShortName != "" {
		return n.ShortName
	}
	return n.ID.Display()
}
