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
