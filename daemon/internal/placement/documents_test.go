package placement

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
	"fulmen/native/nativetest/testkit"
)

// with is the two studios with more documents.
func (c cluster) with(docs ...api.Document) cluster {
	c.docs = append(slices.Clone(c.docs), docs...)
	return c
}

// other is the studio that the jobs of place do not come from.
func (c cluster) other() api.NodeID {
	return max(c.names["studio-1"], c.names["studio-2"])
}

// Each case is a document of the other Mac, and why two ranks then find no place.
func TestDocumentsThatStop(t *testing.T) {
	studios := draw(t, "two-studios")
	other := studios.other()
	held := api.Grant{State: api.GrantHeld, GPU: api.GPUExclusive}
	for _, c := range []struct {
		name   string
		doc    api.Document
		change func(*source)
		reason api.Reason
	}{
		{"asleep", document(t, other, api.KindNodeState, "", api.NodeState{State: api.SelfAsleep, Reason: api.ReasonLidClosed}), nil, api.ReasonLidClosed},
		{"restarting", document(t, other, api.KindNodeState, "", api.NodeState{State: api.SelfRestarting}), nil, api.ReasonRestarting},
		{"awake", document(t, other, api.KindNodeState, "", api.NodeState{State: api.SelfAwake}), nil, ""},
		{"left", document(t, other, api.KindNodeState, "", api.NodeState{State: api.SelfLeft}), nil, api.ReasonNotEnoughNodes},
		{"stale", api.Document{}, func(s *source) { s.Stale = func(id api.NodeID) bool { return true } }, api.ReasonNodeUnreachable},
		{"this Mac is always there", api.Document{}, func(s *source) { s.Stale = func(id api.NodeID) bool { return id != other } }, ""},
		{"the GPU is lent", document(t, other, api.KindGrant, "j00000002/1/0", held), nil, api.ReasonGPUBusy},
		{"the GPU is lent to this job", document(t, other, api.KindGrant, "j00000001/1/0", held), nil, ""},
		{"the GPU is lent to who makes room", document(t, other, api.KindGrant, "j00000002/1/0", held), func(s *source) {
			s.Line.Without = func(id api.JobID) bool { return id == "j00000002" }
		}, ""},
		{"another makes room", document(t, other, api.KindGrant, "j00000002/1/0", held), func(s *source) {
			s.Line.Without = func(id api.JobID) bool { return id == "j00000003" }
		}, api.ReasonGPUBusy},
		{"a job before it wants the GPU", api.Document{}, func(s *source) {
			s.Line.Reserved = []Reserved{{Job: "j00000002", Grants: []api.WantedGrant{{Node: other, GPU: api.GPUExclusive}}}}
		}, api.ReasonWaitingInLine},
		{"a job before it has that already", document(t, other, api.KindGrant, "j00000002/1/0", api.Grant{State: api.GrantHeld, GPU: api.GPUNone}), func(s *source) {
			s.Line.Reserved = []Reserved{{Job: "j00000002", Grants: []api.WantedGrant{{Node: other, GPU: api.GPUExclusive}}}}
		}, ""},
		{"a job before it wants nothing of it", api.Document{}, func(s *source) {
			s.Line.Reserved = []Reserved{{Job: "j00000002", Grants: []api.WantedGrant{{Node: other, GPU: api.GPUNone}, {Node: "j79r4zr55xd4ph64", GPU: api.GPUExclusive}}}}
		}, ""},
		{"somebody waits for the GPU", document(t, other, api.KindGrant, "j00000002/1/0", api.Grant{State: api.GrantWaiting, GPU: api.GPUExclusive}), nil, ""},
		{"a device is lent", document(t, other, api.KindGrant, "j00000002/1/0", api.Grant{State: api.GrantHeld, GPU: api.GPUNone, PortNumbers: []api.PortNumber{4}}), nil, api.ReasonRDMADeviceBusy},
		{"only on power", document(t, other, api.KindSystem, "", api.System{PowerSource: api.PowerBattery}), sharing(t, other, api.Sharing{Jobs: api.JobsMapped, MappedMembers: true, OnlyOnPower: true}), api.ReasonOnBattery},
		{"only on power, and on it", document(t, other, api.KindSystem, "", api.System{PowerSource: api.PowerMains}), sharing(t, other, api.Sharing{Jobs: api.JobsMapped, MappedMembers: true, OnlyOnPower: true}), ""},
		{"only when idle", document(t, other, api.KindNodeState, "", api.NodeState{State: api.SelfAwake, Idle: new(false)}), sharing(t, other, api.Sharing{Jobs: api.JobsMapped, MappedMembers: true, OnlyWhenIdle: true}), api.ReasonNotIdle},
		{"only when idle, and it is", document(t, other, api.KindNodeState, "", api.NodeState{State: api.SelfAwake, Idle: new(true)}), sharing(t, other, api.Sharing{Jobs: api.JobsMapped, MappedMembers: true, OnlyWhenIdle: true}), ""},
		{"only when idle, and that is not known", api.Document{}, sharing(t, other, api.Sharing{Jobs: api.JobsMapped, MappedMembers: true, OnlyWhenIdle: true}), ""},
		{"not idle, which nobody asks for", document(t, other, api.KindNodeState, "", api.NodeState{State: api.SelfAwake, Idle: new(false)}), nil, ""},
		{"not mapped", api.Document{}, sharing(t, other, api.Sharing{Jobs: api.JobsMapped}), api.ReasonPrincipalUnmapped},
		{"nothing is lent", api.Document{}, sharing(t, other, api.Sharing{Jobs: api.JobsNobody, MappedMembers: true}), api.ReasonJobsNotShared},
		{"no sharing is told", api.Document{}, without(api.KindSharing), api.ReasonJobsNotShared},
		{"of another version of MLX", api.Document{}, func(s *source) {
			s.Programs = map[api.NodeID]api.ProgramMLX{s.Self: {Version: "0.33.0"}, other: {Version: "0.32.4"}}
		}, api.ReasonMLXVersionsDiffer},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			on, changes := studios, []func(*source){}
			if c.doc.Node != "" {
				on = on.with(c.doc)
			}
			if c.change != nil {
				changes = append(changes, c.change)
			}
			r := on.place(t, api.Placement{Ranks: 2, Backend: api.BackendJACCL}, changes...)
			is.Equal(r.Plan != nil, c.reason == "")
			if c.reason != "" {
				is.True(errors.Is(r.Err(), c.reason))
			}
		})
	}
}

