package show

import (
	"cmp"
	"fmt"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// machine is the lines about one node.
func (f facts) machine(node api.NodeView) [][2]string {
	var identity api.Identity
	doc, _ := f.read(api.KindIdentity, &identity)
	return [][2]string{
		{"node", join("  ", node.ShortName, node.Node.Display(), simulated(node.Simulated))},
		{"machine", f.hardware(identity, doc)},
		{"system", f.system(identity, doc)},
		{"MLX", f.mlx(identity, doc)},
		{"memory", f.memory()},
		{"GPU", f.gpu()},
	}
}

func simulated(yes bool) string { return choose(yes, "SIMULATED", "") }

func (f facts) hardware(i api.Identity, doc api.Document) string {
	cores := func(n *int, field, what string) string {
		if n == nil {
			if !f.Wide {
				return ""
			}
			return what + " " + f.unknown(doc, field)
		}
		return fmt.Sprintf("%d %s", *n, what)
	}
	return f.or(join(", ", cmp.Or(i.ModelName, i.Model), i.Chip, cores(i.CPUCores, "cpu_cores", "CPU cores"), cores(i.GPUCores, "gpu_cores", "GPU cores")), doc, "chip")
}

func (f facts) system(i api.Identity, doc api.Document) string {
	name := join(" ", i.OSName, i.OSVersion)
	if i.OSBuild != "" && name != "" {
		name += " (" + i.OSBuild + ")"
	}
	return join(", ", f.or(name, doc, "os_version"), i.Architecture)
}

func (f facts) mlx(i api.Identity, doc api.Document) string {
	if i.MLXVersion == "" {
		return f.unknown(doc, "mlx_version")
	}
	return i.MLXVersion + prefixed(" on ", joined(" and ", i.MLXDevices)) + prefixed(", backends ", joined(" ", i.MLXBackends))
}

func (f facts) memory() string {
	var m api.Memory
	var i api.Identity
	doc, _ := f.read(api.KindMemory, &m)
	f.read(api.KindIdentity, &i)
	return f.memoryOf(m, i.GPUMemory, doc)
}

// memoryOf is a node's memory, where it is not unified with what it is.
func (v View) memoryOf(m api.Memory, kind api.GPUMemory, doc api.Document) string {
	var out, of string
	if kind == api.GPUMemoryDedicated || kind == api.GPUMemoryNone {
		of = " " + api.GPUMemoryNone.Noun()
	}
	switch {
	case m.TotalBytes == nil:
		return v.unknown(doc, "total_bytes")
	case m.UsedBytes == nil:
		out = text.Bytes(*m.TotalBytes) + of + ", used " + v.unknown(doc, "used_bytes")
	default:
		out = text.Bytes(*m.UsedBytes) + " of " + text.Bytes(*m.TotalBytes) + of + " used"
	}
	if kind == api.GPUMemoryDedicated && m.GPUWorkingSetBytes != nil {
		out = text.Bytes(*m.GPUWorkingSetBytes) + " " + kind.Noun() + ", " + out
	}
	if m.Pressure != "" && m.Pressure != api.PressureNormal {
		out += ", pressure " + string(m.Pressure)
	}
	return out
}

func (f facts) gpu() string {
	var p api.GPUProfile
	doc, found := f.read(api.KindGPUProfile, &p)
	if !found {
		return "not measured yet; to measure it: fulmen measure gpu"
	}
	return f.profile(p, doc)
}

// profile is a measurement in one line.
func (v View) profile(p api.GPUProfile, doc api.Document) string {
	var out string
	switch {
	case p.MeasuredAt.IsZero() && p.Failure != nil:
		return "not measured: " + p.Failure.Message
	case p.FP16TFLOPS == nil:
		out = "fp16 " + v.unknown(doc, "fp16_tflops")
	default:
		out = text.TFLOPS(*p.FP16TFLOPS) + " fp16"
	}
	bandwidth := "memory " + v.unknown(doc, "memory_bytes_per_s")
	if p.MemoryBytesPerS != nil {
		bandwidth = text.BytesPerS(float64(*p.MemoryBytesPerS))
	}
	on := ""
	if p.Device == api.MLXDeviceCPU {
		on = "on the processor"
	}
	out = join(", ", out, bandwidth, on, "measured "+text.Ago(v.Now, p.MeasuredAt.Time))
	if p.Failure != nil {
		out += "; the last attempt failed: " + p.Failure.Message
	}
	return out
}

// Profiles writes what a measurement found, for each of its subjects that has
// a result.
func (v View) Profiles(w *Page, m api.Measurement, docs []api.Document) {
	for _, item := range m.Items {
		var p api.GPUProfile
		doc, found := facts{v, item.Document.Node, docs}.read(api.KindGPUProfile, &p)
		if !found || item.State != api.MeasureDone {
			continue
		}
		v.result(w, p, doc)
	}
}

// Measured writes the paths that a measurement was about.
func (v View) Measured(w *Page, m api.Measurement, list api.LinkListResult, nodes []api.NodeView) {
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
	v.measuredPaths(w, list, nodes, NamesOf(nodes))
}

func (v View) result(w *Page, p api.GPUProfile, doc api.Document) {
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
		table.Row(what, join(", ", text.TFLOPS(*tflops), choose(p.MatrixSize > 0, fmt.Sprintf("%d x %d matrices", p.MatrixSize, p.MatrixSize), ""), spread(t)))
	}
	compute("fp16", p.FP16TFLOPS, p.FP16Timing, "fp16_tflops")
	compute("fp32", p.FP32TFLOPS, p.FP32Timing, "fp32_tflops")
	if p.MemoryBytesPerS == nil {
		table.Row("memory", v.unknown(doc, "memory_bytes_per_s"))
	} else {
		table.Row("memory", join(", ", text.BytesPerS(float64(*p.MemoryBytesPerS)), choose(p.BufferBytes > 0, "sum over "+text.Bytes(p.BufferBytes), ""), spread(p.MemoryTiming)))
	}
	took := ""
	if p.TookS > 0 {
		took = "took " + text.Duration(time.Duration(p.TookS*float64(time.Second)))
	}
	at := p.Conditions
	table.Row("under", v.or(join(", ", prefixed("MLX ", at.MLXVersion), prefixed("BLAS ", at.BLAS), prefixed("on ", string(at.PowerSource)),
		prefixed("thermal state ", string(at.ThermalState)), took), doc, "conditions"))
	w.Table(table)
}

// spread is how well the runs agreed.
func spread(t *api.Timing) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("best of %d, spread %.1f %%", t.Runs, t.SpreadRatio*100)
}
