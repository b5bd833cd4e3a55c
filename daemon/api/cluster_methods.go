package api

func clusterMethods() []MethodInfo {
	return []MethodInfo{
		method[Empty, ClusterPeersResult]("cluster.peers", ClassRead, "",
			"The roster: who is a member, who added whom, who was removed."),
		method[ClusterPairParams, ClusterPairResult]("cluster.pair", ClassAdmin, "",
			"Opens Add a Mac for five minutes and gives the code to type on the other one; or closes it. The asking Macs are pending documents."),
		method[ClusterJoinParams, ClusterJoinResult]("cluster.join", ClassAdmin, "",
			"Joins the cluster of a Mac that shows a code, or the one that made an invitation."),
		method[ClusterAnswerParams, Empty]("cluster.answer", ClassAdmin, "",
			"What a person does with a Mac that asks: enter its code, ignore it, decide later, or show it again."),
		method[ClusterInviteParams, ClusterInviteResult]("cluster.invite", ClassAdmin, "",
			"Makes an invitation of one line for a Mac without a screen. It is a secret and works once."),
		method[ClusterRemoveParams, ClusterRemoveResult]("cluster.remove", ClassAdmin, "",
			"Removes members for good, and ends their jobs, grants and connections everywhere."),
		method[Empty, ClusterUsersResult]("cluster.users", ClassRead, "",
			"Which local account each person's jobs run as on this node. Local account names are given to admins only."),
		method[ClusterMapUserParams, Empty]("cluster.map_user", ClassAdmin, "",
			"Sets which local account a person's jobs run as on this node, or that they do not run."),
		method[Empty, Sharing]("cluster.sharing", ClassRead, "",
			"What this node lends."),
		method[ClusterSetSharingParams, Sharing]("cluster.set_sharing", ClassAdmin, "",
			"Changes what this node lends; what is left out stays."),
	}
}

// ClusterPeersResult is the roster.
type ClusterPeersResult struct {
	// Cluster is its id.
	Cluster ClusterID `json:"cluster"`
	// Members are all who ever were, ordered by when they were added.
	Members []Member `json:"members"`
}

// Member is one line of the roster.
type Member struct {
	// Node is the member.
	Node NodeID `json:"node"`
	// ShortName is for people.
	ShortName string `json:"short_name"`
	// AddedBy is who added it; itself where it began the cluster.
	AddedBy NodeID `json:"added_by"`
	// AddedAt is when, by that node's clock.
	AddedAt Time `json:"added_at"`
	// RemovedBy is who removed it; absent for a member.
	RemovedBy NodeID `json:"removed_by,omitempty"`
	// RemovedAt is when, by that node's clock.
	RemovedAt Time `json:"removed_at,omitzero"`
}

// ClusterPairParams opens or closes Add a Mac.
type ClusterPairParams struct {
	// Close ends it before its time.
	Close bool `json:"close,omitempty"`
}

// ClusterPairResult is the code.
type ClusterPairResult struct {
	// Code is what is typed on the other Mac, two groups of four; absent where it was closed.
	Code string `json:"code,omitempty"`
	// ExpiresAt is when it stops to count.
	ExpiresAt Time `json:"expires_at,omitzero"`
	// TriesLeft counts the wrong codes that are still allowed.
	TriesLeft int `json:"tries_left"`
}

// ClusterJoinParams says whom to join, and what is lent to whom there.
type ClusterJoinParams struct {
	// Node is the Mac that shows the code, as discovery found it; absent with an invitation, or where there is one only.
	Node NodeID `json:"node,omitempty"`
	// Address is where that Mac is, host or host:port, where discovery does not find it.
	Address string `json:"address,omitempty"`
	// Code is the code that it shows.
	Code string `json:"code,omitempty"`
	// Invite is an invitation.
	Invite string `json:"invite,omitempty"`
	// Account is as which local account the cluster's jobs may run here; empty = nobody's may.
	Account string `json:"account,omitempty"`
	// RDMAChanges says who may change RDMA at this end of a cable; empty = nobody.
	RDMAChanges ChangeSharing `json:"rdma_changes,omitempty"`
}

// ClusterJoinResult is the cluster joined.
type ClusterJoinResult struct {
	// Cluster is its id.
	Cluster ClusterID `json:"cluster"`
	// Members are its members.
	Members []Member `json:"members"`
}

