package show

import (
	"cmp"
	"fmt"
	"io"
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
func (v View) Demo(w io.Writer, s demo.State) error {
	table := text.NewTable("MAC", "ID", "STATE", "SEEN BY", "MEMORY", "GPU", "PATHS")
	for _, n := range s.Nodes {
		state := cmp.Or(string(n.Liveness), "starting")
		if n.Ended != "" {
			state = join(", ", string(n.Liveness), "its daemon ended: "+n.Ended)
		}
		memory := text.Unknown
		if n.Memory != nil {
			memory = v.memoryOf(*n.Memory, api.Document{})
		}
		table.Row(n.Mac, n.ID.Display(), state, fmt.Sprintf("%d of %d", n.SeenBy, len(s.Nodes)-1), memory, demoGPU(n.GPU), orNone(pathCounts(n.Paths)))
	}
	if err := table.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s SIMULATED.\n", text.Clean(demoVerdict(s)))
	return err
}

// demoGPU is what was measured of a GPU.
func demoGPU(p *api.GPUProfile) string {
	if p == nil || p.FP16TFLOPS == nil {
		return none
	}
	return text.TFLOPS(*p.FP16TFLOPS)
}

// demoVerdict says whether all is as it will be, and what is missing.
func demoVerdict(s demo.State) string {
	if len(s.Missing) == 0 {
		if len(s.Nodes) == 1 {
			return "One Mac, whose state is known."
		}
		return fmt.Sprintf("%d Macs are one cluster, and each sees the state of all.", len(s.Nodes))
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
func (v View) DemoMeasured(w io.Writer, nodes api.NodeListResult, list api.LinkListResult) error {
	if err := v.measuredPaths(w, list, nodes.Nodes, namesOf(nodes.Nodes)); err != nil {
		return err
	}
	t := nodes.Totals
	if t.FP16TFLOPS == nil || t.MemoryBytesPerS == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s\n", text.Clean(fmt.Sprintf("%s: %s fp16, %s of memory bandwidth. %s", count(t.MeasuredNodes, "GPU"),
		text.TFLOPS(*t.FP16TFLOPS), text.BytesPerS(float64(*t.MemoryBytesPerS)), simulated(t.Simulated))))
	return err
}
