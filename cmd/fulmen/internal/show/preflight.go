package show

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// alwaysShown are the versions that matter to every job.
func alwaysShown() []string { return []string{"python", "mlx", "mlx_lm"} }

// Preflight writes what each node has of what a program needs, with a mark at
// what is not as on most nodes, and what is missing.
func (v View) Preflight(w io.Writer, p api.JobPreflightResult, called map[api.NodeID]string) error {
	if len(p.Nodes) == 0 {
		_, err := fmt.Fprintln(w, "No node was asked.")
		return err
	}
	n := names(called)
	versions := v.versions(p.Nodes)
	heading := append([]string{"NODE", "FOLDER", "INTERPRETER"}, versions...)
	table := text.NewTable(append(heading, "DISK FREE")...)
	marked := false
	for _, node := range p.Nodes {
		row := []string{n.of(node.Node), orNone(node.Directory), orNone(node.Interpreter)}
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
	if err := table.Write(w); err != nil {
		return err
	}
	if marked {
		fmt.Fprintln(w, "\n! marks what differs.")
	}
	for _, node := range p.Nodes {
		if err := causes(w, text.Clean(n.of(node.Node))+":", node.Problems); err != nil {
			return err
		}
	}
	if err := causes(w, "What would stop the program:", p.Differences); err != nil {
		return err
	}
	if err := causes(w, "To know:", p.Notes); err != nil {
		return err
	}
	if len(p.Differences)+len(p.Notes) > 0 || slices.ContainsFunc(p.Nodes, func(x api.Preflight) bool { return len(x.Problems) > 0 }) {
		return nil
	}
	_, err := fmt.Fprintln(w, "\nNothing is in the way.")
	return err
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
