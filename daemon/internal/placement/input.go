package placement

import (
	"net/netip"
	"slices"
	"sync"

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
	// Line is what jobs that wait before it want, and whose grants do not count.
	Line Line
	// Brief leaves out remedies, the larger part of the work of a refusal: for planning again after a change.
	Brief bool
	// Documents are those that Nodes and Graph were made of, each once and of the kinds of
	// [Kinds], for [api.Plan.Used]; none = the plan names none.
	Documents []api.Document

	model model // the spec's, as it is counted with
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
	// Model is what it has of the job's model.
	Model       *api.FoundModel
	copiesModel bool // first: it has none
	// GPUMemory is the memory in which its GPU computes; empty = not known.
	GPUMemory api.GPUMemory
	// WorkingSetBytes is the GPU's largest recommended working set, or what stands for it.
	WorkingSetBytes *int64
	// AvailableBytes is what a new program could get of RAM without swapping; a discrete
	// GPU's own memory is beside it.
	AvailableBytes *int64
	// Pressure is how short of memory its system says it is; empty = not known.
	Pressure api.Pressure
	// Strain is the condition by which it is too hot, short of memory, or almost without power.
	Strain api.Reason
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
	Limits map[api.PortNumber]api.RDMALimits
	// Network is its network document.
	Network *api.Network
}

// Line is what a plan counts with of other jobs beside what their grants say.
type Line struct {
	// Reserved is what jobs that wait before this one are to be granted.
	Reserved []Reserved
	// Without reports of which jobs' grants it takes no notice; nil = none.
	Without func(api.JobID) bool
}

// Reserved is what one of them is to be granted.
type Reserved struct {
	Job       api.JobID
	Principal api.Principal
	Grants    []api.WantedGrant
}

