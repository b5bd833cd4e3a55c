package api

import (
	"encoding/json"
	"net/netip"
	"slices"
)

// Plan is where a job's attempt runs and over what its ranks talk. The same
// state gives the same plan on every node.
type Plan struct {
	// SpecSHA256 is the spec that it fulfils.
	SpecSHA256 string `json:"spec_sha256"`
	// Backend is the one chosen; never auto.
	Backend Backend `json:"backend"`
	// Shape is how the ranks are joined.
	Shape PlanShape `json:"shape"`
	// Ranks are the processes, ordered by rank.
	Ranks []PlanRank `json:"ranks"`
	// Links are the cables and paths used, each pair of ranks together.
	Links []PlanLink `json:"links,omitempty"`
	// Devices is JACCL's matrix: for each rank, for each other rank, the names of the
	// RDMA devices on the first that lead to the second. The diagonal is null.
	Devices [][][]string `json:"devices,omitempty"`
	// Hosts is the ring's host file: for each rank the addresses with port at which the one before finds it; on the same node on loopback.
	Hosts [][]string `json:"hosts,omitempty"`
	// Model is what they compute with, where the job has a model.
	Model *PlanModel `json:"model,omitempty"`
	// ProvenBest says that no better plan exists; false above MaxExactNodes nodes.
	ProvenBest bool `json:"proven_best"`
	// Unencrypted says that the ranks' traffic crosses a network without encryption.
	Unencrypted bool `json:"unencrypted,omitempty"`
	// Used are the documents that the plan rests on, with the values it counted with.
	Used []PlanInput `json:"used,omitempty"`
	// Notes are what a person should know about it.
	Notes []Cause `json:"notes,omitempty"`
}

// Cables is how many cables each two neighbours use for RDMA; 0 where they use none.
func (p Plan) Cables() int {
	if len(p.Devices) < 2 || len(p.Devices[0]) < 2 {
		return 0
	}
	return len(p.Devices[0][1])
}

// Lead is the first rank on the node of a rank: the node's grant for the job is its.
func (p Plan) Lead(rank int) int {
	return slices.IndexFunc(p.Ranks, func(r PlanRank) bool { return r.Node == p.Ranks[rank].Node })
}

// Grant is what the node of a rank grants: what all ranks on it need together.
func (p Plan) Grant(rank int) PlanRank {
	out := p.Ranks[rank]
	out.MemoryBytes = 0
	for _, r := range p.Ranks {
		if r.Node == out.Node {
			out.MemoryBytes += r.MemoryBytes
		}
	}
	return out
}

// Nodes are those of the ranks, each once, ordered by rank.
func (p Plan) Nodes() []NodeID {
	var out []NodeID
	for _, r := range p.Ranks {
		if !slices.Contains(out, r.Node) {
			out = append(out, r.Node)
		}
	}
	return out
}

// Shares are those of the ranks, by rank; nil where the plan has none.
func (p Plan) Shares() []float64 {
	var out []float64
	for _, r := range p.Ranks {
		if r.ShareRatio > 0 {
			out = append(out, r.ShareRatio)
		}
	}
	return out
}

// DeviceRows are the rows of a matrix of devices as MLX's JACCL reads and writes them:
// null for no device, the name for one, a list for several.
func DeviceRows(devices [][][]string) [][]any {
	out := make([][]any, len(devices))
	for i, row := range devices {
		out[i] = make([]any, len(row))
		for j, names := range row {
			switch len(names) {
			case 0:
			case 1:
				out[i][j] = names[0]
			default:
				out[i][j] = names
			}
		}
	}
	return out
}

// PlanModel is the model of a plan.
type PlanModel struct {
	// Model is its name, as the job has it.
	Model string `json:"model"`
	// Revision is the one that all ranks use; absent where their folders have none.
	Revision string `json:"revision,omitempty"`
	// WeightsBytes is the size of its tensors; absent where that is not known.
	WeightsBytes *int64 `json:"weights_bytes,omitempty"`
}

// PlanRank is one process of a plan.
type PlanRank struct {
	// Rank is its number, from 0.
	Rank int `json:"rank"`
	// Node is where it runs.
	Node NodeID `json:"node"`
	// MemoryBytes is what it is granted of the GPU's working set.
	MemoryBytes int64 `json:"memory_bytes"`
	// GPUMemory is the memory of which that is; absent where none is granted, or it is not known.
	GPUMemory GPUMemory `json:"gpu_memory,omitempty"`
	// ShareRatio is its part of the whole, where the spec has shares: above 0, with at most six decimals; those of all ranks add up to 1.
	ShareRatio float64 `json:"share_ratio,omitempty"`
	// GPU is how it gets the GPU.
	GPU GPUShare `json:"gpu"`
	// PortNumbers are those whose RDMA device it is granted.
	PortNumbers []PortNumber `json:"receptacles,omitempty"`
	// ModelFrom is the node that it copies the job's model from, where its own lacks it.
	ModelFrom NodeID `json:"model_from,omitempty"`
	// Addresses are the node's own at which the rank before finds it, in the order of
	// Hosts; of a ring only, and where that rank is on another node. The host file of a simulated node has others.
	Addresses []netip.Addr `json:"addresses,omitempty"`
}

// PlanLink is one connection between two ranks.
type PlanLink struct {
	// From is the lower rank.
	From int `json:"from"`
	// To is the higher rank.
	To int `json:"to"`
	// Kind is what it is made of.
	Kind LinkKind `json:"kind"`
	// Link is the cable, where it is one.
	Link LinkID `json:"link,omitzero"`
	// BitsPerS is the slower direction that the plan counts with.
	BitsPerS *int64 `json:"bits_per_s,omitempty"`
	// Measured says that BitsPerS was measured; otherwise it was negotiated.
	Measured bool `json:"measured,omitempty"`
	// TogetherBitsPerS is the slower direction that all links of the two ranks were measured to give at once;
	// absent where they were measured alone.
	TogetherBitsPerS *int64 `json:"together_bits_per_s,omitempty"`
}

// PlanInput is one version of a document that a plan rests on. Live values are
// overwritten within a second, so those that counted are kept here.
type PlanInput struct {
	KeyVersion
	// Facts are the fields of the value that counted, by name.
	Facts map[string]json.RawMessage `json:"facts,omitempty"`
}

// PlanRejection is a set of nodes that cannot run a job, and the first thing that stops it.
type PlanRejection struct {
	// Nodes is the set.
	Nodes []NodeID `json:"nodes"`
	// Backend is the one that was tried.
	Backend Backend `json:"backend"`
	Cause
}
