//go:build cgo && linux && darwinsim

package simmac_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin/simfw"
	"fulmen/native/darwin/simmac"
	"fulmen/native/nativetest"
)

// variant is a Mac whose registry is otherwise than the simulation's: no version of
// macOS documents where its entries hang.
type variant struct {
	name string
	// change makes it, in the tree of the second receptacle's controller, or of every.
	change func(acio *simmac.Node)
	every  bool
	// verbs replaces what the library lists; "missing" is a Mac without the library.
	verbs any
	// unknown is what is not told any more, beside what never is.
	unknown []string
}

const (
	peerLink   = "IOThunderboltXDomainLink"
	service    = "IOThunderboltXDomainService"
	rdmaPeer   = "AppleThunderboltRDMAPeerInterface"
	rdmaDevice = "AppleThunderboltRDMAInterface"
	ethernet   = "IOEthernetInterface"
	localNode  = "IOThunderboltLocalNode"
	controller = "IOThunderboltControllerType7"
	router     = "IOThunderboltSwitchType7"
	ipPort     = "AppleThunderboltIPPort"
	otherClass = "IOOtherClass"
)

// ofLibrary are the fields of the three devices that the library alone tells; of those
// without a cable nobody tells a speed.
func ofLibrary() []string {
	out := []string{"rdma.devices[1].speed_bits_per_s"}
	for i := range 3 {
		out = append(out, fmt.Sprintf("rdma.devices[%d].gids", i), fmt.Sprintf("rdma.devices[%d].limits", i), fmt.Sprintf("rdma.devices[%d].mtu_bytes", i))
	}
	return out
}

// variants are of a Mac with a cable to another in its second receptacle.
func variants() []variant {
	return []variant{
		{name: "as it is", change: func(*simmac.Node) {}},
		{name: "link below the controller", change: func(a *simmac.Node) { move(a, peerLink, find(a, controller)) }},
		{name: "link below the local node", change: func(a *simmac.Node) { move(a, peerLink, find(a, localNode)) }},
		{name: "link below the local router", change: func(a *simmac.Node) { move(a, peerLink, find(a, router)) }},
		{name: "link below the host interface adapter", change: func(a *simmac.Node) { move(a, peerLink, find(a, controller).Children[1]) }},
		{name: "link below the second lane", change: func(a *simmac.Node) { move(a, peerLink, find(a, router).Children[1]) }},
		{name: "link in between", change: func(a *simmac.Node) {
			move(a, peerLink, find(a, router).Children[0].Add(otherClass, "between", "", nil))
		}},
		{name: "link of another class", change: func(a *simmac.Node) { rename(a, peerLink) }, unknown: []string{"thunderbolt.ports[1].peers"}},
		{name: "link elsewhere", change: func(a *simmac.Node) { move(a, peerLink, a) }, unknown: []string{"thunderbolt.ports[1].peers"}},
		{name: "no link", change: func(a *simmac.Node) { drop(a, peerLink) }, unknown: []string{"thunderbolt.ports[1].peers"}},
		{name: "no link, and no state of the network's", change: func(a *simmac.Node) {
			drop(a, peerLink)
			delete(find(a, ipPort).Properties, "IOLinkStatus")
		}, unknown: []string{"thunderbolt.ports[1].peers", "thunderbolt.ports[1].status"}},
		{name: "no state of the network's", change: func(a *simmac.Node) { delete(find(a, ipPort).Properties, "IOLinkStatus") }},
		{name: "lanes that say down", change: func(a *simmac.Node) {
			for _, lane := range find(a, router).Children[:2] {
				lane.Properties["Current Link Speed"] = 0
			}
		}, unknown: []string{"thunderbolt.ports[1].negotiated", "thunderbolt.ports[1].peers[0].negotiated"}},

		{name: "services below the local node", change: func(a *simmac.Node) { move(a, service, find(a, localNode)) }},
		{name: "services below the local node, and no driver of theirs", change: func(a *simmac.Node) {
			drop(a, rdmaPeer)
			move(a, service, find(a, localNode))
		}, unknown: []string{"thunderbolt.ports[1].peers[0].services"}},
		{name: "services below another entry of the link", change: func(a *simmac.Node) {
			move(a, service, find(a, peerLink).Add(otherClass, "between", "", nil))
		}},
		{name: "services of another class", change: func(a *simmac.Node) { rename(a, service) }, unknown: []string{"thunderbolt.ports[1].peers[0].services"}},
		{name: "no services", change: func(a *simmac.Node) { drop(a, service) }, unknown: []string{"thunderbolt.ports[1].peers[0].services"}},
		{name: "RDMA's service of another class, its driver apart", change: func(a *simmac.Node) {
			move(a, rdmaPeer, find(a, localNode))
			all := find(a, peerLink).Children
			all[len(all)-1].Class = otherClass
		}, unknown: []string{"thunderbolt.ports[1].peers[0].services"}},

		{name: "RDMA device of another class", change: func(a *simmac.Node) { rename(a, rdmaDevice) }},
		{name: "RDMA device of another class, and no library", change: func(a *simmac.Node) { rename(a, rdmaDevice) }, every: true, verbs: "missing",
			unknown: []string{"rdma.devices", "rdma.switch"}},
		{name: "RDMA device of another name", change: func(a *simmac.Node) { find(a, rdmaDevice).Name = rdmaDevice }},
		{name: "RDMA device beside the interface", change: func(a *simmac.Node) { move(a, rdmaDevice, find(a, ipPort)) }},
		{name: "interface of another class", change: func(a *simmac.Node) { rename(a, ethernet) }},
		{name: "no RDMA device in the registry", change: func(a *simmac.Node) { drop(a, rdmaDevice) }},
		{name: "no RDMA device in the library", change: func(*simmac.Node) {}, verbs: []any{}, unknown: ofLibrary()},
		{name: "no library", change: func(*simmac.Node) {}, verbs: "missing", unknown: ofLibrary()},
	}
}

