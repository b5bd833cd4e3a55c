package placement

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

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
