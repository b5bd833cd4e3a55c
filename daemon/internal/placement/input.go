package placement

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

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

// Source is what an [Input] is made of.
type Source struct {
	// Spec is what is to be placed.
	Spec api.JobSpec
	// SpecSHA256 is the hash of its signed bytes.
	SpecSHA256 string
	// Self is the planning node, which always reaches itself.
	Self api.NodeID
	// Documents are the ledger's, of the kinds that [Kinds] lists; others are skipped.
	Documents []api.Document
	// Nodes are what of them is about the graph, where somebody has read it; nil = it is
	// read here.
	Nodes []topology.Node
	// Stale reports whether a node cannot be reached now; nil = none.
	Stale func(api.NodeID) bool
	// Trusted are networks that this node's configuration trusts.
	Trusted []netip.Prefix
	// Programs is what preflights found of the MLX of a person's own program, by node.
	// Without it such a program is placed without regard to its MLX, at which the preflight
	// before the start looks; a built-in program uses the MLX of each node's identity document.
	Programs map[api.NodeID]api.ProgramMLX
	// Brief is as in [Input].
	Brief bool
	// At is now; zero = no measurement is called old.
	At api.Time
	// SocketTTL and RDMATTL are as in [topology.Input].
	SocketTTL, RDMATTL time.Duration
}

// Kinds are the kinds of documents that placement reads.
func Kinds() []api.Kind {
	return []api.Kind{
		api.KindIdentity, api.KindMemory, api.KindSystem, api.KindNetwork, api.KindThunderbolt, api.KindRDMA, api.KindReach,
		api.KindSharing, api.KindGPUProfile, api.KindLinkProfile, api.KindGrant, api.KindNodeState, api.KindCondition,
	}
}

// GraphKinds are those of [Kinds] that the graph is made of; every node that can be
// placed on has one of them.
func GraphKinds() []api.Kind {
	return []api.Kind{
		api.KindIdentity, api.KindNetwork, api.KindThunderbolt, api.KindRDMA, api.KindReach, api.KindLinkProfile, api.KindNodeState, api.KindCondition,
	}
}

// InputOf makes an input from documents, with the graph. Documents that cannot
// be read are left out and named in the causes.
func InputOf(s Source) (Input, []api.Cause) {
	stale := func(id api.NodeID) bool { return id != s.Self && s.Stale != nil && s.Stale(id) }
	docs := latest(s.Documents)
	known, notes := s.Nodes, []api.Cause(nil)
	if known == nil {
		known, notes = topology.NodesOf(docs, stale)
	}
	in := Input{Spec: s.Spec, SpecSHA256: s.SpecSHA256, Trusted: s.Trusted, Documents: docs, Brief: s.Brief}
	in.Graph = topology.Build(topology.Input{Nodes: known, At: s.At, SocketTTL: s.SocketTTL, RDMATTL: s.RDMATTL})
	of := map[api.NodeID][]*api.Document{}
	for i := range docs {
		of[docs[i].Node] = append(of[docs[i].Node], &docs[i])
	}
	for i := range known {
		r := reader{spec: &s.Spec, node: Node{
			ID: known[i].ID, ShortName: known[i].ShortName, Network: known[i].Network, Reached: !known[i].Stale,
			OwnPrincipal: s.Spec.Principal.Node == known[i].ID, MLX: s.Programs[known[i].ID],
		}}
		if id := known[i].Identity; id != nil && s.Spec.Program.Builtin != "" {
			r.node.MLX = api.ProgramMLX{Version: id.MLXVersion, Backends: id.MLXBackends}
		}
		r.readPorts(known[i])
		for _, d := range of[known[i].ID] {
			if err := r.read(d); err != nil {
				notes = append(notes, api.AsError(err).Cause())
			}
		}
		if r.identified = known[i].Identity != nil; r.identified && r.state.State != api.SelfLeft {
			in.Nodes = append(in.Nodes, r.finish())
		}
	}
	return in, notes
}

