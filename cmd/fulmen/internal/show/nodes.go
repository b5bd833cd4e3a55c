package show

import (
	"fmt"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Nodes writes a table of the nodes, and the totals where there are several.
func (v View) Nodes(w *Page, list api.NodeListResult, docs []api.Document) {
	table := v.table("NAME", "ID", "STATE", "MEMORY", "GPU", "CHIP", "+SYSTEM", "+MLX", "+SINCE", "+PATHS (RTT/2)")
	table.Less("ID", "CHIP", "GPU")
	for _, n := range list.Nodes {
		f := facts{v, n.Node, docs}
		var identity api.Identity
		doc, _ := f.read(api.KindIdentity, &identity)
		name := n.ShortName + choose(n.Self, " *", "")
		table.Row(name, n.Node.Display(), v.state(n), join(", ", f.memory(), stale(n)), f.gpuShort(),
			f.or(identity.Chip, doc, "chip"), f.system(identity, doc), f.mlx(identity, doc), n.Since.String(), v.pathsTo(n))
		table.Mark("STATE", simulated(n.Simulated))
	}
	w.Table(table)
	fmt.Fprintf(w, "\n%s\n", totals(list.Totals))
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

// stale marks what a node said last that is not reached now.
func stale(n api.NodeView) string {
	return choose(n.Liveness.Reached() || n.Liveness == "", "", "stale")
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
		memory = text.Bytes(*t.MemoryTotalBytes) + " of " + api.GPUMemoryUnified.Noun()
	} else if t.OtherMemory != nil {
		memory = ""
	}
	memory = join(", ", memory, join(", ", t.OtherMemoryWords(text.Bytes)...))
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
		power = text.Fixed(*t.PowerWatts, 0) + " W"
		if t.PowerNodes < t.Nodes {
			power += fmt.Sprintf(" (of %d)", t.PowerNodes)
		}
	}
	return join(", ", nodes, memory, speed, power, simulated(t.Simulated)) + "."
}

// Node writes one node: its lines and which documents there are. What is plugged in there
// is as the cluster's topology has it.
func (v View) Node(w *Page, n api.NodeGetResult, t Topology) {
	table := text.NewTable()
	for _, line := range (facts{v, n.Node.Node, n.Docs}).machine(n.Node) {
		table.Row(line[0], line[1])
	}
	wires := newWiring(NamesOf(t.Nodes), t.Docs, t.Links.Cables)
	for _, p := range portsOf(n.Docs) {
		heading, place := "port "+p.value.PortNumber.String(), p.value.Place
		lines := wires.plugs(p)
		for i := range lines {
			lines[i].what = "-> " + lines[i].what
		}
		if len(lines) == 0 {
			lines = []plug{{what: v.unplugged(p)}}
		}
		for _, line := range lines {
			table.Row(heading, join(", ", join(": ", place, line.what), line.speed, lineNote(line), lastReported(p.doc)))
			heading, place = "", ""
		}
	}
	table.Row("state", join(", ", v.state(n.Node), stale(n.Node)))
	for _, d := range n.Docs {
		var c api.Condition
		if d.Kind == api.KindCondition && stale(n.Node) == "" && d.Decode(&c) == nil {
			table.Row(string(c.Severity), join(" ", c.Text, c.Remedy))
		}
	}
	for i, p := range n.Node.Paths {
		heading := ""
		if i == 0 {
			heading = "paths"
		}
		table.Row(heading, v.path(p))
	}
	w.Table(table)
	if !v.Wide {
		return
	}
	fmt.Fprintln(w)
	v.documents(w, n.Docs)
}

// documents lists documents with what they say.
func (v View) documents(w *Page, docs []api.Document) {
	table := text.NewTable("KIND", "NAME", "READ", "SAYS")
	for _, d := range docs {
		table.Row(string(d.Kind), d.Name, text.Ago(v.Now, d.At.Time), v.Summary(d))
	}
	w.Table(table)
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
func (v View) Peers(w *Page, p Peers, all bool) {
	views := map[api.NodeID]api.NodeView{}
	for _, n := range p.Nodes.Nodes {
		views[n.Node] = n
	}
	called := p.Called()
	table := text.NewTable("NAME", "ID", "STATE", "PATHS (RTT/2)", "ADDED").Less("ID", "ADDED")
	members, removed := 0, 0
	for _, m := range p.Peers.Members {
		if m.RemovedBy != "" {
			removed++
			if all {
				table.Row(m.ShortName, m.Node.Display(), "removed "+text.Ago(v.Now, m.RemovedAt.Time)+" by "+called.Of(m.RemovedBy), none, v.added(m, called))
			}
			continue
		}
		members++
		n, known := views[m.Node]
		state := text.Unknown
		if known {
			state = v.state(n)
		}
		name := called.Of(m.Node)
		if n.Self {
			name += " *"
		}
		table.Row(name, m.Node.Display(), state, v.pathsTo(n), v.added(m, called))
		table.Mark("STATE", simulated(n.Simulated))
	}
	w.Table(table)
	fmt.Fprintf(w, "\n%s\n", peerCount(members, removed, all))
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
func (v View) added(m api.Member, n Names) string {
	when := text.Ago(v.Now, m.AddedAt.Time)
	if m.AddedBy == m.Node {
		return "began the cluster " + when
	}
	return "by " + n.Of(m.AddedBy) + " " + when
}

// pathsTo are the verified ways to a node, the best first; those that failed are
// left out of narrow screens.
func (v View) pathsTo(n api.NodeView) (out string) {
	for _, p := range n.Paths {
		if p.State != api.PathFailed || v.Wide {
			out = join(", ", out, v.path(p))
		}
	}
	return orNone(out)
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

// Called are the short names of members, also of those that are gone, and of
// nodes.
func (p Peers) Called() Names {
	out := Names{}
	for _, m := range p.Peers.Members {
		out[m.Node] = m.ShortName
	}
	for _, n := range p.Nodes.Nodes {
		if n.ShortName != "" {
			out[n.Node] = n.ShortName
		}
	}
	return out
}

// Members writes a line for each of some members.
func (v View) Members(w *Page, members []api.Member, called Names) {
	table := text.NewTable()
	for _, m := range members {
		table.Row("", called.Of(m.Node), m.Node.Display(), choose(m.AddedBy == m.Node, "", "added ")+v.added(m, called))
	}
	w.Table(table)
}
