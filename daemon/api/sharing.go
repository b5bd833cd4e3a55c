package api

import "slices"

// Sharing is the value of a sharing document: what the node lends, to whom,
// when and how much. Only a person at that node changes it. The local account
// names of the map stay on the node; here is only who is mapped. The node's own
// people are not asked: what they may do on it is not lent.
type Sharing struct {
	// Jobs says whose jobs may run here.
	Jobs JobSharing `json:"jobs"`
	// JobsFrom lists who may, where Jobs is list.
	JobsFrom []Principal `json:"jobs_from,omitempty"`
	// Mapped lists the principals for whom the node has a local account.
	Mapped []Principal `json:"mapped,omitempty"`
	// MappedNodes lists the members all of whose people have one, unless Unmapped lists them.
	MappedNodes []NodeID `json:"mapped_nodes,omitempty"`
	// MappedMembers says that all people of all members have one, unless Unmapped or UnmappedNodes lists them.
	MappedMembers bool `json:"mapped_members,omitempty"`
	// Unmapped lists the principals who have none, whatever counts for their node.
	Unmapped []Principal `json:"unmapped,omitempty"`
	// UnmappedNodes lists the members whose people have none unless Mapped lists them, whatever counts for all.
	UnmappedNodes []NodeID `json:"unmapped_nodes,omitempty"`
	// Priorities are how far the priority of other nodes' people counts here, the closest line first; for whom none is, not at all.
	Priorities []PriorityMax `json:"priorities,omitempty"`
	// Models says who may read models on this Mac from others; absent = nobody.
	Models ModelSharing `json:"models,omitempty"`
	// RDMAChanges says who may change RDMA at this end of a cable.
	RDMAChanges ChangeSharing `json:"rdma_changes"`
	// OnlyOnPower refuses jobs while the node runs on battery.
	OnlyOnPower bool `json:"only_on_power"`
	// OnlyWhenIdle refuses jobs while a person uses the node.
	OnlyWhenIdle bool `json:"only_when_idle"`
	// IdleAfterS is how long nobody must have used it to count as idle.
	IdleAfterS float64 `json:"idle_after_s,omitempty"`
	// MemoryMaxBytes is the most that jobs of others get together; absent = the GPU's working set.
	MemoryMaxBytes *int64 `json:"memory_max_bytes,omitempty"`
	// KeepAwake keeps the node from idle sleep also without a job.
	KeepAwake bool `json:"keep_awake"`
}

// IsMapped reports whether the node has a local account for a principal of one
// of its cluster's members. What says most closely who is meant counts: the
// principal before its node, the node before all members.
func (s Sharing) IsMapped(p Principal) bool {
	switch {
	case slices.Contains(s.Mapped, p):
		return true
	case slices.Contains(s.Unmapped, p):
		return false
	case slices.Contains(s.MappedNodes, p.Node):
		return true
	}
	return s.MappedMembers && !slices.Contains(s.UnmappedNodes, p.Node)
}

// Refuses says why a node that lends by these rules takes no job of a member's
// principal, whatever else goes on there; empty where it takes them.
func (s Sharing) Refuses(p Principal) Reason {
	switch {
	case s.Jobs == JobsMapped:
	case s.Jobs == JobsList && slices.Contains(s.JobsFrom, p):
	default:
		return ReasonJobsNotShared
	}
	if !s.IsMapped(p) {
		return ReasonPrincipalUnmapped
	}
	return ""
}
