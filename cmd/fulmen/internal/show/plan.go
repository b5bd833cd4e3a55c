package show

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Plan writes where a job would run; or for each set of nodes the first thing
// that stops it, and what would help.
func (v View) Plan(w *Page, p api.JobPlanResult, n Names) {
	if p.Plan != nil {
		v.planned(w, *p.Plan, n)
		return
	}
	w.Line("No set of Macs can run it now.")
	if len(p.Rejections) > 0 {
		table := text.NewTable("NODES", "BACKEND", "WHAT STOPS IT")
		for _, r := range p.Rejections {
			table.Row(orNone(n.List(r.Nodes)), orNone(string(r.Backend)), explained(r.Reason, r.Message))
		}
		w.Line("")
		w.Table(table)
		if p.MaxNodes > 0 {
			fmt.Fprintf(w, "These have the fewest nodes that will do; no set of up to %d can run it either.\n", p.MaxNodes)
		}
	}
	causes(w, "What would help:", p.Remedies)
	if l := p.Line; l != nil {
		fmt.Fprintf(w, "\nIt would be number %d in line.\n", l.Position)
		v.inLine(w, "Before it, by priority and age:", l.Before, n)
		v.inLine(w, "It would end these, which come back:", l.Preempts, n)
	}
}

// inLine writes jobs of the line under a heading.
func (v View) inLine(w *Page, heading string, all []api.LineJob, n Names) {
	if len(all) == 0 {
		return
	}
	table := text.NewTable("JOB", "NAME", "PRIORITY", "SINCE", "NODES")
	for _, j := range all {
		table.Row(j.Job.String(), j.Name, strconv.Itoa(j.Priority), text.Ago(v.Now, j.Since.Time), orNone(n.List(j.Nodes)))
	}
	fmt.Fprintf(w, "%s\n%s", heading, table)
}

// causes writes sentences under a heading, with what to do about each.
func causes(w *Page, heading string, all []api.Cause) {
	if len(all) == 0 {
		return
	}
	table := text.NewTable()
	for _, c := range all {
		table.Span("  " + sentence(explained(c.Reason, c.Message)))
		if c.Remedy != "" && !strings.HasSuffix(c.Message, c.Remedy) {
			table.Span("    " + c.Remedy)
		}
	}
	fmt.Fprintf(w, "\n%s\n", heading)
	w.Table(table)
}

// planned writes a plan.
func (v View) planned(w *Page, p api.Plan, n Names) {
	nodes, how := len(p.Nodes()), "one node"
	if nodes != 1 {
		how = strconv.Itoa(nodes) + " nodes"
	}
	if len(p.Ranks) > nodes {
		how = strconv.Itoa(len(p.Ranks)) + " ranks on " + how
	}
	if len(p.Ranks) > 1 {
		how += " over " + string(p.Backend) + ", joined as a " + string(p.Shape)
		if n := p.Cables(); n > 1 {
			how += ", " + strconv.Itoa(n) + " cables each"
		}
	}
	fmt.Fprintf(w, "plan: %s%s%s\n", text.Clean(how), choose(p.Unencrypted, ", unencrypted", ""), choose(p.ProvenBest, "", ", may not be the best"))
	if m := p.Model; m != nil {
		weights := "size of the weights not known"
		if m.WeightsBytes != nil {
			weights = text.Bytes(*m.WeightsBytes) + " of weights"
		}
		fmt.Fprintf(w, "model: %s%s, %s\n", text.Clean(m.Model), text.Clean(choose(m.Revision == "", "", " at "+m.Revision)), weights)
	}
	for _, r := range p.Ranks {
		if r.ModelFrom != "" {
			fmt.Fprintf(w, "       copied to %s from %s first\n", n.Of(r.Node), n.Of(r.ModelFrom))
		}
	}
	heading := []string{"RANK", "NODE", "GPU", "MEMORY", "PORTS"}
	if p.Shares() != nil {
		heading = slices.Insert(heading, 2, "SHARE")
	}
	table := text.NewTable(heading...)
	for _, r := range p.Ranks {
		portNumbers := ""
		for _, x := range r.PortNumbers {
			portNumbers = join(", ", portNumbers, x.String())
		}
		row := []string{strconv.Itoa(r.Rank), n.Of(r.Node), string(r.GPU), join(" ", some(r.MemoryBytes, text.Bytes), choose(r.GPUMemory == "", "", strings.TrimSuffix(r.GPUMemory.Noun(), " memory"))), orNone(portNumbers)}
		if p.Shares() != nil {
			row = slices.Insert(row, 2, strconv.FormatFloat(r.ShareRatio, 'f', -1, 64))
		}
		table.Row(row...)
	}
	w.Table(table)
	if len(p.Links) > 0 {
		fmt.Fprintln(w)
		planLinks(w, p)
	}
	if v.Wide {
		planInputs(w, p, n)
	}
	causes(w, "Good to know:", p.Notes)
}

