package show

import (
	"fmt"
	"strings"

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

func simulated(yes bool) string {
	if yes {
		return "SIMULATED"
	}
	return ""
}

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
	model := i.ModelName
	if model == "" {
		model = i.Model
	}
	return f.or(join(", ", model, i.Chip, cores(i.CPUCores, "cpu_cores", "CPU cores"), cores(i.GPUCores, "gpu_cores", "GPU cores")), doc, "chip")
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
	var backends, devices []string
	for _, b := range i.MLXBackends {
		backends = append(backends, string(b))
	}
	for _, d := range i.MLXDevices {
		devices = append(devices, string(d))
	}
	out := i.MLXVersion
	if len(devices) > 0 {
		out += " on " + strings.Join(devices, " and ")
	}
	if len(backends) > 0 {
		out += ", backends " + strings.Join(backends, " ")
	}
	return out
}

func (f facts) memory() string {
	var m api.Memory
	doc, _ := f.read(api.KindMemory, &m)
	return f.memoryOf(m, doc)
}

func (v View) memoryOf(m api.Memory, doc api.Document) string {
	var out string
	switch {
	case m.TotalBytes == nil:
		return v.unknown(doc, "total_bytes")
	case m.UsedBytes == nil:
		out = text.Bytes(*m.TotalBytes) + ", used " + v.unknown(doc, "used_bytes")
	default:
		out = text.Bytes(*m.UsedBytes) + " of " + text.Bytes(*m.TotalBytes) + " used"
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
		return "not measured yet; fulmen measure gpu measures it"
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
		out += "; the last try failed: " + p.Failure.Message
	}
	return out
}
