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
	return text.Clean(join(" ", (&Changes{View: v}).summary(d), simulated(d.Simulated)))
}

func (c *Changes) summary(d api.Document) string {
	f := facts{c.View, d.Node, []api.Document{d}}
	out, ok := "", false
	switch d.Kind {
	case api.KindThunderbolt:
		out, ok = decoded(d, func(t api.Thunderbolt) string { return c.port(t, d) })
	case api.KindRDMA:
		out, ok = decoded(d, rdmaState)
	case api.KindReach:
		out, ok = decoded(d, c.reach)
	case api.KindLinkProfile:
		out, ok = decoded(d, c.linkProfile)
	case api.KindIdentity:
		out, ok = decoded(d, func(i api.Identity) string {
			return join("; ", i.Name, f.hardware(i, d), f.system(i, d), "MLX "+f.mlx(i, d))
		})
	case api.KindMemory:
		return f.memory()
	case api.KindSystem:
		out, ok = decoded(d, func(s api.System) string { return c.load(s, d) })
	case api.KindNetwork:
		out, ok = decoded(d, network)
	case api.KindGPUProfile:
		return f.gpu()
	case api.KindCondition:
		out, ok = decoded(d, func(c api.Condition) string { return string(c.Severity) + ": " + c.Text })
	case api.KindNodeState:
		out, ok = decoded(d, func(s api.NodeState) string { return string(s.State) })
	}
	if ok {
		return out
	}
	raw := string(d.Value)
	if len(raw) > summaryLimit {
		raw = strings.ToValidUTF8(raw[:summaryLimit], "") + "..."
	}
	return raw
}

// decoded is a document in words; false where it cannot be read.
func decoded[T any](d api.Document, words func(T) string) (string, bool) {
	var v T
	if d.Decode(&v) != nil {
		return "", false
	}
	return words(v), true
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
	out := join(", ", ratio("CPU", s.CPUUseRatio, "cpu_use_ratio"), ratio("GPU", s.GPUUseRatio, "gpu_use_ratio"), watts(s),
		string(s.ThermalState), string(s.PowerSource))
	return v.or(out, d, "cpu_use_ratio")
}

// watts is a machine's power, else its chip's; empty where neither is known.
func watts(s api.System) string {
	switch {
	case s.SystemPowerWatts != nil:
		return text.Fixed(*s.SystemPowerWatts, 0) + " W"
	case s.PackagePowerWatts != nil:
		return text.Fixed(*s.PackagePowerWatts, 0) + " W (chip)"
	}
	return ""
}

// network names the interfaces that are up and have addresses.
func network(n api.Network) string {
	var out []string
	for _, i := range n.Interfaces {
		if !i.Up || i.Type == api.InterfaceLoopback || len(i.Addresses) == 0 {
			continue
		}
		out = append(out, fmt.Sprintf("%s (%s) %s", i.Name, i.Type, strings.Join(addresses(i), " ")))
	}
	if len(out) == 0 {
		return fmt.Sprintf("%d interfaces, none up with an address", len(n.Interfaces))
	}
	return strings.Join(out, "; ")
}

// reach is a way to a peer.
func (c *Changes) reach(r api.Reach) string {
	at := fmt.Sprintf("%s at %s over %s", c.Name(r.Peer), r.Address, orNone(r.Interface))
	if r.Kind != "" {
		at += " (" + kindWord(r.Kind) + ")"
	}
	switch r.State {
	case api.PathActive:
		return "reaches " + at
	case api.PathFailed:
		return "no longer reaches " + at + prefixed(": ", explained(r.Reason, ""))
	}
	return "can reach " + at + ", " + string(r.State)
}

// linkProfile is a measurement of a path.
func (c *Changes) linkProfile(p api.LinkProfile) string {
	out := fmt.Sprintf("%s over %s: ", c.Name(p.Peer), kindWord(p.LinkKind))
	if p.MeasuredAt.IsZero() {
		out += "not measured"
	} else {
		out += fmt.Sprintf("up %s, down %s, RTT/2 %s, measured %s", rate(p.UpBitsPerS), rate(p.DownBitsPerS), half(p.RTTUS), text.Ago(c.Now, p.MeasuredAt.Time))
	}
	if p.Failure != nil {
		out += "; the last attempt failed: " + p.Failure.Message
	}
	return out
}
