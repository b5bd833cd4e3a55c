package api

import "time"

const (
	// MinPriority is the lowest priority of a job.
	MinPriority = -100
	// MaxPriority is the highest.
	MaxPriority = 100
	// PriorityAge is how much longer a job of one point less has to wait to go first: so none waits for ever.
	PriorityAge = 10 * time.Minute
	// DefaultIdle is how long nobody must have asked anything of a kept job for it to be idle.
	DefaultIdle = 15 * time.Minute
)

// Wanted is what a job waits for.
type Wanted struct {
	// Grants are what its Macs are to lend it, of each Mac once.
	Grants []WantedGrant `json:"grants"`
	// Preempts are jobs that are to end for it.
	Preempts []JobID `json:"preempts,omitempty"`
}

// WantedGrant is what one Mac is to lend.
type WantedGrant struct {
	// Node is the Mac.
	Node NodeID `json:"node"`
	// GPU is how it is to lend its GPU.
	GPU GPUShare `json:"gpu"`
	// MemoryBytes is how much of the GPU's working set.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	// PortNumbers are those whose RDMA device it is to lend.
	PortNumbers []PortNumber `json:"receptacles,omitempty"`
}

// WantedOf is what a plan wants.
func WantedOf(p Plan) Wanted {
	var w Wanted
	has := map[NodeID]bool{}
	for i, r := range p.Ranks {
		if has[r.Node] {
			continue
		}
		has[r.Node] = true
		g := p.Grant(i)
		w.Grants = append(w.Grants, WantedGrant{Node: g.Node, GPU: g.GPU, MemoryBytes: g.MemoryBytes, PortNumbers: g.PortNumbers})
	}
	return w
}

// LinePlace is where a job would stand among those that wait.
type LinePlace struct {
	// Position is its place, from 1.
	Position int `json:"position"`
	// Before are the jobs before it, the first first; of other people's their program's file names them.
	Before []LineJob `json:"before,omitempty"`
	// Preempts are the jobs that would end for it, and come back.
	Preempts []LineJob `json:"preempts,omitempty"`
}

// LineJob is a job as others see it in line.
type LineJob struct {
	// Job is the id.
	Job JobID `json:"job"`
	// Name is what screens show.
	Name string `json:"name"`
	// Priority is what its spec says.
	Priority int `json:"priority,omitempty"`
	// Since is since when it waits; of one that runs, since when it runs.
	Since Time `json:"since,omitzero"`
	// Nodes are those for which it waits, or where it runs.
	Nodes []NodeID `json:"nodes,omitempty"`
}

// PriorityMax is how far the priority of people of other nodes counts on a node, against
// the jobs of others.
type PriorityMax struct {
	// Principal is the person; absent where more than one is meant.
	Principal Principal `json:"principal,omitzero"`
	// Node is the member all of whose people are meant.
	Node NodeID `json:"node,omitempty"`
	// MaxPriority is the bound, from 0.
	MaxPriority int `json:"max_priority"`
}

// Priority is what a priority counts for on a node that lends by these rules, against the
// jobs of others. Its own people are bound by nothing; whom no line names, by 0.
func (s Sharing) Priority(self NodeID, who Principal, priority int) int {
	if who.Node == self {
		return priority
	}
	most := 0
	for _, line := range s.Priorities { // the closest come first
		if line.Principal == who || line.Principal == (Principal{}) && (line.Node == who.Node || line.Node == "") {
			most = line.MaxPriority
			break
		}
	}
	return min(priority, most)
}
