package links

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var (
	studio  = api.NodeIDFromKey(make([]byte, 32))
	mbp     = api.NodeIDFromKey(append(make([]byte, 31), 1))
	cableID = link(api.LinkEnd{Node: studio, PortNumber: 3}, api.LinkEnd{Node: mbp, PortNumber: 1})
	address = netip.MustParseAddr("169.254.3.2")
)

func link(a, b api.LinkEnd) api.LinkID {
	id, err := api.NewLinkID(a, b)
	if err != nil {
		panic(err)
	}
	return id
}

func bits(gigabits int64) *int64 { n := gigabits * 1e9; return &n }

// scenario is two Macs that one cable joins.
type scenario struct {
	cables  []api.Cable
	network map[api.NodeID]*api.Network
	device  map[api.NodeID]*api.RDMADevice
}

func newScenario() *scenario {
	network := func(a string) *api.Network {
		return &api.Network{Interfaces: []api.Interface{{Name: "en3", Up: true, Addresses: []api.InterfaceAddress{{Address: netip.MustParsePrefix(a)}}},
			{Name: "en0", DisplayName: "Ethernet", Type: api.InterfaceEthernet, Up: true, Addresses: []api.InterfaceAddress{{Address: netip.MustParsePrefix("192.168.1.3/24")}}}}}
	}
	return &scenario{
		cables: []api.Cable{{
			Link: cableID, RDMA: api.RDMAReady, Verdict: api.VerdictGood, ForwardBitsPerS: bits(80), BackwardBitsPerS: bits(80),
			Ends: []api.CableEnd{{End: cableID.Low, Interface: "en3", Device: "rdma_en3"}, {End: cableID.High, Interface: "en3", Device: "rdma_en3"}},
		}},
		network: map[api.NodeID]*api.Network{studio: network("169.254.3.1/30"), mbp: network("169.254.3.2/30")},
	}
}

func (d *scenario) facts() Facts {
	return Facts{Cables: d.cables, Device: func(e api.LinkEnd) *api.RDMADevice { return d.device[e.Node] }, Network: func(n api.NodeID) *api.Network { return d.network[n] }, Name: func(n api.NodeID) string {
		return map[api.NodeID]string{studio: "mac-studio", mbp: "mbp"}[n]
	}}
}

// loses has RDMA not be ready any more, and the port of a node be active with addresses.
func (d *scenario) loses(node api.NodeID, left []netip.Addr) {
	device := &api.RDMADevice{PortState: api.RDMAPortActive, GIDs: []api.GID{{Address: netip.MustParseAddr("fe80::1")}}}
	for _, a := range left {
		device.GIDs = append(device.GIDs, api.GID{Address: netip.AddrFrom16(a.As16())})
	}
	d.cables[0].RDMA, d.device = api.RDMACanEnable, map[api.NodeID]*api.RDMADevice{node: device}
}

func (d *scenario) plan(b api.Backend) api.Plan {
	p := api.Plan{Backend: b, Ranks: []api.PlanRank{{Node: studio}, {Rank: 1, Node: mbp}}, Links: []api.PlanLink{{To: 1, Link: cableID}}}
	if b == api.BackendRing {
		p.Ranks[1].Addresses = []netip.Addr{address, netip.MustParseAddr("192.168.1.3")}
	}
	return p
}

