package show

import (
	"fmt"
	"io"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Nodes writes a table of the nodes, and the totals where there are several.
func (v View) Nodes(w io.Writer, list api.NodeListResult, docs []api.Document) error {
	heading := []string{"NAME", "ID", "STATE", "MEMORY", "GPU", "CHIP"}
	if v.Wide {
		heading = append(heading, "SYSTEM", "MLX", "SINCE", "PATHS (RTT/2)")
	}
	table := text.NewTable(heading...)
	for _, n := range list.Nodes {
		f := facts{v, n.Node, docs}
		var identity api.Identity
		doc, _ := f.read(api.KindIdentity, &identity)
		name := n.ShortName
		if n.Self {
			name += " *"
		}
		row := []string{name, n.Node.Display(), join(" ", v.state(n), simulated(n.Simulated)), join(", ", f.memory(), stale(n)), f.gpuShort(), f.or(identity.Chip, doc, "chip")}
		if v.Wide {
			row = append(row, f.system(identity, doc), f.mlx(identity, doc), n.Since.String(), v.pathsTo(n))
		}
		table.Row(row...)
	}
	if err := table.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", totals(list.Totals))
	return err
}

// state is whether a node is reached; of one that is not, for how long, and why.
func (v View) state(n api.NodeView) string {
	if n.Liveness == api.LivenessAlive || n.Liveness == "" {
		return string(n.Liveness)
	}
	since := ""
	if !n.Since.IsZero() {
		since = text.Duration(max(0, v.Now.Sub(n.Since.Time)).Truncate(time.Second))
	}
	return join(": ", join(" ", string(n.Liveness), since), strings.TrimSuffix(n.Message, "."))
}

// isCurrent reports whether what a node says of itself is still so.
func isCurrent(n api.NodeView) bool { return n.Liveness.Reached() || n.Liveness == "" }

// stale marks what a node said last that is not reached now.
func stale(n api.NodeView) string {
	if isCurrent(n) {
		return ""
	}
	return "stale"
}

func (f facts) gpuShort() string {
	var p api.GPUProfile
	doc, found := f.read(api.KindGPUProfile, &p)
	switch {
	case !found || p.MeasuredAt.IsZero():
		return "not measured"
	case p.FP16TFLOPS == nil:
		return f.unknown(doc, "fp16_tflops")
	}
	return text.TFLOPS(*p.FP16TFLOPS)
}

func totals(t api.Totals) string {
	nodes := fmt.Sprintf("%d of %d nodes", t.Nodes, t.Members)
	if t.Members == 1 {
		nodes = "One node"
	}
	memory, compute, bandwidth, power := "memory "+text.Unknown, "", "", ""
	if t.MemoryTotalBytes != nil {
		memory = text.Bytes(*t.MemoryTotalBytes) + " of memory"
	}
	if t.FP16TFLOPS != nil {
		compute = text.TFLOPS(*t.FP16TFLOPS)
	}
	if t.MemoryBytesPerS != nil {
		bandwidth = text.BytesPerS(float64(*t.MemoryBytesPerS))
	}
	speed := join(", ", compute, bandwidth)
	if speed != "" && t.MeasuredNodes < t.Nodes {
		speed += fmt.Sprintf(" (%d measured)", t.MeasuredNodes)
	}
	if t.PowerWatts != nil {
		power = fmt.Sprintf("%.0f W", *t.PowerWatts)
		if t.PowerNodes < t.Nodes {
			power += fmt.Sprintf(" (of %d)", t.PowerNodes)
		}
	}
	return join(", ", nodes, memory, speed, power, simulated(t.Simulated)) + "."
}

// Node writes one node: its lines and which documents there are.
func (v View) Node(w io.Writer, n api.NodeGetResult) error {
	table := text.NewTable()
	for _, line := range (facts{v, n.Node.Node, n.Docs}).machine(n.Node) {
		table.Row(line[0], line[1])
	}
	told := Changes{View: v}
	told.Begin(n.Docs)
	for _, p := range portsOf(n.Docs) {
		table.Row("port "+p.value.Receptacle.String(), join(": ", p.value.Place, told.state(p.doc)))
	}
	table.Row("state", join(", ", v.state(n.Node), stale(n.Node)))
	for i, p := range n.Node.Paths {
		heading := ""
		if i == 0 {
			heading = "paths"
		}
		table.Row(heading, v.path(p))
	}
	if err := table.Write(w); err != nil {
		return err
	}
	if !v.Wide {
		return nil
	}
	fmt.Fprintln(w)
	return v.documents(w, n.Docs)
}

// documents lists documents with what they say.
func (v View) documents(w io.Writer, docs []api.Document) error {
	table := text.NewTable("KIND", "NAME", "READ", "SAYS")
	for _, d := range docs {
		table.Row(string(d.Kind), d.Name, text.Ago(v.Now, d.At.Time), v.Summary(d))
	}
	return table.Write(w)
}

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
