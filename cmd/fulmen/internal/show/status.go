package show

import (
	"fmt"
	"slices"
	"strings"
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
	// Links is link.list.
	Links api.LinkListResult `json:"links"`
}

// identity is who the node that was asked says it is.
func (s Status) identity() api.Identity {
	var identity api.Identity
	facts{node: Self(s.Nodes.Nodes).Node, docs: s.State.Docs}.read(api.KindIdentity, &identity)
	return identity
}

// Started is when the daemon started; the zero time where that is not known.
func (s Status) Started() time.Time { return s.identity().StartedAt.Time }

// Status writes the daemon, its node, the cluster if there is one, and what is
// wrong.
func (v View) Status(w *Page, s Status) {
	identity := s.identity()
	started := ""
	if !identity.StartedAt.IsZero() {
		started = ", started " + text.Ago(v.Now, identity.StartedAt.Time)
	}
	version := join(" ", "Fulmen", identity.FulmenVersion)
	fmt.Fprintf(w, "%s is running%s.\n\n", text.Clean(version), started)
	table := text.NewTable()
	for _, line := range (facts{v, Self(s.Nodes.Nodes).Node, s.State.Docs}).machine(Self(s.Nodes.Nodes)) {
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
	w.Table(table)
	fmt.Fprintln(w)
	if s.Nodes.Totals.Members > 1 {
		v.Nodes(w, s.Nodes, s.State.Docs)
		fmt.Fprintln(w)
	}
	v.Conditions(w, s.Conditions.Conditions, NamesOf(s.Nodes.Nodes))
}

// ports counts the Thunderbolt ports of the node that was asked, and the cables
// in them; empty where it has none.
func (s Status) ports() string {
	all, connected := 0, 0
	for _, p := range portsOf(s.State.Docs) {
		if p.doc.Node != Self(s.Nodes.Nodes).Node {
			continue
		}
		if all++; isSet(p.value.Connected) {
			connected++
		}
	}
	if all == 0 {
		return ""
	}
	var own []api.Cable
	for _, c := range s.Links.Cables {
		if slices.ContainsFunc(c.Ends, func(e api.CableEnd) bool { return e.End.Node == Self(s.Nodes.Nodes).Node }) {
			own = append(own, c)
		}
	}
	return fmt.Sprintf("%d Thunderbolt, %d in use, %s", all, connected, cableCounts(own))
}

// Conditions writes what is wrong, as the daemon words it.
func (v View) Conditions(w *Page, all []api.NodeCondition, n Names) {
	if len(all) == 0 {
		w.Line("Nothing is wrong.")
		return
	}
	w.Line(choose(len(all) == 1, "One thing to know:", fmt.Sprintf("%d things to know:", len(all))))
	table := text.NewTable()
	for _, c := range all {
		where := ""
		if name := n.Of(c.Node); len(n) > 1 && !strings.Contains(c.Text, name) {
			where = name + ": "
		}
		table.Row("", string(c.Severity), where+c.Text)
		if c.Remedy != "" {
			table.Row("", "", c.Remedy)
		}
		if v.Wide {
			table.Row("", "", join(" ", string(c.Code), c.Subject)+", since "+c.Since.String())
		}
	}
	w.Table(table)
}