func TestBroken(t *testing.T) {
	no := false
	for _, c := range []struct {
		name    string
		backend api.Backend
		change  func(d *scenario)
		reason  api.Reason
		message string
	}{
		{"nothing", api.BackendJACCL, func(*scenario) {}, "", ""},
		{"pulled", api.BackendJACCL, func(d *scenario) { d.cables = nil }, api.ReasonLinkGone, "The cable mac-studio:3 - mbp:1 was pulled."},
		{"pulled, as the first end tells", api.BackendRing, func(d *scenario) { d.cables[0].OneSided = true }, api.ReasonLinkGone, "The cable mac-studio:3 - mbp:1 was pulled."},
		{"down", api.BackendRing, func(d *scenario) { d.cables[0].Verdict = api.VerdictDown }, api.ReasonLinkDown, "The cable mac-studio:3 - mbp:1 is down."},
		{"slower", api.BackendJACCL, func(d *scenario) { d.cables[0].BackwardBitsPerS = bits(40) }, api.ReasonLinkChanged,
			"The cable mac-studio:3 - mbp:1 runs at another speed now: 80/40 Gb/s, where it had 80 Gb/s."},
		{"its speed is not told any more", api.BackendJACCL, func(d *scenario) { d.cables[0].ForwardBitsPerS = nil }, "", ""},
		{"a bad verdict is no break", api.BackendJACCL, func(d *scenario) { d.cables[0].Verdict = api.VerdictSlow }, "", ""},
		{"RDMA is not told any more", api.BackendJACCL, func(d *scenario) { d.cables[0].RDMA = api.RDMAUnknown }, "", ""},
		{"RDMA is not ready", api.BackendJACCL, func(d *scenario) { d.cables[0].RDMA = api.RDMACanEnable }, api.ReasonRDMANotReady,
			"RDMA is no longer ready over the cable mac-studio:3 - mbp:1."},
		{"RDMA does not matter to a ring", api.BackendRing, func(d *scenario) { d.cables[0].RDMA = api.RDMACanEnable; d.cables[0].Ends[0].Device = "" }, "", ""},
		{"RDMA lost its address, which the device does not tell yet", api.BackendJACCL, func(d *scenario) { d.network[mbp].Interfaces[0].Addresses = nil },
			api.ReasonAddressLost, "mbp lost the address 169.254.3.2 of en3, which RDMA over the cable mac-studio:3 - mbp:1 needs."},
		{"RDMA has another address", api.BackendJACCL, func(d *scenario) {
			d.network[mbp].Interfaces[0].Addresses = []api.InterfaceAddress{{Address: netip.MustParsePrefix("169.254.9.9/16")}}
		}, api.ReasonAddressLost, "mbp lost the address 169.254.3.2 of en3, which RDMA over the cable mac-studio:3 - mbp:1 needs."},
		{"RDMA lost its address, which the network does not tell yet", api.BackendJACCL, func(d *scenario) { d.loses(mbp, nil) },
			api.ReasonAddressLost, "mbp lost the address 169.254.3.2 of en3, which RDMA over the cable mac-studio:3 - mbp:1 needs."},
		{"RDMA is not ready for another reason", api.BackendJACCL, func(d *scenario) { d.loses(mbp, []netip.Addr{address}) }, api.ReasonRDMANotReady,
			"RDMA is no longer ready over the cable mac-studio:3 - mbp:1."},
		{"its device", api.BackendJACCL, func(d *scenario) { d.cables[0].Ends[1].Device = "" }, api.ReasonLinkChanged,
			"The RDMA device rdma_en3 of mbp at the cable mac-studio:3 - mbp:1 is gone."},
		{"a ring's address", api.BackendRing, func(d *scenario) { d.network[mbp].Interfaces[0].Addresses = nil }, api.ReasonAddressLost,
			"mbp lost the address 169.254.3.2, over which its rank talks."},
		{"a ring's network, with its link", api.BackendRing, func(d *scenario) { d.network[mbp].Interfaces[1].Link = &no }, api.ReasonNetworkLost,
			"mbp lost its network on Ethernet (en0), over which its rank talks."},
		{"a ring's network, with its address", api.BackendRing, func(d *scenario) { d.network[mbp].Interfaces[1].Addresses = nil }, api.ReasonNetworkLost,
			"mbp lost its network on Ethernet (en0), over which its rank talks."},
		{"a ring's address of another rank", api.BackendRing, func(d *scenario) { d.network[studio].Interfaces[0].Addresses = nil }, "", ""},
		{"a ring's interface", api.BackendRing, func(d *scenario) { d.network[mbp].Interfaces[0].Link = &no }, api.ReasonLinkDown,
			"The cable mac-studio:3 - mbp:1 is down: en3 of mbp has no link."},
		{"a ring's interface, with its address", api.BackendRing, func(d *scenario) {
			d.network[mbp].Interfaces[0].Link, d.network[mbp].Interfaces[0].Addresses = &no, nil
		}, api.ReasonLinkDown,
			"The cable mac-studio:3 - mbp:1 is down: en3 of mbp has no link."},
		{"a node of which nothing is known", api.BackendRing, func(d *scenario) { d.network = nil }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d := newScenario()
			plan := d.plan(c.backend)
			before := Begin(plan, d.facts(), true)
			d.cables = append([]api.Cable(nil), d.cables...)
			d.cables[0].Ends = append([]api.CableEnd(nil), d.cables[0].Ends...)
			c.change(d)
			got := before.Broken(plan, d.facts())
			if c.reason == "" {
				is.Equal(got, nil)
				return
			}
			is.True(got != nil)
			is.Equal(got.Reason, c.reason)
			is.Equal(got.Message, c.message)
		})
	}
}