// Lent is what a node has granted to a rank of another job, or is to grant to one that waits first.
type Lent struct {
	// Waits says that it has not granted it yet.
	Waits bool
	// Job is whose rank.
	Job api.JobID
	// Principal is whose job.
	Principal api.Principal
	// GPU is how the GPU is lent.
	GPU api.GPUShare
	// MemoryBytes is what is lent of the GPU's working set.
	MemoryBytes int64
	// PortNumbers are those whose RDMA device is lent.
	PortNumbers []api.PortNumber
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
	left, reachable := n.room()
	switch {
	case n.AvailableBytes == nil || n.GPUMemory == api.GPUMemoryDedicated:
		return left
	case !reachable:
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

// Kinds are the kinds of documents that placement reads: those of the graph, and its own.
func Kinds() []api.Kind {
	return append(topology.Kinds(), api.KindCondition, api.KindMemory, api.KindSystem, api.KindSharing, api.KindGPUProfile, api.KindGrant)
}

// InputOf gives an input its nodes by its documents, and by what the graph's reader has
// read of them. Documents that cannot be read are left out and named in the causes.
// programs is what preflights found of the MLX of a person's own program. Without it such
// a program is placed without regard to its MLX, at which the preflight before the start
// looks; a built-in program uses the MLX of each node's identity document. models is what
// nodes have of the job's model.
func InputOf(in Input, known []topology.Node, programs map[api.NodeID]api.ProgramMLX, models map[api.NodeID]api.FoundModel) (Input, []api.Cause) {
	var notes []api.Cause
	of := map[api.NodeID][]*api.Document{}
	for i := range in.Documents {
		d := &in.Documents[i]
		of[d.Node] = append(of[d.Node], d)
	}
	for i := range known {
		n := &known[i]
		r := reader{spec: &in.Spec, line: in.Line, node: Node{
			ID: n.ID, ShortName: n.ShortName, Network: n.Network, Reached: !n.Stale,
			OwnPrincipal: in.Spec.Principal.Node == n.ID, MLX: programs[n.ID],
		}}
		if n.Identity != nil {
			r.node.GPUMemory = n.Identity.GPUMemory
		}
		if n.Identity != nil && in.Spec.Program.Builtin != "" {
			r.node.MLX = api.ProgramMLX{Version: n.Identity.MLXVersion, Backends: n.Identity.MLXBackends}
		}
		if n.State != nil {
			r.state = *n.State
		}
		if m, known := models[n.ID]; known {
			r.node.Model = &m
		}
		r.readPorts(n)
		for _, d := range of[n.ID] {
			if err := r.read(d); err != nil {
				notes = append(notes, api.AsError(err).Cause())
			}
		}
		if n.Identity != nil && r.state.State != api.SelfLeft {
			in.Nodes = append(in.Nodes, r.finish())
		}
	}
	return in, notes
}

// reader gathers one node's documents.
type reader struct {
	spec    *api.JobSpec
	line    Line
	node    Node
	sharing *api.Sharing
	system  api.System
	state   api.NodeState
}

func (r *reader) read(d *api.Document) error {
	switch d.Kind {
	case api.KindMemory:
		return take(d, func(v api.Memory) {
			r.node.WorkingSetBytes, r.node.AvailableBytes, r.node.Pressure = v.GPUWorkingSetBytes, v.AvailableBytes, v.Pressure
		})
	case api.KindCondition:
		return take(d, func(v api.Condition) {
			if all := strains(); slices.Index(all, v.Code) > slices.Index(all, r.node.Strain) {
				r.node.Strain = v.Code
			}
		})
	case api.KindGPUProfile:
		return take(d, func(v api.GPUProfile) { r.node.FP16TFLOPS = v.FP16TFLOPS })
	case api.KindSharing:
		return take(d, func(v api.Sharing) { r.sharing, r.node.OthersMaxBytes = &v, v.MemoryMaxBytes })
	case api.KindSystem:
		return take(d, func(v api.System) { r.system = v })
	case api.KindGrant:
		return take(d, func(v api.Grant) { r.takeGrant(d.Name, v) })
	}
	return nil
}

// strains are the conditions of a Mac that another one is taken rather than, the worst last.
var strains = sync.OnceValue(func() (all []api.Reason) {
	for _, severity := range []api.Severity{api.SeverityWarning, api.SeverityError} {
		for _, info := range api.Reasons() {
			if info.Brief != "" && info.Severity == severity {
				all = append(all, info.Reason)
			}
		}
	}
	return all
})

// take gives a document's value on.
func take[T any](d *api.Document, to func(T)) error {
	var v T
	err := d.Decode(&v)
	if err == nil {
		to(v)
	}
	return err
}

// readPorts takes what the graph's reader has read of the node's receptacles.
func (r *reader) readPorts(known *topology.Node) {
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
				r.node.Limits = map[api.PortNumber]api.RDMALimits{}
			}
			r.node.Limits[port.PortNumber] = *port.Device.Limits
		}
	}
}

// takeGrant takes a grant that holds for another job. A measurement's is not
// counted: it ends within seconds, and jobs stand before it in line.
func (r *reader) takeGrant(name string, v api.Grant) {
	if rank, err := api.ParseRankRef(name); err == nil && v.State == api.GrantHeld && rank.Job != r.spec.Job && !(r.line.Without != nil && r.line.Without(rank.Job)) {
		r.node.Lent = append(r.node.Lent, Lent{Job: rank.Job, Principal: v.Principal, GPU: v.GPU, MemoryBytes: v.MemoryBytes, PortNumbers: v.PortNumbers})
	}
}

// finish sums up what the node lends to the spec's principal.
func (r *reader) finish() Node {
	r.node.State, r.node.StateReason = r.state.State, r.state.Reason
	for _, w := range r.line.Reserved {
		i := slices.IndexFunc(w.Grants, func(g api.WantedGrant) bool { return g.Node == r.node.ID })
		if i >= 0 && !slices.ContainsFunc(r.node.Lent, func(l Lent) bool { return l.Job == w.Job }) {
			g := w.Grants[i]
			r.node.Lent = append(r.node.Lent, Lent{Waits: true, Job: w.Job, Principal: w.Principal, GPU: g.GPU, MemoryBytes: g.MemoryBytes, PortNumbers: g.PortNumbers})
		}
	}
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