// ClusterAnswerParams is a person's answer.
type ClusterAnswerParams struct {
	// Node is the Mac that asks.
	Node NodeID `json:"node"`
	// State is ignored, later or asking; empty with Code.
	State PendingState `json:"state,omitempty"`
	// Code is the one that the asking Mac shows; with it that Mac is added.
	Code string `json:"code,omitempty"`
	// Account is as which local account its people's jobs may run here; empty = nobody's may.
	Account string `json:"account,omitempty"`
}

// ClusterInviteParams says how long it counts.
type ClusterInviteParams struct {
	// ValidS is how long; 0 = an hour.
	ValidS float64 `json:"valid_s,omitempty"`
}

// ClusterInviteResult is the invitation.
type ClusterInviteResult struct {
	// Invite is the line to give to `fulmen join --invite -`.
	Invite string `json:"invite"`
	// ExpiresAt is when it stops to count.
	ExpiresAt Time `json:"expires_at"`
}

// ClusterRemoveParams says whom to remove.
type ClusterRemoveParams struct {
	// Nodes are the members.
	Nodes []NodeRef `json:"nodes"`
	// DryRun only says whom they had added.
	DryRun bool `json:"dry_run,omitempty"`
}

// ClusterRemoveResult is who is gone.
type ClusterRemoveResult struct {
	// Removed are the members removed.
	Removed []NodeID `json:"removed"`
	// Invited are the remaining members whom they had added, to be looked at.
	Invited []NodeID `json:"invited,omitempty"`
}

// ClusterUsersResult is the map.
type ClusterUsersResult struct {
	// Users are the people, ordered by node and name, then the nodes, then all members.
	Users []MappedUser `json:"users"`
}

// MappedUser is one line of the map: of a person, of all people of one member,
// or of all members. The line that says most closely who is meant counts.
type MappedUser struct {
	// Principal is the person; absent where the line is of more than one.
	Principal Principal `json:"principal,omitzero"`
	// Node is the member all of whose people are meant.
	Node NodeID `json:"node,omitempty"`
	// Members says that all people of all members are meant.
	Members bool `json:"members,omitempty"`
	// Account is the local account; absent for callers who are not admins.
	Account string `json:"account,omitempty"`
	// Nobody says that there is none: an exception from a wider line.
	Nobody bool `json:"nobody,omitempty"`
	// MaxPriority is how far the priority of their jobs counts here against those of others, from 0 to MaxPriority.
	MaxPriority int `json:"max_priority,omitempty"`
}

// ClusterMapUserParams changes one line of the map. One of Principal, Node and
// Members says whose it is.
type ClusterMapUserParams struct {
	// Principal is the person.
	Principal Principal `json:"principal,omitzero"`
	// Node is the member all of whose people are meant.
	Node NodeID `json:"node,omitempty"`
	// Members means all people of all members.
	Members bool `json:"members,omitempty"`
	// Account is the local account, never root; empty = none, also where a wider line has one.
	Account string `json:"account"`
	// MaxPriority is how far the priority of their jobs counts here against those of others, from 0 to MaxPriority.
	MaxPriority int `json:"max_priority,omitempty"`
	// Forget takes the line away, so that a wider one counts again.
	Forget bool `json:"forget,omitempty"`
}

// ClusterSetSharingParams changes what is lent; absent fields stay as they are.
type ClusterSetSharingParams struct {
	// Jobs is Sharing.Jobs.
	Jobs JobSharing `json:"jobs,omitempty"`
	// JobsFrom is Sharing.JobsFrom.
	JobsFrom []Principal `json:"jobs_from,omitzero"`
	// Models is Sharing.Models.
	Models ModelSharing `json:"models,omitempty"`
	// RDMAChanges is Sharing.RDMAChanges.
	RDMAChanges ChangeSharing `json:"rdma_changes,omitempty"`
	// OnlyOnPower is Sharing.OnlyOnPower.
	OnlyOnPower *bool `json:"only_on_power,omitempty"`
	// OnlyWhenIdle is Sharing.OnlyWhenIdle.
	OnlyWhenIdle *bool `json:"only_when_idle,omitempty"`
	// IdleAfterS is Sharing.IdleAfterS.
	IdleAfterS *float64 `json:"idle_after_s,omitempty"`
	// MemoryMaxBytes is Sharing.MemoryMaxBytes; 0 = the GPU's working set.
	MemoryMaxBytes *int64 `json:"memory_max_bytes,omitempty"`
	// KeepAwake is Sharing.KeepAwake.
	KeepAwake *bool `json:"keep_awake,omitempty"`
}