// TestVariantsOfTheRegistry: however the registry is arranged, what is told is so, and
// what cannot be told has a reason.
func TestVariantsOfTheRegistry(t *testing.T) {
	d := newMachines(t, pair(t))
	do(t, d, "plug A.tb2 B.tb1 80G")
	source := sourceOf(t, d)
	areas := []native.Area{native.AreaThunderbolt, native.AreaRDMA}
	want := variantFacts(t, source, variant{change: func(*simmac.Node) {}}, areas)
	is.New(t).Equal(want.Thunderbolt.Ports[1].Status, native.PortPeer)
	is.New(t).Equal(len(want.RDMA.Devices), 3)
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			clean(t)
			compare(t, variantFacts(t, source, v, areas), want, v.unknown)
		})
	}
}

// TestVariantsBehindAHub: what hangs from a hub is never said to be at the port, nor
// the reverse.
func TestVariantsBehindAHub(t *testing.T) {
	d := newMachines(t, pair(t))
	do(t, d, "plug A.tb2 dock.up 80G")
	do(t, d, "plug dock.2 B.tb3 40G")
	source := sourceOf(t, d)
	areas := []native.Area{native.AreaThunderbolt}
	want := variantFacts(t, source, variant{change: func(*simmac.Node) {}}, areas)
	is.New(t).True(want.Thunderbolt.Ports[1].Peers[0].Hub != "")
	const hub = "IOThunderboltSwitchIntelJHL9580"
	for _, v := range []variant{
		{name: "link below the hub's router", change: func(a *simmac.Node) { move(a, peerLink, find(a, hub)) }, unknown: []string{"thunderbolt.ports[1].peers[0].negotiated"}},
		{name: "link below the controller", change: func(a *simmac.Node) { move(a, peerLink, find(a, controller)) }, unknown: []string{"thunderbolt.ports[1].peers"}},
		{name: "link of another class", change: func(a *simmac.Node) { rename(a, peerLink) }, unknown: []string{"thunderbolt.ports[1].peers"}},
		{name: "hub below a port of its own", change: func(a *simmac.Node) {
			move(a, hub, find(a, router).Children[0].Add("IOThunderboltPort", "IOThunderboltPort", "9", nil))
		}},
		{name: "link below a router that is no port's", change: func(a *simmac.Node) {
			move(a, peerLink, find(a, hub).Add(hub, "inner", "", map[string]any{"Route String": 0x201, "Depth": 2}))
		}, unknown: []string{"thunderbolt.ports[1].peers"}},
		{name: "hub without its route", change: func(a *simmac.Node) { delete(find(a, hub).Properties, "Route String") },
			unknown: []string{"thunderbolt.ports[1].hubs", "thunderbolt.ports[1].peers"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			clean(t)
			compare(t, variantFacts(t, source, v, areas), want, v.unknown)
		})
	}
}