// A way that is no known cable's goes by the name of its interface.
func TestBrokenBesideTheCables(t *testing.T) {
	is := is.New(t)
	d := newScenario()
	plan, no, cables := d.plan(api.BackendRing), false, d.cables
	d.network[mbp].Interfaces[0].Link, d.cables = &no, nil
	resumed := Begin(plan, d.facts(), false) // by a daemon that was started again and has not seen the cable
	is.Equal(resumed.Broken(plan, d.facts()).Message, "The cable mac-studio:3 - mbp:1 is down: en3 of mbp has no link.")
	const byItsInterface = "The link of en3 of mbp, over which its rank talks, is down."
	two := plan
	two.Links = append(two.Links, api.PlanLink{To: 1, Link: link(api.LinkEnd{Node: studio, PortNumber: 4}, api.LinkEnd{Node: mbp, PortNumber: 2})})
	is.Equal(resumed.Broken(two, d.facts()).Message, byItsInterface) // it may be either
	d.cables = cables
	resumed.Learn(two, d.facts())
	is.Equal(resumed.Broken(two, d.facts()).Message, "The cable mac-studio:3 - mbp:1 is down: en3 of mbp has no link.")
	plan.Links = nil
	is.Equal(resumed.Broken(plan, d.facts()).Message, byItsInterface)
}

// An attempt may begin just when its cable goes.
func TestBrokenFromTheBeginning(t *testing.T) {
	is := is.New(t)
	d := newScenario()
	plan, cable := d.plan(api.BackendJACCL), d.cables
	d.cables = nil
	before := Begin(plan, d.facts(), true)
	is.Equal(before.Broken(plan, d.facts()).Reason, api.ReasonLinkGone)

	d.cables = cable
	d.cables[0].RDMA = api.RDMANeedsPerson
	before = Begin(plan, d.facts(), true)
	is.Equal(before.Broken(plan, d.facts()).Reason, api.ReasonRDMANotReady)
}

// A daemon that was started again learns of the cables one after the other, from
// each end and from each source, while the ranks run on.
func TestResumeLearns(t *testing.T) {
	is := is.New(t)
	d := newScenario()
	plan, whole := d.plan(api.BackendJACCL), d.cables[0]
	d.cables = nil
	before := Begin(plan, d.facts(), false)
	half := whole
	half.OneSided, half.RDMA, half.ForwardBitsPerS = true, api.RDMANeedsPerson, nil
	half.Ends = []api.CableEnd{{End: cableID.Low}, {End: cableID.High}}
	for _, c := range []api.Cable{half, whole} {
		is.Equal(before.Broken(plan, d.facts()), nil)
		d.cables = []api.Cable{c}
		is.Equal(before.Broken(plan, d.facts()), nil)
		before.Learn(plan, d.facts())
	}
	d.cables = []api.Cable{half} // now it was known better
	is.Equal(before.Broken(plan, d.facts()).Reason, api.ReasonLinkGone)
}

// A cable is noted anew where more is known of it, and never where less is.
func TestWhatTellsMore(t *testing.T) {
	full := api.Cable{RDMA: api.RDMAReady, ForwardBitsPerS: bits(80), BackwardBitsPerS: bits(80)}
	for name, less := range map[string]func(*api.Cable){
		"nothing less":       func(*api.Cable) {},
		"one end":            func(c *api.Cable) { c.OneSided = true },
		"RDMA is not ready":  func(c *api.Cable) { c.RDMA = api.RDMACanEnable },
		"no speed there":     func(c *api.Cable) { c.ForwardBitsPerS = nil },
		"no speed back":      func(c *api.Cable) { c.BackwardBitsPerS = nil },
		"nothing but a link": func(c *api.Cable) { *c = api.Cable{OneSided: true} },
	} {
		was := full
		less(&was)
		if isMoreComplete(full, was) != (name != "nothing less") || isMoreComplete(was, full) || isMoreComplete(was, was) {
			t.Error(name)
		}
	}
}

