package show

import (
	"fmt"
	"io"
	"slices"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Status is what fulmen status shows. In JSON each field is the result of the
// method that its comment names.
type Status struct {
	// Info is daemon.info; absent where it was not asked for.
	Info *api.DaemonInfoResult `json:"info,omitempty"`
	// Nodes is node.list.
	Nodes api.NodeListResult `json:"nodes"`
	// Conditions is node.conditions.
	Conditions api.NodeConditionsResult `json:"conditions"`
	// State is state.get of the kinds identity, memory, gpu-profile and thunderbolt.
	State api.StateGetResult `json:"state"`
	// Links is link.list; absent where the daemon does not have it.
	Links *api.LinkListResult `json:"links,omitempty"`
}

// self is the node that was asked.
func (s Status) self() api.NodeView {
	for _, n := range s.Nodes.Nodes {
		if n.Self {
			return n
		}
	}
	return api.NodeView{}
}

// identity is who the node that was asked says it is.
func (s Status) identity() api.Identity {
	var identity api.Identity
	facts{node: s.self().Node, docs: s.State.Docs}.read(api.KindIdentity, &identity)
	return identity
}

// Started is when the daemon started; the zero time where that is not known.
func (s Status) Started() time.Time { return s.identity().StartedAt.Time }

// Status writes the daemon, its node, the cluster if there is one, and what is
// wrong.
func (v View) Status(w io.Writer, s Status) error {
	identity := s.identity()
	started := ""
	if !identity.StartedAt.IsZero() {
		started = ", started " + text.Ago(v.Now, identity.StartedAt.Time)
	}
	version := join(" ", "Fulmen", identity.FulmenVersion)
	if _, err := fmt.Fprintf(w, "%s is running%s.\n\n", text.Clean(version), started); err != nil {
		return err
	}
	table := text.NewTable()
	for _, line := range (facts{v, s.self().Node, s.State.Docs}).machine(s.self()) {
		table.Row("", line[0], line[1])
	}
	if ports := s.ports(); ports != "" {
		table.Row("", "ports", ports)
	}
	if s.Info != nil {
		table.Row("", "cluster", string(s.Info.Cluster))
		table.Row("", "daemon", fmt.Sprintf("%s mode, pid %d", s.Info.Mode, s.Info.PID))
		table.Row("", "API", s.Info.APIURL)
		table.Row("", "socket", s.Info.Socket)
		table.Row("", "state", s.Info.StateFolder)
	}
	if err := table.Write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if s.Nodes.Totals.Members > 1 {
		if err := v.Nodes(w, s.Nodes, s.State.Docs); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return v.Conditions(w, s.Conditions.Conditions, namesOf(s.Nodes.Nodes))
}

// ports counts the Thunderbolt ports of the node that was asked, and the cables
// in them; empty where it has none.
func (s Status) ports() string {
	all, connected := 0, 0
	for _, p := range portsOf(s.State.Docs) {
		if p.doc.Node != s.self().Node {
			continue
		}
		if all++; isSet(p.value.Connected) {
			connected++
		}
	}
	switch {
	case all == 0:
		return ""
	case s.Links == nil:
		return fmt.Sprintf("%d Thunderbolt, %d in use", all, connected)
	}
	var own []api.Cable
	for _, c := range s.Links.Cables {
		if slices.ContainsFunc(c.Ends, func(e api.CableEnd) bool { return e.End.Node == s.self().Node }) {
			own = append(own, c)
		}
	}
	return fmt.Sprintf("%d Thunderbolt, %d in use, %s", all, connected, cableCounts(own))
}