func planLinks(w *Page, p api.Plan) {
	table := text.NewTable("FROM", "TO", "OVER", "SPEED")
	for _, l := range p.Links {
		speed := text.Unknown
		if l.BitsPerS != nil {
			speed = text.BitsPerS(*l.BitsPerS) + choose(l.Measured, " measured", " negotiated")
		}
		if l.TogetherBitsPerS != nil {
			speed += ", " + text.BitsPerS(*l.TogetherBitsPerS) + " with the others of the pair"
		}
		table.Row("rank "+strconv.Itoa(l.From), "rank "+strconv.Itoa(l.To), kindWord(l.Kind), speed)
	}
	w.Table(table)
}

// planInputs writes the values that counted.
func planInputs(w *Page, p api.Plan, n Names) {
	if len(p.Used) == 0 {
		return
	}
	table := text.NewTable("USED", "OF", "VALUES")
	for _, u := range p.Used {
		facts, _ := json.Marshal(u.Facts) // it came as JSON
		table.Row(join(" ", string(u.Kind), u.Name), n.Of(u.Node), string(facts))
	}
	w.Line("")
	w.Table(table)
}

// alwaysShown are the versions that matter to every job.
func alwaysShown() []string { return []string{"python", "mlx", "mlx_lm"} }

// Preflight writes what each node has of what a program needs, with a mark at
// what is not as on most nodes, and what is missing.
func (v View) Preflight(w *Page, p api.JobPreflightResult, n Names) {
	if len(p.Nodes) == 0 {
		w.Line("There was no node to ask.")
		return
	}
	versions := v.versions(p.Nodes)
	heading := append([]string{"NODE", "FOLDER", "INTERPRETER"}, versions...)
	table := text.NewTable(append(heading, "DISK FREE")...)
	marked := false
	for _, node := range p.Nodes {
		row := []string{n.Of(node.Node), orNone(node.Directory), orNone(node.Interpreter)}
		for _, name := range versions {
			cell := orNone(node.Versions[name])
			if node.Versions[name] != usual(p.Nodes, name) {
				cell, marked = cell+" !", true
			}
			row = append(row, cell)
		}
		free := text.Unknown
		if node.DiskFreeBytes != nil {
			free = text.Bytes(*node.DiskFreeBytes)
		}
		table.Row(append(row, free)...)
	}
	w.Table(table)
	if marked {
		fmt.Fprintln(w, "\n! marks what differs.")
	}
	for _, node := range p.Nodes {
		causes(w, text.Clean(n.Of(node.Node))+":", node.Problems)
	}
	causes(w, "What would stop the program:", p.Differences)
	causes(w, "Good to know:", p.Notes)
	if len(p.Differences)+len(p.Notes) > 0 || slices.ContainsFunc(p.Nodes, func(x api.Preflight) bool { return len(x.Problems) > 0 }) {
		return
	}
	fmt.Fprintln(w, "\nNothing is in the way.")
}

// versions are the names whose versions are shown: on wide screens all, else
// those that always matter and those that differ.
func (v View) versions(nodes []api.Preflight) []string {
	all := map[string]bool{}
	for _, node := range nodes {
		for name := range node.Versions {
			all[name] = true
		}
	}
	out := slices.DeleteFunc(alwaysShown(), func(name string) bool { return !all[name] })
	for _, name := range slices.Sorted(maps.Keys(all)) {
		differs := slices.ContainsFunc(nodes, func(x api.Preflight) bool { return x.Versions[name] != nodes[0].Versions[name] })
		if !slices.Contains(out, name) && (v.Wide || differs) {
			out = append(out, name)
		}
	}
	return out
}

// usual is the version that most nodes have; of several, the first in order of nodes.
func usual(nodes []api.Preflight, name string) string {
	best, most := "", 0
	for _, node := range nodes {
		count := 0
		for _, other := range nodes {
			if other.Versions[name] == node.Versions[name] {
				count++
			}
		}
		if count > most {
			best, most = node.Versions[name], count
		}
	}
	return best
}
