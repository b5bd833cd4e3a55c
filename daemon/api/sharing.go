package api

// Sharing is the value of a sharing document: what the node lends, to whom,
// when and how much. Only a person at that node changes it. The local account
// names of the map stay on the node; here is only who is mapped.
type Sharing struct {
	// Jobs says whose jobs may run here.
	Jobs JobSharing `json:"jobs"`
	// JobsFrom lists who may, where Jobs is list.
	JobsFrom []Principal `json:"jobs_from,omitempty"`
	// Mapped lists the principals for whom the node has a local account.
	Mapped []Principal `json:"mapped,omitempty"`
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

// JobSharing is whose jobs may run on a node.
type JobSharing string

const (
	// JobsNobody lets no job of others run.
	JobsNobody JobSharing = "nobody"
	// JobsMapped lets everybody who has a local account in the map.
	JobsMapped JobSharing = "mapped"
	// JobsList lets those who are listed and have a local account.
	JobsList JobSharing = "list"
)

// Values lists the choices.
func (JobSharing) Values() []string { return words(JobsNobody, JobsMapped, JobsList) }

// Valid reports whether the choice belongs to this version.
func (s JobSharing) Valid() bool { return known(s) }

// ChangeSharing is who may change settings of a node from afar.
type ChangeSharing string

const (
	// ChangesNobody lets nobody.
	ChangesNobody ChangeSharing = "nobody"
	// ChangesMembers lets administrators of the cluster's members.
	ChangesMembers ChangeSharing = "members"
)

// Values lists the choices.
func (ChangeSharing) Values() []string { return words(ChangesNobody, ChangesMembers) }

// Valid reports whether the choice belongs to this version.
func (s ChangeSharing) Valid() bool { return known(s) }
