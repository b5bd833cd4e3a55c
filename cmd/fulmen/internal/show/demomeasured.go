package show

import (
	"fmt"
	"io"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

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
