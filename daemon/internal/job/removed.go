package job

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// MembersRemoved follows the removal of nodes from the cluster: the jobs of their
// people end, and what ran there counts as lost. Homes that were removed are
// replaced as those are that went away.
func (j *Jobs) MembersRemoved(nodes []api.NodeID) {
	for _, a := range j.actors() {
		a.post(func() { a.membersRemoved(nodes) })
	}
}

func (a *actor) membersRemoved(nodes []api.NodeID) {
	if a.state.Role != phase.RoleHome {
		return
	}
	if slices.Contains(nodes, a.spec.Principal.Node) {
		a.event(phase.StopAsked{By: a.spec.Principal, Reason: api.ReasonRemoved})
		return
	}
	for _, n := range nodes {
		a.event(phase.NodeLost{Node: n, Cause: phase.Cause{Reason: api.ReasonRemoved, WaitingFor: "node " + a.j.name(n),
			Message: a.j.name(n) + " was removed from the cluster."}})
	}
}