// What was noted of addresses stays, whatever becomes of them before the attempt is over.
func TestLearningForgetsNothing(t *testing.T) {
	is := is.New(t)
	d := newScenario()
	plan := d.plan(api.BackendJACCL)
	s := Begin(plan, d.facts(), true)
	d.network[mbp].Interfaces[0].Addresses = []api.InterfaceAddress{{Address: netip.MustParsePrefix("169.254.9.9/16")}}
	s.Learn(plan, d.facts())
	is.Equal(s.Broken(plan, d.facts()).Reason, api.ReasonAddressLost)
}

// A port whose addresses nobody knew has lost none.
func TestRDMAWithoutKnownAddresses(t *testing.T) {
	is := is.New(t)
	d := newScenario()
	d.network = nil
	plan := d.plan(api.BackendJACCL)
	s := Begin(plan, d.facts(), true)
	d.cables = append([]api.Cable(nil), d.cables...)
	d.loses(mbp, nil)
	is.Equal(s.Broken(plan, d.facts()).Reason, api.ReasonRDMANotReady)

	plan.Links = []api.PlanLink{{To: 1}} // a way that is no cable's
	is.Equal(s.Broken(plan, d.facts()), nil)
}

// A cable is found by the interface at the node's own end; those of other nodes, and ways
// that are no cables, are not looked at.
func TestCableAt(t *testing.T) {
	other := link(api.LinkEnd{Node: studio, PortNumber: 4}, api.LinkEnd{Node: api.NodeIDFromKey(append(make([]byte, 31), 2)), PortNumber: 2})
	second := link(api.LinkEnd{Node: studio, PortNumber: 5}, api.LinkEnd{Node: mbp, PortNumber: 2})
	known := api.Cable{Link: cableID}
	for _, e := range []api.LinkEnd{cableID.Low, cableID.High} {
		known.Ends = append(known.Ends, api.CableEnd{End: e, Interface: map[api.NodeID]string{studio: "en3", mbp: "en5"}[e.Node]})
	}
	for name, c := range map[string]struct {
		links []api.LinkID
		known bool
		node  api.NodeID
		at    string
		want  api.LinkID
	}{
		"none":                                {nil, false, mbp, "en5", api.LinkID{}},
		"known":                               {[]api.LinkID{second, cableID}, true, mbp, "en5", cableID},
		"known at the other end":              {[]api.LinkID{cableID}, true, mbp, "en3", api.LinkID{}},
		"known by the other end":              {[]api.LinkID{cableID}, true, studio, "en3", cableID},
		"the only one that is unknown":        {[]api.LinkID{cableID, second}, true, mbp, "en9", second},
		"either":                              {[]api.LinkID{cableID, second}, false, mbp, "en5", api.LinkID{}},
		"beside another node's and a network": {[]api.LinkID{other, {}, second}, false, mbp, "en5", second},
		"of the lower and of the higher end":  {[]api.LinkID{other}, false, studio, "en5", other},
	} {
		s := State{cables: map[api.LinkID]api.Cable{}}
		if c.known {
			s.cables[cableID] = known
		}
		var plan api.Plan
		for _, l := range c.links {
			plan.Links = append(plan.Links, api.PlanLink{Link: l})
		}
		if got := s.cableAt(plan, c.node, c.at); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// An interface is found by its name and by its addresses.
func TestWhichInterface(t *testing.T) {
	is := is.New(t)
	network := newScenario().network[mbp]
	network.Interfaces = append(network.Interfaces, api.Interface{})
	i, has := interfaceCalled(network, "en3")
	is.True(has)
	is.Equal(i.Name, "en3")
	i, has = interfaceOf(network, address)
	is.True(has)
	is.Equal(i.Name, "en3")
	for _, name := range []string{"", "en9"} {
		_, has = interfaceCalled(network, name)
		is.True(!has)
	}
	_, has = interfaceCalled(nil, "en3")
	is.True(!has)
	for _, n := range []*api.Network{nil, network} {
		_, has = interfaceOf(n, netip.MustParseAddr("10.0.0.1"))
		is.True(!has)
	}
}
