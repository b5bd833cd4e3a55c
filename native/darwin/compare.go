package darwin

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"fulmen/native"
	"fulmen/native/systemprofiler"
)

// The sources that are held against each other.
const (
	fromRegistry = "the registry"
	fromProfiler = "system_profiler"
	fromDriver   = "Apple's RDMA driver"
	fromLibrary  = "librdma"
	fromKernel   = "ifconfig"
	fromConfigd  = "SystemConfiguration"
	fromSettings = "the stored network settings"
)

// Compare tells each fact of the receptacles, of RDMA and of the network by a second source
// of the system.
func (m *machine) Compare(ctx context.Context) []native.Comparison {
	all, err := m.frameworks.Thunderbolt()
	if err != nil {
		return append([]native.Comparison{silent("ports", fromRegistry, fromProfiler, whyNot(err))}, m.compareNetwork(newTree(nil))...)
	}
	t := newTree(all)
	out := m.comparePorts(ctx, t)
	out = append(out, m.compareOffers(t)...)
	out = append(out, m.compareDevices(t)...)
	return append(out, m.compareNetwork(t)...)
}

// silent is a fact that one of its sources does not tell.
func silent(fact, first, second string, why native.Reason) native.Comparison {
	return native.Comparison{Fact: fact, Sources: [2]string{first, second}, Why: why}
}

// both is a fact that both sources tell.
func both(fact, first, second, reported, reportedToo string) native.Comparison {
	return native.Comparison{Fact: fact, Sources: [2]string{first, second}, Reported: [2]string{reported, reportedToo}, Same: reported == reportedToo}
}

// comparePorts holds the registry alone against system_profiler, which fills in nothing
// here.
func (m *machine) comparePorts(ctx context.Context, t tree) []native.Comparison {
	facts := thunderbolt(t, m.places())
	if m.profile == nil {
		return []native.Comparison{silent("ports", fromRegistry, fromProfiler, native.ReasonNoPlatform.With("system_profiler is not run here"))}
	}
	m.profiler.running.Lock() // one at a time, whoever asks
	reported, err := m.profile(ctx)
	m.profiler.running.Unlock()
	if err != nil {
		return []native.Comparison{silent("ports", fromRegistry, fromProfiler, native.ReasonReadFailed.With(fromProfiler+": "+err.Error()))}
	}
	return systemprofiler.Compare(*facts, reported)
}

// compareOffers counts, for each controller, the computers that offer RDMA by their services
// and those for which Apple's driver has found such an offer, which it looks for while RDMA
// is on.
func (m *machine) compareOffers(t tree) []native.Comparison {
	var out []native.Comparison
	on := slices.ContainsFunc(t.all, func(e entry) bool { return e.kind == kindRDMA })
	for _, controller := range t.roots(kindController) {
		ports := portsOf(t, controller, nil)
		if len(ports) == 0 {
			continue
		}
		slices.SortFunc(ports, func(a, b native.Port) int { return a.PortNumber - b.PortNumber })
		fact := fmt.Sprintf("port %d, computers that offer RDMA", ports[0].PortNumber)
		offers, why := 0, native.Reason("")
		for _, p := range ports {
			if p.Peers == nil {
				why = p.Unknown["peers"]
			}
			for _, peer := range p.Peers {
				if peer.Services == nil {
					why = peer.Unknown["services"]
				} else if offered, _ := peer.Offers(native.ProtocolRDMA); offered {
					offers++
				}
			}
		}
		if !on && why == "" {
			why = native.ReasonSourceGone.With("Apple's RDMA driver has no device here, so it does not look for computers that offer RDMA")
		}
		if why != "" {
			out = append(out, silent(fact, fromRegistry, fromDriver, why))
			continue
		}
		found := len(t.under(controller, []string{kindRDMAPeer}, nil))
		out = append(out, both(fact, fromRegistry, fromDriver, fmt.Sprint(offers), fmt.Sprint(found)))
	}
	return out
}