// TestTheSwitchWithoutDevices: that a restart is missing takes both sources of
// devices.
func TestTheSwitchWithoutDevices(t *testing.T) {
	d := newMachines(t, pair(t))
	source := sourceOf(t, d)
	none := func(*simmac.Node) {}
	source.RDMA.Devices = nil
	for _, c := range []struct {
		variant
		is native.RDMASwitch
	}{
		{variant{name: "neither source has one", change: none, verbs: []any{}}, native.RDMAOnAfterRestart},
		{variant{name: "no library", change: none, verbs: "missing"}, ""},
		{variant{name: "the library alone has one", change: none, verbs: []any{map[string]any{"name": "rdma_en3", "state": 4, "mtu": 5, "width": 4, "speed": 4, "gids": []any{}}}}, native.RDMAOn},
		{variant{name: "a device that is not Thunderbolt's", change: none, verbs: []any{map[string]any{"name": "mlx5_0", "state": 4, "mtu": 5, "width": 4, "speed": 4, "gids": []any{}}}}, native.RDMAOnAfterRestart},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			clean(t)
			r := variantFacts(t, source, c.variant, []native.Area{native.AreaRDMA}).RDMA
			is.Equal(r.Switch, c.is)
			is.Equal(r.Devices == nil, c.is == "") // unknown, not none
		})
	}
}

// sourceOf is all that the world tells of A.
func sourceOf(t *testing.T, d *machines) native.Snapshot {
	t.Helper()
	is := is.New(t)
	p, err := d.world.Platform("A")
	is.NoErr(err)
	defer p.Close()
	s, err := p.Facts.Snapshot(t.Context(), native.AllAreas()...)
	is.NoErr(err)
	return s
}

// variantFacts are the facts of A as native/darwin reads them of a variant.
func variantFacts(t *testing.T, source native.Snapshot, v variant, areas []native.Area) native.Snapshot {
	t.Helper()
	is := is.New(t)
	p, _, _ := variantOf(t, source, v)
	s, err := p.Facts.Snapshot(t.Context(), areas...)
	is.NoErr(err)
	is.Equal(s.Check(areas), nil)
	return s
}

// variantOf is native/darwin over a variant.
func variantOf(t *testing.T, source native.Snapshot, v variant, profiler ...func(context.Context) (native.Thunderbolt, error)) (native.Platform, *simfw.Machine, *nativetest.Clock) {
	t.Helper()
	root := simmac.Services(source)
	for _, acio := range root.Children {
		if acio.Name == "acio1" || v.every && strings.HasPrefix(acio.Name, "acio") {
			v.change(acio)
		}
	}
	p, m, clock := loaded(t, root, profiler...)
	m.SetValue("verbs", simmac.Verbs(*source.RDMA))
	if list, ok := v.verbs.([]any); ok {
		m.SetValue("verbs", list)
	}
	if v.verbs == "missing" {
		m.SetMissing("librdma.dylib", true)
	}
	is.New(t).NoErr(m.AddEntry(true, 0, 1, "options", "", "IODTNVRAM", map[string]any{"rdma-enable": []byte("1")}))
	return p, m, clock
}

