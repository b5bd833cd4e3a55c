package app

import (
	"cmp"
	"strings"

	apptext "fulmen/app/text"
	"fulmen/daemon/api"
)

// macs are the lines of the Macs, this one first.
func (s *State) macs() []Item {
	nodes := s.sorted()
	items := make([]Item, 0, len(nodes))
	for _, n := range nodes {
		if n.Liveness != api.LivenessRemoved {
			items = append(items, s.mac(n))
		}
	}
	return items
}

// mac is the line of one Mac.
func (s *State) mac(n Node) Item {
	id := "node:" + string(n.NodeView.Node)
	title := cmp.Or(clean(n.ShortName), n.NodeView.Node.Display())
	if n.Self {
		title += " (this Mac)"
	}
	item := Item{ID: id, Title: strings.TrimSpace(title + "   " + s.macWords(n)), Tooltip: clean(n.Message)}
	add := func(key, title string) {
		if title != "" {
			item.Items = append(item.Items, info(id+":"+key, title))
		}
	}
	if i := n.Identity; i != nil {
		add("model", clean(strings.Join(nonEmpty(i.ModelName, i.Chip), ", ")))
		add("system", clean(strings.TrimSpace(i.OSName+" "+i.OSVersion)))
	}
	if g := n.GPU; g != nil && g.FP16TFLOPS != nil {
		line := tflops(*g.FP16TFLOPS)
		if g.MemoryBytesPerS != nil {
			line += ", memory " + apptext.BytesPerS(float64(*g.MemoryBytesPerS))
		}
		add("gpu", line)
	}
	isHere := n.Liveness.Reached() // what others do now is not known
	if m := n.Memory; isHere && m != nil && m.TotalBytes != nil {
		add("memory", n.memoryWords()+" used")
	}
	if t := n.System; isHere && t != nil && t.GPUTemperatureCelsius != nil {
		add("temperature", "GPU "+apptext.Fixed(*t.GPUTemperatureCelsius, 0)+" °C")
	}
	if isHere && len(n.Paths) > 0 && !n.Self {
		add("path", "Reached over "+kindName(n.Paths[0].Kind))
	}
	if n.Simulated {
		add("simulated", "Simulated: no real hardware behind it")
	}
	item.Items = append(item.Items, Item{ID: id + ":show", Title: "Show in Dashboard", Do: &Do{Open: "dashboard:/node/" + string(n.NodeView.Node)}},
		Item{ID: id + ":measure", Title: "Measure Its GPU", Disabled: !isHere,
			Do: call("measure.gpu", api.MeasureGPUParams{Nodes: []api.NodeRef{api.NodeRef(n.NodeView.Node)}})})
	if !n.Self {
		item.Items = append(item.Items, Item{ID: id + ":remove", Title: "Remove from the Cluster…", Do: s.remove(n.NodeView.Node)})
	}
	return item
}

// remove takes Macs out of the cluster.
func (s *State) remove(nodes ...api.NodeID) *Do {
	var p api.ClusterRemoveParams
	var names []string
	for _, n := range nodes {
		p.Nodes = append(p.Nodes, api.NodeRef(n))
		names = append(names, "“"+s.name(n)+"”")
	}
	text := "Its jobs end everywhere, and it must be added again with a code to come back."
	if len(nodes) > 1 {
		text = "Their jobs end everywhere, and they must be added again with a code to come back."
	}
	return &Do{Call: &Call{Method: "cluster.remove", Params: p, Admin: true},
		Confirm: &Confirm{Title: "Remove " + strings.Join(names, " and ") + " from the cluster?", Button: "Remove", Text: text}}
}

// macWords is how a Mac fares, in a few words.
func (s *State) macWords(n Node) string {
	switch n.Liveness {
	case api.LivenessAlive:
	case api.LivenessUnreachable:
		return "not reachable for " + since(s.Now, n.Since.Time)
	default:
		words := map[api.Liveness]string{api.LivenessSuspect: "not answering", api.LivenessLeft: "has left"}
		return cmp.Or(words[n.Liveness], string(n.Liveness)) // restarting, asleep, removed
	}
	var parts []string
	if t := n.System; t != nil {
		if t.GPUUseRatio != nil {
			parts = append(parts, "GPU "+percent(*t.GPUUseRatio))
		}
		if p := cmp.Or(t.SystemPowerWatts, t.PackagePowerWatts); p != nil {
			parts = append(parts, watts(*p))
		}
		switch {
		case t.PowerSource == api.PowerBattery && t.BatteryRatio != nil:
			parts = append(parts, "on battery, "+percent(*t.BatteryRatio))
		case t.PowerSource == api.PowerBattery:
			parts = append(parts, "on battery")
		case t.BatteryRatio != nil:
			parts = append(parts, "on power")
		}
	}
	for _, c := range s.Conditions {
		if c.Brief != "" && c.Node == n.NodeView.Node {
			parts = append(parts, c.Brief)
		}
	}
	if len(parts) == 0 && n.Memory != nil && n.Memory.TotalBytes != nil {
		parts = append(parts, n.memoryWords())
	}
	if n.Simulated {
		parts = append(parts, "simulated")
	}
	return strings.Join(parts, ", ")
}

// memoryWords is what is used of a Mac's memory, where it is not unified with what it is.
func (n Node) memoryWords() string {
	line := memory(n.Memory.UsedBytes, n.Memory.TotalBytes)
	if n.Identity == nil || n.Identity.GPUMemory == "" || n.Identity.GPUMemory == api.GPUMemoryUnified {
		return line
	}
	line += " " + api.GPUMemoryNone.Noun()
	if own := n.Memory.GPUWorkingSetBytes; n.Identity.GPUMemory == api.GPUMemoryDedicated && own != nil {
		line = gigabytes(*own) + " " + n.Identity.GPUMemory.Noun() + ", " + line
	}
	return line
}

// nonEmpty are the texts that say something.
func nonEmpty(texts ...string) []string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, t)
		}
	}
	return all
}

// kindName is what a path is made of, for people.
func kindName(k api.LinkKind) string {
	return cmp.Or(map[api.LinkKind]string{
		api.LinkWiFi: "Wi-Fi", api.LinkEthernet: "Ethernet", api.LinkTB3: "Thunderbolt 3", api.LinkTB4: "Thunderbolt 4", api.LinkTB5: "Thunderbolt 5",
		api.LinkRDMA: "RDMA", api.LinkVPN: "a VPN", api.LinkLoopback: "itself",
	}[k], "a network")
}
