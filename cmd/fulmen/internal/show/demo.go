package show

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/demo"
	"fulmen/daemon/api"
)

// maxMissing is how much of what is missing is shown.
const maxMissing = 3

// Demo writes a simulated cluster as its Macs see it.
func (v View) Demo(w *Page, s demo.State) {
	table := text.NewTable("MAC", "ID", "STATE", "SEEN BY", "MEMORY", "GPU", "PATHS").Less("ID", "GPU", "SEEN BY", "MEMORY")
	for _, n := range s.Nodes {
		state := cmp.Or(string(n.Liveness), "starting")
		if n.Ended != "" {
			state = join(", ", string(n.Liveness), "its daemon ended: "+n.Ended)
		}
		memory := text.Unknown
		if n.Memory != nil {
			memory = v.memoryOf(*n.Memory, api.GPUMemoryUnified, api.Document{})
		}
		gpu := none
		if n.GPU != nil {
			gpu = given(n.GPU.FP16TFLOPS, text.TFLOPS)
		}
		table.Row(n.Mac, n.ID.Display(), state, fmt.Sprintf("%d of %d", n.SeenBy, len(s.Nodes)-1), memory, gpu, orNone(pathCounts(n.Paths)))
	}
	w.Table(table)
	fmt.Fprintf(w, "\n%s SIMULATED.\n", text.Clean(demoVerdict(s)))
}

// demoVerdict says whether all is as it will be, and what is missing.
func demoVerdict(s demo.State) string {
	if len(s.Missing) == 0 {
		if len(s.Nodes) == 1 {
			return "One Mac, and its state is known."
		}
		return fmt.Sprintf("%d Macs are one cluster, and each sees the state of all the others.", len(s.Nodes))
	}
	some := s.Missing[:min(len(s.Missing), maxMissing)]
	more := ""
	if rest := len(s.Missing) - len(some); rest > 0 {
		more = fmt.Sprintf("; and %d more", rest)
	}
	return "Not yet: " + strings.Join(some, "; ") + more + "."
}

// pathCounts counts paths by what they are made of: 3 TB5, 3 Ethernet.
func pathCounts(paths map[api.LinkKind]int) string {
	kinds := slices.SortedFunc(maps.Keys(paths), func(a, b api.LinkKind) int {
		return cmp.Or(cmp.Compare(paths[b], paths[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("%d %s", paths[k], kindWord(k)))
	}
	return strings.Join(out, ", ")
}

// DemoMeasured writes what the Macs of a simulated cluster give.
func (v View) DemoMeasured(w *Page, nodes api.NodeListResult, list api.LinkListResult) {
	list.Rows = v.ways(list, nodes.Nodes)
	v.measuredPaths(w, list, nodes.Nodes, NamesOf(nodes.Nodes))
	t := nodes.Totals
	if t.FP16TFLOPS == nil || t.MemoryBytesPerS == nil {
		return
	}
	fmt.Fprintf(w, "\n%s\n", text.Clean(fmt.Sprintf("%s: %s fp16, %s of memory bandwidth. %s", text.Count(t.MeasuredNodes, "GPU"),
		text.TFLOPS(*t.FP16TFLOPS), text.BytesPerS(float64(*t.MemoryBytesPerS)), simulated(t.Simulated))))
}