// sharing replaces what a node lends.
func sharing(t *testing.T, node api.NodeID, value api.Sharing) func(*source) {
	return func(s *source) {
		d := document(t, node, api.KindSharing, "", value)
		d.Seq++
		s.Documents = append(s.Documents, d)
	}
}

// without drops the documents of a kind.
func without(kind api.Kind) func(*source) {
	return func(s *source) {
		s.Documents = slices.DeleteFunc(slices.Clone(s.Documents), func(d api.Document) bool { return d.Kind == kind })
	}
}

// Fulmen's own MLX counts for its own programs, and not for a person's.
func TestWhoseMLX(t *testing.T) {
	is := is.New(t)
	studios := draw(t, "two-studios")
	for i, version := range map[string]string{"studio-1": "0.32.2", "studio-2": "0.32.2"} {
		d := document(t, studios.names[i], api.KindIdentity, "", api.Identity{ShortName: i, MLXVersion: version, MLXBackends: []api.MLXBackend{api.MLXBackendRing}})
		studios = studios.with(d)
	}
	asked := api.Placement{Ranks: 2, Backend: api.BackendJACCL}
	is.True(studios.place(t, asked).Plan != nil)
	builtin := func(s *source) { s.Spec.Program.Builtin = api.BuiltinAllReduce }
	is.True(errors.Is(studios.place(t, asked, builtin).Err(), api.ReasonJACCLMissing))
}

// What a Mac tells of its GPU and its memory is what counts of it.
func TestWhatANodeTells(t *testing.T) {
	is := is.New(t)
	studios := draw(t, "two-studios")
	memory := api.Memory{GPUWorkingSetBytes: new(int64(7 << 30)), AvailableBytes: new(int64(5 << 30))}
	in, notes := inputOf(source{Documents: studios.with(
		document(t, studios.other(), api.KindMemory, "", memory), document(t, studios.other(), api.KindGPUProfile, "", api.GPUProfile{FP16TFLOPS: new(12.5)}),
	).docs})
	is.Equal(len(notes), 0)
	for _, n := range in.Nodes {
		if n.ID == studios.other() {
			is.Equal(n.WorkingSetBytes, memory.GPUWorkingSetBytes)
			is.Equal(n.AvailableBytes, memory.AvailableBytes)
			is.Equal(n.FP16TFLOPS, new(12.5))
		} else {
			is.Equal(n.FP16TFLOPS, new(23.6))
		}
	}
}

