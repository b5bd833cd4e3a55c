package liveness

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// Input is all that a view follows from.
type Input struct {
	// Self is the node that derives, and Started since when its daemon runs.
	Self    api.NodeID
	Started api.Time
	// At is now, by which removed members leave the list; zero keeps them.
	At api.Time
	// Members are the roster's, in its order.
	Members []api.Member
	// Called is what members called their computers when that was last known: as these
	// are named of whom no identity says.
	Called map[api.NodeID]string
	// Docs are the documents of [Kinds] of all nodes, in any order. Of several
	// versions of one the newest counts.
	Docs []api.SharedDocument
	// Seen is what gossip says of each other node; a node that is not in it was
	// never heard of.
	Seen map[api.NodeID]Seen
	// Paths are the transport's to each node, the best first. A kind that is
	// empty is taken from this node's reach document.
	Paths map[api.NodeID][]api.PathView
}

// Seen is what gossip says of a node.
type Seen struct {
	// Liveness is alive, suspect or unreachable.
	Liveness api.Liveness
	// Since is since when, by this node's clock.
	Since api.Time
	// Reason is why it is not alive, where more is known.
	Reason api.Reason
}

// Kinds are the kinds of documents that a view follows from. Of reach only this
// node's own count.
func Kinds() []api.Kind {
	return []api.Kind{api.KindIdentity, api.KindNodeState, api.KindMemory, api.KindSystem, api.KindGPUProfile, api.KindReach}
}

// facts is what one node says of itself; nil where it is not known.
type facts struct {
	identity  *api.Identity
	state     *api.NodeState
	memory    *api.Memory
	system    *api.System
	gpu       *api.GPUProfile
	simulated bool
}

// read sorts documents by node, and gives this node's own reach documents. What
// cannot be decoded is not known.
func (in Input) read() (map[api.NodeID]*facts, []api.Reach) {
	docs := slices.Clone(in.Docs)
	slices.SortFunc(docs, func(a, b api.SharedDocument) int {
		if order := a.Key().Compare(b.Key()); order != 0 {
			return order
		}
		return cmp.Or(b.Version().Compare(a.Version()), slices.Compare(a.Value, b.Value))
	})
	docs = slices.CompactFunc(docs, func(a, b api.SharedDocument) bool { return a.Key() == b.Key() })
	all := map[api.NodeID]*facts{}
	var reach []api.Reach
	for _, d := range docs {
		if d.Deleted {
			continue
		}
		f := all[d.Node]
		if f == nil {
			f = &facts{}
			all[d.Node] = f
		}
		f.simulated = f.simulated || d.Simulated
		switch d.Kind {
		case api.KindIdentity:
			f.identity = decoded[api.Identity](d)
		case api.KindNodeState:
			f.state = decoded[api.NodeState](d)
		case api.KindMemory:
			f.memory = decoded[api.Memory](d)
		case api.KindSystem:
			f.system = decoded[api.System](d)
		case api.KindGPUProfile:
			f.gpu = decoded[api.GPUProfile](d)
		case api.KindReach:
			if d.Node != in.Self {
				continue
			}
			if r := decoded[api.Reach](d); r != nil {
				reach = append(reach, *r)
			}
		}
	}
	return all, reach
}

func decoded[T any](d api.SharedDocument) *T {
	v, err := api.Value[T](d)
	if err != nil {
		return nil
	}
	return &v
}
