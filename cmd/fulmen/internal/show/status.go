package show

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Status is what fulmen status shows. In JSON each field is the result of the
// method that its comment names.
type Status struct {
	// Info is daemon.info; absent where it was not asked for.
	Info *api.DaemonInfoResult `json:"info,omitempty"`
	// Nodes is node.list.
	Nodes api.NodeListResult `json:"nodes"`
	// Conditions is node.conditions.
	Conditions api.NodeConditionsResult `json:"conditions"`
	// State is state.get of the kinds identity, memory, gpu-profile and thunderbolt.
	State api.StateGetResult `json:"state"`
	// Links is link.list; absent where the daemon does not have it.
	Links *api.LinkListResult `json:"links,omitempty"`
}

// self is the node that was asked.
func (s Status) self() api.NodeView {
	for _, n := range s.Nodes.Nodes {
		if n.Self {
			return n
		}
	}
	return api.NodeView{}
}

// identity is who the node that was asked says it is.
func (s Status) identity() api.Identity {
	var identity api.Identity
	facts{node: s.self().Node, docs: s.State.Docs}.read(api.KindIdentity, &identity)
	return identity
}

// Started is when the daemon started; the zero time where that is not known.
func (s Status) Started() time.Time { return s.identity().StartedAt.Time }

// Status writes the daemon, its node, the cluster if there is one, and what is
// wrong.
func (v View) Status(w io.Writer, s Status) error {
	identity := s.identity()
	started := ""
	if !identity.StartedAt.IsZero() {
		started = ", started " + text.Ago(v.Now, identity.StartedAt.Time)
	}
	version := join(" ", "Fulmen", identity.FulmenVersion)
	if _, err := fmt.Fprintf(w, "%s is running%s.\n\n", text.Clean(version), started); err != nil {
		return err
	}
	table := text.NewTable()
	for _, line := range (facts{v, s.self().Node, s.State.Docs}).machine(s.self()) {
		table.Row("", line[0], line[1])
	}
	if ports := s.ports(); ports != "" {
		table.Row("", "ports", ports)
	}
	if s.Info != nil {
		table.Row("", "cluster", string(s.Info.Cluster))
		table.Row("", "daemon", fmt.Sprintf("%s mode, pid %d", s.Info.Mode, s.Info.PID))
		table.Row("", "API", s.Info.APIURL)
		table.Row("", "socket", s.Info.Socket)
		table.Row("", "state", s.Info.StateFolder)
	}
	if err := table.Write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if s.Nodes.Totals.Members > 1 {
		if err := v.Nodes(w, s.Nodes, s.State.Docs); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return v.Conditions(w, s.Conditions.Conditions, namesOf(s.Nodes.Nodes))
}

// ports counts the Thunderbolt ports of the node that was asked, and the cables
// in them; empty where it has none.
func (s Status) ports() string {
	all, connected := 0, 0
	for _, p := range portsOf(s.State.Docs) {
		if p.doc.Node != s.self().Node {
			continue
		}
		if all++; isSet(p.value.Connected) {
			connected++
		}
	}
	switch {
	case all == 0:
		return ""
	case s.Links == nil:
		return fmt.Sprintf("%d Thunderbolt, %d in use", all, connected)
	}
	var own []api.Cable
	for _, c := range s.Links.Cables {
		if slices.ContainsFunc(c.Ends, func(e api.CableEnd) bool { return e.End.Node == s.self().Node }) {
			own = append(own, c)
		}
	}
	return fmt.Sprintf("%d Thunderbolt, %d in use, %s", all, connected, cableCounts(own))
}

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

// Published writes where the ports of a job are open on this node, and the key
// that requests from the network have to bear. It writes nothing where none is.
func (v View) Published(w io.Writer, all []api.PublishedPort) error {
	if len(all) == 0 {
		return nil
	}
	table := text.NewTable("PORT", "OPEN AT", "REQUESTS BEAR")
	for _, p := range all {
		table.Row(choose(p.LAN, "lan:", "")+fmt.Sprint(p.Port), openAt(p), choose(p.Key != "", bearer(p), none))
	}
	fmt.Fprintln(w)
	return table.Write(w)
}

// PublishedLines says the same in sentences, one a port.
func (v View) PublishedLines(all []api.PublishedPort) []string {
	var lines []string
	for _, p := range all {
		line := fmt.Sprintf("port %d is open at %s", p.Port, openAt(p))
		if p.Problem != nil {
			line = fmt.Sprintf("port %d is %s", p.Port, openAt(p))
		} else if p.Key != "" {
			line += "; requests bear " + bearer(p)
		}
		lines = append(lines, line)
	}
	return lines
}

func bearer(p api.PublishedPort) string { return "Authorization: Bearer " + p.Key }

// openAt is where a port is open, or why it is not.
func openAt(p api.PublishedPort) string {
	at := ""
	for _, a := range p.Addresses {
		at = join(", ", at, a.String())
	}
	switch {
	case p.Problem != nil:
		return "not open: " + text.Clean(p.Problem.Message)
	case at == "":
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(p.Port)).String() + " (rank 0's own)"
	}
	return at
}