// A Mac that suffers from something is taken where no other does: its condition says so,
// in any order of the documents, and the plan's note.
func TestStrainCounts(t *testing.T) {
	is := is.New(t)
	studios := draw(t, "two-studios")
	self := min(studios.names["studio-1"], studios.names["studio-2"])
	suffers := func(node api.NodeID, code api.Reason) api.Document {
		return document(t, node, api.KindCondition, string(code), api.Condition{Code: code})
	}
	one := api.Placement{Ranks: 1}
	is.Equal(studios.place(t, one).Plan.Ranks[0].Node, self) // of equals the lower id
	hot := studios.with(suffers(self, api.ReasonThermalPressure), suffers(self, api.ReasonBatteryLow), suffers(studios.other(), api.ReasonBLASSlow))
	plan := hot.place(t, one).Plan
	is.Equal(plan.Ranks[0].Node, studios.other())
	is.Equal(len(plan.Notes), 0) // another condition is none of these
	plan = hot.with(suffers(studios.other(), api.ReasonMemoryCritical)).place(t, one).Plan
	is.Equal(plan.Ranks[0].Node, self)
	is.Equal(plan.Notes[0].Reason, api.ReasonThermalPressure) // the worst of two
	is.True(strings.HasSuffix(plan.Notes[0].Message, " is too hot and slows down"))
	is.Equal(len(hot.place(t, api.Placement{Ranks: 2, Backend: api.BackendJACCL}).Plan.Ranks), 2) // it stops nothing
	is.Equal(hot.place(t, api.Placement{Ranks: 1, Nodes: []api.NodeID{self}}).Plan.Ranks[0].Node, self)

	// It is taken rather than one Mac more.
	d := newScenario(4).meshed(func(int, int) int64 { return 80 })
	for i := range d.nodes {
		d.nodes[i].AvailableBytes = new(int64(40 << 30))
	}
	d.nodes[0].Strain, d.nodes[0].AvailableBytes = api.ReasonThermalCritical, new(int64(100<<30))
	is.Equal(len(Plan(d.input(api.Placement{MinNodes: 2, Backend: api.BackendRing, ShareBy: api.ShareByMemory, MemoryBytes: 120 << 30}, nil)).Plan.Ranks), 2)
}

// Each Mac counts with the memory in which its GPU computes, and the plan says which: what
// is available of RAM bounds no GPU that has memory of its own.
func TestPlanSaysWhichMemoryItCounts(t *testing.T) {
	is := is.New(t)
	studios := draw(t, "two-studios")
	of := api.Identity{Architecture: "amd64", GPUMemory: api.GPUMemoryDedicated}
	memory := api.Memory{GPUWorkingSetBytes: new(int64(80 << 30)), AvailableBytes: new(int64(2 << 30)), Pressure: api.PressureWarning}
	with := func(kind api.GPUMemory) Result {
		of.GPUMemory = kind
		asked := api.Placement{Ranks: 2, Backend: api.BackendRing, MemoryBytes: 480 << 30, ShareBy: api.ShareByMemory}
		return studios.with(document(t, studios.other(), api.KindIdentity, "", of), document(t, studios.other(), api.KindMemory, "", memory)).place(t, asked)
	}
	got := map[api.NodeID]api.PlanRank{}
	for _, r := range with(api.GPUMemoryDedicated).Plan.Ranks {
		got[r.Node] = r
		is.True(r.MemoryBytes > 50<<30)
		is.Equal(r.GPUMemory == api.GPUMemoryDedicated, r.Node == studios.other())
		is.Equal(r.GPUMemory == api.GPUMemoryUnified, r.Node != studios.other())
	}
	is.Equal(len(got), 2)
	for _, kind := range []api.GPUMemory{api.GPUMemoryNone, api.GPUMemoryUnified, ""} { // of these it is what would be swapped
		r := with(kind)
		is.Equal(r.Plan, nil)
		is.Equal(r.Rejections[0].Reason, api.ReasonMemoryPressure)
	}
	r := studios.place(t, api.Placement{Ranks: 2, Backend: api.BackendRing})
	is.Equal(r.Plan.Ranks[0].GPUMemory, api.GPUMemory("")) // nothing is counted
}

// A plan names the documents that it rests on, with the values it counted with.
func TestUsed(t *testing.T) {
	is := is.New(t)
	studios := draw(t, "two-studios")
	p := studios.place(t, api.Placement{Ranks: 2, Backend: api.BackendJACCL}).Plan
	facts := map[api.Key]string{}
	for _, u := range p.Used {
		is.True(u.Version.Valid())
		facts[u.Key] = string(u.Facts["fp16_tflops"]) + string(u.Facts["up_bits_per_s"])
	}
	for _, id := range studios.names {
		is.Equal(facts[api.Key{Node: id, Kind: api.KindGPUProfile}], "23.6")
	}
	is.Equal(*p.Links[0].BitsPerS, int64(74_800_000_000))
	is.True(p.Links[0].Measured)
	measured := 0
	for key, value := range facts {
		if key.Kind == api.KindLinkProfile {
			is.Equal(value, "74800000000")
			measured++
		}
	}
	is.Equal(measured, 1) // the end that counted
}

