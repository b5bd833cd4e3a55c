package show

import (
	"fmt"
	"io"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Profiles writes what a measurement found, for each of its subjects that has
// a result.
func (v View) Profiles(w io.Writer, m api.Measurement, docs []api.Document) error {
	for _, item := range m.Items {
		var p api.GPUProfile
		doc, found := facts{v, item.Document.Node, docs}.read(api.KindGPUProfile, &p)
		if !found || item.State != api.MeasureDone {
			continue
		}
		if err := v.result(w, p, doc); err != nil {
			return err
		}
	}
	return nil
}

// Measured writes the paths that a measurement was about.
func (v View) Measured(w io.Writer, m api.Measurement, list api.LinkListResult, nodes []api.NodeView) error {
	of := map[api.Key]bool{}
	for _, item := range m.Items {
		of[item.Document] = true
	}
	var rows []api.LinkRow
	for _, r := range list.Rows {
		if of[api.Key{Node: r.From, Kind: api.KindLinkProfile, Name: r.Name}] {
			rows = append(rows, r)
		}
	}
	list.Rows = rows
	return v.measuredPaths(w, list, nodes, namesOf(nodes))
}

func (v View) result(w io.Writer, p api.GPUProfile, doc api.Document) error {
	table := text.NewTable()
	table.Row("node", join("  ", doc.Node.Display(), simulated(doc.Simulated)))
	device := join(", ", p.DeviceName, string(p.Device))
	table.Row("device", v.or(device, doc, "device"))
	compute := func(what string, tflops *float64, t *api.Timing, field string) {
		if tflops == nil {
			if field == "fp16_tflops" || v.Wide {
				table.Row(what, v.unknown(doc, field))
			}
			return
		}
		table.Row(what, join(", ", text.TFLOPS(*tflops), fmt.Sprintf("%d x %d matrices", p.MatrixSize, p.MatrixSize), spread(t)))
	}
	compute("fp16", p.FP16TFLOPS, p.FP16Timing, "fp16_tflops")
	compute("fp32", p.FP32TFLOPS, p.FP32Timing, "fp32_tflops")
	if p.MemoryBytesPerS == nil {
		table.Row("memory", v.unknown(doc, "memory_bytes_per_s"))
	} else {
		table.Row("memory", join(", ", text.BytesPerS(float64(*p.MemoryBytesPerS)), "sum over "+text.Bytes(p.BufferBytes), spread(p.MemoryTiming)))
	}
	mlx := ""
	if p.Conditions.MLXVersion != "" {
		mlx = "MLX " + p.Conditions.MLXVersion
	}
	blas := p.Conditions.BLAS
	if blas != "" {
		blas = "BLAS " + blas
	}
	source := string(p.Conditions.PowerSource)
	if source != "" {
		source = "on " + source
	}
	heat := string(p.Conditions.ThermalState)
	if heat != "" {
		heat = "thermal state " + heat
	}
	took := ""
	if p.TookS > 0 {
		took = "took " + text.Duration(time.Duration(p.TookS*float64(time.Second)))
	}
	table.Row("under", v.or(join(", ", mlx, blas, source, heat, took), doc, "conditions"))
	return table.Write(w)
}

// spread is how well the runs agreed.
func spread(t *api.Timing) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("best of %d, spread %.1f %%", t.Runs, t.SpreadRatio*100)
}
