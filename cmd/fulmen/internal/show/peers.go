package show

import (
	"fmt"
	"io"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Peers is what fulmen peers shows. In JSON each field is the result of the
// method that its comment names.
type Peers struct {
	// Peers is cluster.peers.
	Peers api.ClusterPeersResult `json:"peers"`
	// Nodes is node.list.
	Nodes api.NodeListResult `json:"nodes"`
}

// Peers writes the roster with what is known of each member now; with removed
// ones only if all are wanted.
func (v View) Peers(w io.Writer, p Peers, all bool) error {
	views := map[api.NodeID]api.NodeView{}
	for _, n := range p.Nodes.Nodes {
		views[n.Node] = n
	}
	called := names(Names(p.Peers.Members, p.Nodes.Nodes))
	table := text.NewTable("NAME", "ID", "STATE", "PATHS (RTT/2)", "ADDED")
	members, removed := 0, 0
	for _, m := range p.Peers.Members {
		if m.RemovedBy != "" {
			removed++
			if all {
				table.Row(m.ShortName, m.Node.Display(), "removed "+text.Ago(v.Now, m.RemovedAt.Time)+" by "+called.of(m.RemovedBy), none, v.added(m, called))
			}
			continue
		}
		members++
		n, known := views[m.Node]
		state := text.Unknown
		if known {
			state = v.state(n)
		}
		name := called.of(m.Node)
		if n.Self {
			name += " *"
		}
		table.Row(name, m.Node.Display(), join(" ", state, simulated(n.Simulated)), v.pathsTo(n), v.added(m, called))
	}
	if err := table.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", peerCount(members, removed, all))
	return err
}

func peerCount(members, removed int, all bool) string {
	out := fmt.Sprintf("%d members", members)
	if members == 1 {
		out = "One member; add another with: fulmen pair"
	}
	if removed > 0 && !all {
		return fmt.Sprintf("%s. %d removed; --all shows them.", out, removed)
	}
	return strings.TrimSuffix(out, ".") + "."
}

// added is who added a member, and when.
func (v View) added(m api.Member, n names) string {
	when := text.Ago(v.Now, m.AddedAt.Time)
	if m.AddedBy == m.Node {
		return "began the cluster " + when
	}
	return "by " + n.of(m.AddedBy) + " " + when
}

// pathsTo are the verified ways to a node, the best first; those that failed are
// left out of narrow screens.
func (v View) pathsTo(n api.NodeView) string {
	var out []string
	for _, p := range n.Paths {
		if p.State == api.PathFailed && !v.Wide {
			continue
		}
		out = append(out, v.path(p))
	}
	return orNone(strings.Join(out, ", "))
}

// path is one way to a node.
func (v View) path(p api.PathView) string {
	out := join(" ", kindWord(p.Kind), p.Interface)
	if p.RTTUS != nil {
		out += " " + half(p.RTTUS)
	}
	if v.Wide {
		out += " to " + p.Address.Address.String()
	}
	if p.State != api.PathActive {
		out += " (" + string(p.State) + ")"
	}
	return out
}

// Names are the short names of members, also of those that are gone, and of
// nodes.
func Names(members []api.Member, nodes []api.NodeView) map[api.NodeID]string {
	out := names{}
	for _, m := range members {
		out[m.Node] = m.ShortName
	}
	for _, n := range nodes {
		if n.ShortName != "" {
			out[n.Node] = n.ShortName
		}
	}
	return out
}

// Members writes a line for each of some members.
func (v View) Members(w io.Writer, members []api.Member, called map[api.NodeID]string) error {
	table := text.NewTable()
	for _, m := range members {
		how := v.added(m, called)
		if m.AddedBy != m.Node {
			how = "added " + how
		}
		table.Row("", names(called).of(m.Node), m.Node.Display(), how)
	}
	return table.Write(w)
}
