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
	// Jobs is job.list.
	Jobs api.JobListResult `json:"jobs"`
}

// identity is who the node that was asked says it is.
func (s Status) identity() api.Identity {
	var identity api.Identity
	facts{node: Self(s.Nodes.Nodes).Node, docs: s.State.Docs}.read(api.KindIdentity, &identity)
	return identity
}

// Started is when the daemon started; the zero time where that is not known.
func (s Status) Started() time.Time { return s.identity().StartedAt.Time }

// Status writes how the cluster is, the daemon, its node, the cluster if there is one, what
// runs, and what else is wrong.
func (v View) Status(w *Page, s Status) {
	if h := s.Conditions.Headline; h.Text != "" {
		w.Line(h.Text)
		if h.Worst != nil {
			for _, line := range v.aboutCondition(*h.Worst, true) {
				w.Line("  " + line)
			}
		}
		fmt.Fprintln(w)
	}
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
	if s.Nodes.Totals.Members > 1 {
		fmt.Fprintln(w)
		v.Nodes(w, s.Nodes, s.State.Docs)
	}
	if jobs := s.Jobs.Jobs; len(jobs) > 0 {
		fmt.Fprintln(w)
		v.Jobs(w, jobs, false, NamesOf(s.Nodes.Nodes))
	}
	if rest := slices.DeleteFunc(slices.Clone(s.Conditions.Conditions), s.Conditions.Headline.IsAbout); len(rest) > 0 {
		fmt.Fprintln(w)
		v.Conditions(w, rest, NamesOf(s.Nodes.Nodes))
	}
}

// aboutCondition is what follows the text of a condition, a line each.
func (v View) aboutCondition(c api.NodeCondition, withAction bool) (lines []string) {
	if c.Remedy != "" {
		lines = append(lines, c.Remedy)
	}
	if withAction && c.Action != nil && c.Action.Kind == api.ActionCommand {
		lines = append(lines, c.Action.Label+": "+c.Action.Target)
	}
	if v.Wide {
		lines = append(lines, join(" ", string(c.Code), c.Subject)+", since "+c.Since.String())
	}
	return lines
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

// Conditions writes what is wrong, if anything is, as the daemon words it.
func (v View) Conditions(w *Page, all []api.NodeCondition, n Names) {
	w.Line(choose(len(all) == 1, "One thing to know:", fmt.Sprintf("%d things to know:", len(all))))
	table := text.NewTable()
	for _, c := range all {
		where := ""
		if name := n.Of(c.Node); len(n) > 1 && !strings.Contains(c.Text, name) {
			where = name + ": "
		}
		table.Row("", string(c.Severity), where+c.Text)
		for _, line := range v.aboutCondition(c, false) {
			table.Row("", "", line)
		}
	}
	w.Table(table)
}