// compareDevices holds the registry's RDMA devices against those of the library.
func (m *machine) compareDevices(t tree) []native.Comparison {
	const fact = "RDMA devices"
	listed, err := listed(m.verbs.Devices)
	if err != nil {
		return []native.Comparison{silent(fact, fromRegistry, fromLibrary, whyNot(err))}
	}
	var ours, theirs []string
	var states []native.Comparison
	for _, controller := range t.roots(kindController) {
		for _, e := range t.under(controller, []string{kindRDMA}, nil) {
			d := deviceOf(t, e, listed, nil)
			ours = append(ours, d.Name)
			var power native.RDMADevice
			setPowerState(e, &power, native.ReasonSourceGone.With("the registry gives no power state"))
			switch of, there := listed[d.Name]; {
			case !there || listText(of, "error") != "":
				states = append(states, silent(d.Name+", state of its port", fromRegistry, fromLibrary, d.Unknown["gids"]))
			case power.PortState == "":
				states = append(states, silent(d.Name+", state of its port", fromRegistry, fromLibrary, power.Unknown["port_state"]))
			default:
				states = append(states, both(d.Name+", state of its port", fromRegistry, fromLibrary, string(power.PortState), string(d.PortState)))
			}
		}
	}
	for name := range listed {
		if strings.HasPrefix(name, devicePrefix) { // others are of no receptacle
			theirs = append(theirs, name)
		}
	}
	return append([]native.Comparison{both(fact, fromRegistry, fromLibrary, inOrder(ours), inOrder(theirs))}, states...)
}

// compareNetwork holds what the kernel says of interfaces and bridges, and the registry of
// the links of receptacles, against SystemConfiguration.
func (m *machine) compareNetwork(t tree) []native.Comparison {
	kernel, err := m.interfaces()
	if err != nil {
		return []native.Comparison{silent("network interfaces", fromKernel, fromConfigd, native.ReasonReadFailed.With(err.Error()))}
	}
	store, err := m.frameworks.Store()
	if err != nil {
		return []native.Comparison{silent("network interfaces", fromKernel, fromConfigd, whyNot(err))}
	}
	var out []native.Comparison
	for _, i := range kernel {
		if i.Loopback {
			continue
		}
		var ours []string
		for _, p := range i.Addresses {
			if p.Addr().Is4() {
				ours = append(ours, p.Addr().String())
			}
		}
		var theirs []string
		for _, text := range listTexts(listMap(store["State:/Network/Interface/"+i.Name+"/IPv4"])["Addresses"]) {
			if a, err := netip.ParseAddr(text); err == nil {
				theirs = append(theirs, a.String())
			}
		}
		out = append(out, both(i.Name+", IPv4 addresses", fromKernel, fromConfigd, inOrder(ours), inOrder(theirs)))
	}
	for _, controller := range t.roots(kindController) {
		for _, ip := range t.under(controller, []string{kindIPPort}, nil) {
			i := portInterface(t, ip)
			if i == nil {
				continue
			}
			name, _ := i.text("BSD Name")
			active, there := listMap(store["State:/Network/Interface/"+name+"/Link"])["Active"]
			up, reported := isLinked(ip)
			if there && reported {
				out = append(out, both(name+", link", fromRegistry, fromConfigd, upOrDown(up), upOrDown(listTrue(active))))
			} else {
				out = append(out, silent(name+", link", fromRegistry, fromConfigd, native.ReasonSourceGone.With("no link state of this interface")))
			}
		}
	}
	return append(out, m.compareBridges()...)
}

func (m *machine) compareBridges() []native.Comparison {
	facts, why := m.network()
	if why != "" || facts.Bridges == nil {
		return []native.Comparison{silent("bridges", fromKernel, fromSettings, why)}
	}
	var out []native.Comparison
	for _, b := range facts.Bridges {
		fact := b.Name + ", members"
		switch {
		case b.KernelMembers == nil:
			out = append(out, silent(fact, fromKernel, fromSettings, b.Unknown["kernel_members"]))
		case b.StoredMembers == nil:
			out = append(out, silent(fact, fromKernel, fromSettings, b.Unknown["stored_members"]))
		default:
			out = append(out, both(fact, fromKernel, fromSettings, inOrder(b.KernelMembers), inOrder(b.StoredMembers)))
		}
	}
	return out
}

func upOrDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

// inOrder is a list as one text, in which the order does not matter.
func inOrder(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	sorted := slices.Sorted(slices.Values(all))
	return strings.Join(sorted, " ")
}