// Documents in any order, and older versions among them, give the same result.
func TestDocumentsInAnyOrder(t *testing.T) {
	for _, scenario := range []string{"hub-3", "mixed", "tb4-pair"} {
		t.Run(scenario, func(t *testing.T) {
			is := is.New(t)
			drawn := draw(t, scenario)
			want := drawn.text(t, drawn.place(t, api.Placement{MinNodes: 2, MaxNodes: 4}))
			for seed := range testkit.Upto(t, 5) {
				shuffled := func(s *source) {
					older := s.Documents[0]
					older.Inc, older.Seq, older.Deleted, older.Value = 0, 1, true, nil
					s.Documents = append(slices.Clone(s.Documents), older)
					seed.Source(1).Shuffle(len(s.Documents), func(i, j int) {
						s.Documents[i], s.Documents[j] = s.Documents[j], s.Documents[i]
					})
				}
				is.Equal(drawn.text(t, drawn.place(t, api.Placement{MinNodes: 2, MaxNodes: 4}, shuffled)), want)
			}
		})
	}
}

// A document that cannot be read is named, and the rest counts.
func TestUnreadableDocument(t *testing.T) {
	studios := draw(t, "two-studios")
	for kind, value := range map[api.Kind]map[string]any{
		api.KindMemory: {"gpu_working_set_bytes": "much"}, api.KindGPUProfile: {"fp16_tflops": "fast"}, api.KindSharing: {"only_on_power": 1},
		api.KindSystem: {"power_source": 1}, api.KindNodeState: {"idle": 1}, api.KindGrant: {"memory_bytes": "much"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			is := is.New(t)
			name := ""
			if kind == api.KindGrant {
				name = "j00000002/1/0"
			}
			bad := document(t, studios.other(), kind, name, value)
			in, notes := inputOf(source{Self: studios.other(), Documents: append(slices.Clone(studios.docs), bad)})
			is.True(len(notes) > 0)
			for _, n := range notes {
				is.Equal(n.Reason, api.ReasonMalformedDocument)
			}
			is.Equal(len(in.Nodes), 2)
		})
	}
}

// What one port tells of its Mac holds for all of them.
func TestPortsOfOneNode(t *testing.T) {
	is := is.New(t)
	port := func(is api.ThunderboltGeneration) topology.Port {
		return topology.Port{Thunderbolt: api.Thunderbolt{Capability: is}}
	}
	read := func(n topology.Node) Node {
		var r reader
		r.readPorts(&n)
		return r.node
	}
	for _, c := range []struct {
		ports []topology.Port
		want  *bool
	}{
		{nil, nil},
		{[]topology.Port{port("")}, nil},
		{[]topology.Port{port(api.Thunderbolt4)}, new(false)},
		{[]topology.Port{port(api.Thunderbolt4), port(api.Thunderbolt5)}, new(true)},
		{[]topology.Port{port(api.Thunderbolt5), port(api.Thunderbolt4), port("")}, new(true)},
	} {
		is.Equal(read(topology.Node{Thunderbolt: c.ports}).Thunderbolt5, c.want)
	}
	for _, c := range []struct{ capable, on, want *bool }{
		{nil, new(true), nil}, {new(true), nil, nil}, {new(true), new(true), new(true)}, {new(true), new(false), new(false)}, {new(false), new(true), new(false)},
	} {
		is.Equal(read(topology.Node{RDMA: []api.RDMA{{OSCapable: c.capable, SwitchedOn: c.on}}}).RDMAOn, c.want)
	}
	limited := func(r api.PortNumber, pairs int) api.RDMA {
		return api.RDMA{PortNumber: r, Device: &api.RDMADevice{Limits: &api.RDMALimits{QueuePairs: pairs}}}
	}
	got := read(topology.Node{RDMA: []api.RDMA{limited(1, 5), {PortNumber: 2, Device: &api.RDMADevice{}}, {PortNumber: 3}, limited(4, 7)}}).Limits
	is.Equal(got, map[api.PortNumber]api.RDMALimits{1: {QueuePairs: 5}, 4: {QueuePairs: 7}})
}
