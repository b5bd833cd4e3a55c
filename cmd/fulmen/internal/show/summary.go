package show

import (
	"fmt"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// summaryLimit bounds what is shown of a document that has no summary of its
// own, in bytes.
const summaryLimit = 100

// Summary is a document in one line.
func (v View) Summary(d api.Document) string {
	if d.Deleted {
		return "gone"
	}
	out := v.summary(d)
	return text.Clean(join(" ", out, simulated(d.Simulated)))
}

func (v View) summary(d api.Document) string {
	f := facts{v, d.Node, []api.Document{d}}
	if out, ok := (&Changes{View: v}).hardware(d); ok {
		return out
	}
	switch d.Kind {
	case api.KindIdentity:
		var i api.Identity
		if _, ok := f.read(d.Kind, &i); ok {
			return join("; ", i.Name, f.hardware(i, d), f.system(i, d), "MLX "+f.mlx(i, d))
		}
	case api.KindMemory:
		return f.memory()
	case api.KindSystem:
		var s api.System
		if _, ok := f.read(d.Kind, &s); ok {
			return v.load(s, d)
		}
	case api.KindNetwork:
		var n api.Network
		if _, ok := f.read(d.Kind, &n); ok {
			return network(n)
		}
	case api.KindGPUProfile:
		return f.gpu()
	case api.KindCondition:
		var c api.Condition
		if _, ok := f.read(d.Kind, &c); ok {
			return string(c.Severity) + ": " + c.Text
		}
	case api.KindNodeState:
		var s api.NodeState
		if _, ok := f.read(d.Kind, &s); ok {
			return string(s.State)
		}
	}
	raw := string(d.Value)
	if len(raw) > summaryLimit {
		raw = strings.ToValidUTF8(raw[:summaryLimit], "") + "..."
	}
	return raw
}

// load is a node's load, power and heat.
func (v View) load(s api.System, d api.Document) string {
	ratio := func(what string, r *float64, field string) string {
		if r == nil {
			if v.Wide {
				return what + " " + v.unknown(d, field)
			}
			return ""
		}
		return what + " " + text.Percent(*r)
	}
	watts := ""
	if p := s.SystemPowerWatts; p != nil {
		watts = fmt.Sprintf("%.0f W", *p)
	} else if p := s.PackagePowerWatts; p != nil {
		watts = fmt.Sprintf("%.0f W (chip)", *p)
	}
	out := join(", ", ratio("CPU", s.CPUUseRatio, "cpu_use_ratio"), ratio("GPU", s.GPUUseRatio, "gpu_use_ratio"), watts,
		string(s.ThermalState), string(s.PowerSource))
	return v.or(out, d, "cpu_use_ratio")
}

// network names the interfaces that are up and have addresses.
func network(n api.Network) string {
	var out []string
	for _, i := range n.Interfaces {
		if !i.Up || i.Type == api.InterfaceLoopback || len(i.Addresses) == 0 {
			continue
		}
		var addresses []string
		for _, a := range i.Addresses {
			addresses = append(addresses, a.Address.Addr().String())
		}
		out = append(out, fmt.Sprintf("%s (%s) %s", i.Name, i.Type, strings.Join(addresses, " ")))
	}
	if len(out) == 0 {
		return fmt.Sprintf("%d interfaces, none up with an address", len(n.Interfaces))
	}
	return strings.Join(out, "; ")
}