// latest keeps the newest version of each document, without those that are
// deleted, ordered by key.
func latest(all []api.Document) []api.Document {
	newest := make(map[api.Key]int, len(all))
	for i := range all {
		d := &all[i]
		if j, is := newest[d.Key()]; !is || cmp.Or(d.Version().Compare(all[j].Version()), slices.Compare(d.Value, all[j].Value)) > 0 {
			newest[d.Key()] = i
		}
	}
	out := make([]api.Document, 0, len(newest))
	for _, i := range newest {
		if !all[i].Deleted && slices.Contains(Kinds(), all[i].Kind) {
			out = append(out, all[i])
		}
	}
	slices.SortFunc(out, func(a, b api.Document) int { return a.Key().Compare(b.Key()) })
	return out
}

// reader gathers one node's documents.
type reader struct {
	spec       *api.JobSpec
	node       Node
	identified bool
	sharing    *api.Sharing
	system     api.System
	state      api.NodeState
}

func (r *reader) read(d *api.Document) error {
	switch d.Kind {
	case api.KindMemory:
		var v api.Memory
		if err := d.Decode(&v); err != nil {
			return err
		}
		r.node.WorkingSetBytes, r.node.AvailableBytes = v.GPUWorkingSetBytes, v.AvailableBytes
	case api.KindGPUProfile:
		var v api.GPUProfile
		if err := d.Decode(&v); err != nil {
			return err
		}
		r.node.FP16TFLOPS = v.FP16TFLOPS
	case api.KindSharing:
		var v api.Sharing
		if err := d.Decode(&v); err != nil {
			return err
		}
		r.sharing, r.node.OthersMaxBytes = &v, v.MemoryMaxBytes
	case api.KindSystem:
		return d.Decode(&r.system)
	case api.KindNodeState:
		return d.Decode(&r.state)
	case api.KindGrant:
		return r.readGrant(d)
	}
	return nil
}

// readPorts takes what the graph's reader has read of the node's receptacles.
func (r *reader) readPorts(known topology.Node) {
	for _, port := range known.Thunderbolt {
		if port.Capability.Valid() {
			is := port.Capability == api.Thunderbolt5 || r.node.Thunderbolt5 != nil && *r.node.Thunderbolt5
			r.node.Thunderbolt5 = &is
		}
	}
	for _, port := range known.RDMA {
		if port.OSCapable != nil && port.SwitchedOn != nil { // alike at all receptacles: both are the Mac's
			on := *port.OSCapable && *port.SwitchedOn
			r.node.RDMAOn = &on
		}
		if port.Device != nil && port.Device.Limits != nil {
			if r.node.Limits == nil {
				r.node.Limits = map[api.Receptacle]api.RDMALimits{}
			}
			r.node.Limits[port.Receptacle] = *port.Device.Limits
		}
	}
}

// readGrant takes a grant that holds for another job. A measurement's is not
// counted: it ends within seconds, and jobs stand before it in line.
func (r *reader) readGrant(d *api.Document) error {
	var v api.Grant
	if err := d.Decode(&v); err != nil {
		return err
	}
	rank, err := api.ParseRankRef(d.Name)
	if err != nil || v.State != api.GrantHeld || rank.Job == r.spec.Job {
		return nil
	}
	r.node.Lent = append(r.node.Lent, Lent{Job: rank.Job, Principal: v.Principal, GPU: v.GPU, MemoryBytes: v.MemoryBytes, Receptacles: v.Receptacles})
	return nil
}

// finish sums up what the node lends to the spec's principal.
func (r *reader) finish() Node {
	r.node.State, r.node.StateReason = r.state.State, r.state.Reason
	switch power := r.system.PowerSource; {
	case r.node.OwnPrincipal:
	case r.sharing == nil:
		r.node.Refusal = api.ReasonJobsNotShared
	case r.sharing.Refuses(r.spec.Principal) != "":
		r.node.Refusal = r.sharing.Refuses(r.spec.Principal)
	case r.sharing.OnlyOnPower && (power == api.PowerBattery || power == api.PowerUPS):
		r.node.Refusal = api.ReasonOnBattery
	case r.sharing.OnlyWhenIdle && r.state.Idle != nil && !*r.state.Idle:
		r.node.Refusal = api.ReasonNotIdle
	}
	return r.node
}