func find(n *simmac.Node, class string) (found *simmac.Node) {
	n.Walk(func(_, node *simmac.Node) {
		if found == nil && node.Class == class {
			found = node
		}
	})
	if found == nil {
		panic("no " + class)
	}
	return found
}

func rename(n *simmac.Node, class string) {
	n.Walk(func(_, node *simmac.Node) {
		if node.Class == class {
			node.Class = otherClass
		}
	})
}

// drop takes away all of a class, with what hangs from them.
func drop(n *simmac.Node, class string) (dropped []*simmac.Node) {
	kept := n.Children[:0]
	for _, child := range n.Children {
		if child.Class == class {
			dropped = append(dropped, child)
			continue
		}
		dropped = append(dropped, drop(child, class)...)
		kept = append(kept, child)
	}
	n.Children = kept
	return dropped
}

// move hangs all of a class from another entry, with what hangs from them.
func move(n *simmac.Node, class string, to *simmac.Node) {
	to.Children = append(drop(n, class), to.Children...)
}

// compare holds that what is told is as it is, and that exactly the named fields are
// not told beside those that never are.
func compare(t *testing.T, got, want native.Snapshot, unknown []string) {
	t.Helper()
	is := is.New(t)
	var c comparison
	c.values("", plainOf(t, got), plainOf(t, want))
	is.Equal(c.wrong, nil)
	slices.Sort(unknown)
	slices.Sort(c.unknown)
	is.Equal(c.unknown, unknown)
}

func plainOf(t *testing.T, s native.Snapshot) any {
	t.Helper()
	is := is.New(t)
	s.At = native.Timestamp{}
	text, err := json.Marshal(s)
	is.NoErr(err)
	var out any
	is.NoErr(json.Unmarshal(text, &out))
	return out
}

// comparison is of facts with those that are so.
type comparison struct{ wrong, unknown []string }

func (c *comparison) values(at string, got, want any) {
	at = strings.TrimPrefix(at, ".")
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			c.wrong = append(c.wrong, at)
			return
		}
		c.fields(at, got, want)
	case []any:
		c.lists(at, got, want)
	default:
		if !reflect.DeepEqual(got, want) {
			c.wrong = append(c.wrong, fmt.Sprintf("%s is %v and not %v", at, got, want))
		}
	}
}

func (c *comparison) fields(at string, got, want map[string]any) {
	why, _ := got["unknown"].(map[string]any)
	before, _ := want["unknown"].(map[string]any)
	for key := range got {
		if _, there := want[key]; !there && key != "unknown" {
			c.wrong = append(c.wrong, at+"."+key+" is made up")
		}
	}
	for key := range want {
		switch value, there := got[key]; {
		case key == "unknown":
		case there:
			c.values(at+"."+key, value, want[key])
		case why[key] != nil:
			c.unknown = append(c.unknown, strings.TrimPrefix(at+"."+key, "."))
		default:
			c.wrong = append(c.wrong, at+"."+key+" is denied")
		}
	}
	for key := range why {
		if want[key] == nil && before[key] == nil {
			c.wrong = append(c.wrong, at+"."+key+" is called unknown")
		}
	}
}

// lists are of the same things in the same order.
func (c *comparison) lists(at string, got any, want []any) {
	list, ok := got.([]any)
	if !ok || len(list) != len(want) {
		c.wrong = append(c.wrong, fmt.Sprintf("%s has other things: %v", at, got))
		return
	}
	for i := range want {
		c.values(fmt.Sprintf("%s[%d]", at, i), list[i], want[i])
	}
}
