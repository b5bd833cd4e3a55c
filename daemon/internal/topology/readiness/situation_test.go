package readiness

import (
	"crypto/ed25519"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// The members of made-up desks, ordered by id.
var (
	studio1 = nodeID(1)
	studio2 = nodeID(2)
)

// nodeID makes the ids of made-up nodes, which are in the order of their numbers.
func nodeID(n int) api.NodeID {
	var ids []api.NodeID
	for i := range 4 {
		seed := fmt.Sprintf("%0*d", ed25519.SeedSize, i)
		ids = append(ids, api.NodeIDFromKey(ed25519.NewKeyFromSeed([]byte(seed)).Public().(ed25519.PublicKey)))
	}
	slices.Sort(ids)
	return ids[n-1]
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) api.Time { return api.TimeOf(noon.Add(d)) }

// end is an end that has all that RDMA needs.
func end(node api.NodeID, name string, portNumber api.PortNumber, place, address string) *End {
	iface := fmt.Sprintf("en%d", portNumber+1)
	return &End{
		End: api.LinkEnd{Node: node, PortNumber: portNumber}, Name: name, Place: place, BesideEthernet: new(false),
		Capability: api.Thunderbolt5, Interface: iface,
		Identity: &api.Identity{Platform: api.PlatformDarwin, OSName: "macOS", OSVersion: "26.2", OSBuild: "25C56", BootedAt: at(-time.Hour),
			MLXBackends: []api.MLXBackend{api.MLXBackendRing, api.MLXBackendJACCL}},
		Network: &api.Network{Interfaces: []api.Interface{
			{Name: "bridge0", Type: api.InterfaceBridge, Up: true},
			{Name: iface, Type: api.InterfaceThunderbolt, Up: true, Addresses: []api.InterfaceAddress{{Address: netip.MustParsePrefix(address)}}},
		}},
		RDMA: &api.RDMA{PortNumber: portNumber, HardwareCapable: new(true), OSCapable: new(true), SwitchedOn: new(true),
			Device: &api.RDMADevice{Name: "rdma_" + iface, Interface: iface, PortState: api.RDMAPortActive, GIDs: gids(address)}},
		Sees: new(true),
	}
}

func gids(prefix string) []api.GID {
	address := netip.MustParsePrefix(prefix).Addr()
	return []api.GID{{Address: netip.MustParseAddr("fe80::1")}, {Index: 1, Address: netip.AddrFrom16(address.As16())}}
}

// pair is a cable over which RDMA works.
func pair() Cable {
	c := Cable{
		Low: end(studio1, "studio-1", 4, "back-left", "169.254.1.1/30"), High: end(studio2, "studio-2", 3, "back-left-middle", "169.254.1.2/30"),
		ForwardBitsPerS: 80e9, BackwardBitsPerS: 80e9,
	}
	c.Link = api.LinkID{Low: c.Low.End, High: c.High.End}
	return c
}

// off flips the switch of an end's Mac off; the other end sees it at once.
func off(c *Cable, e *End) {
	e.RDMA.SwitchedOn, e.RDMA.Device = new(false), nil
	c.other(e).Sees = new(false)
	down(c.other(e))
}

func down(e *End) {
	if e.RDMA.Device != nil {
		e.RDMA.Device.PortState = api.RDMAPortDown
	}
}

// notRestarted flips the switch of a Mac on, which takes effect with a restart.
func notRestarted(e *End) {
	e.RDMA.SwitchedOn, e.RDMAUnknown = new(true), map[string]api.Reason{"device": api.ReasonRDMANoDevice}
}

// tb4 makes a port one of Thunderbolt 4.
func tb4(c *Cable, e *End) {
	e.Capability, e.RDMA.HardwareCapable, e.RDMA.Device = api.Thunderbolt4, new(false), nil
	c.other(e).Sees = new(false)
	down(c.other(e))
}

// bridged puts a port into the Thunderbolt Bridge, as macOS has it from the start.
func bridged(e *End) {
	i := &e.Network.Interfaces[1]
	i.Bridge, i.BridgeConfigured, i.Addresses = "bridge0", "bridge0", nil
	e.Network.Interfaces[0].Members = []string{i.Name}
	e.RDMA.Device.GIDs = e.RDMA.Device.GIDs[:1]
}

func tahoe27(e *End) { e.Identity.OSVersion, e.Identity.OSBuild = "27.0", "26A5001" }

func speed(c *Cable, there, back int64) {
	c.ForwardBitsPerS, c.BackwardBitsPerS = there*1e9, back*1e9
}

func alone(c *Cable, name string) {
	c.Link, c.High, c.NonMember, c.PeerName = api.LinkID{}, nil, api.ReasonPeerUnknown, name
	c.Low.Sees = new(false)
	down(c.Low)
}

// situation is what a desk can be like.
type situation struct {
	name   string
	change func(c *Cable)
	want   api.RDMAVerdict
}

func situations() []situation {
	profile := func(e *End, worked time.Duration, failed string) {
		e.Profile = &api.LinkProfile{Transport: api.TransportRDMA, MeasuredAt: at(worked)}
		if failed != "" {
			e.Profile.Failure = &api.MeasureFailure{At: at(worked + time.Minute), Reason: api.ReasonRDMAProbeFailed, Message: failed}
		}
	}
	return []situation{
		{"ready", func(*Cable) {}, api.RDMAReady},
		{"ready-120-40", func(c *Cable) { speed(c, 120, 40) }, api.RDMAReady},
		{"ready-through-a-fast-hub", func(c *Cable) { c.Hubs = []string{"Thunderbolt 5 Hub"} }, api.RDMAReady},
		{"ready-tested", func(c *Cable) {
			profile(c.Low, 0, "")
			c.Low.RDMA.ProbesSinceBoot, c.High.RDMA.ProbesSinceBoot = 2, 3
		}, api.RDMAReady},
		{"person-test-hung", func(c *Cable) {
			profile(c.Low, 0, "the worker did not answer for 20 s")
			c.High.IsSuspect = true
		}, api.RDMANeedsPerson},
		{"ready-rank-killed", func(c *Cable) { c.Low.IsSuspect = true }, api.RDMAReady},
		{"ready-builds-differ", func(c *Cable) { c.High.Identity.OSBuild = "25C61" }, api.RDMAReady},
		{"ready-versions-differ", func(c *Cable) { c.High.Identity.OSVersion, c.High.Identity.OSBuild = "26.3", "" }, api.RDMAReady},
		{"ready-beside-ethernet", func(c *Cable) { c.Low.BesideEthernet, c.Low.Place = new(true), "back-right" }, api.RDMAReady},
		{"ready-beside-ethernet-tested", func(c *Cable) {
			c.Low.BesideEthernet, c.Low.Place = new(true), "back-right"
			profile(c.Low, 0, "")
		}, api.RDMAReady},
		{"ready-until-the-next-start", func(c *Cable) { c.Low.Network.Interfaces[1].BridgeConfigured = "bridge0" }, api.RDMAReady},
		{"ready-test-failed", func(c *Cable) { profile(c.Low, 0, "nothing came through within 20 s") }, api.RDMAReady},
		{"ready-no-jaccl", func(c *Cable) { c.High.Identity.MLXBackends = []api.MLXBackend{api.MLXBackendRing} }, api.RDMAReady},
		{"ready-offer-not-told", func(c *Cable) { c.Low.Sees, c.High.Sees = nil, nil }, api.RDMAReady},
		{"ready-offer-denied", func(c *Cable) { c.Low.Sees, c.High.Sees = new(false), new(false) }, api.RDMAReady},
		{"ready-places-not-known", func(c *Cable) {
			for _, e := range c.ends() {
				e.Place, e.BesideEthernet, e.Identity.OSBuild = "", nil, ""
				e.PortUnknown = map[string]api.Reason{"beside_ethernet": api.ReasonNotSupportedByOS}
				e.IdentityUnknown = map[string]api.Reason{"os_build": api.ReasonNotInScenario}
			}
		}, api.RDMAReady},

		{"enable-as-macos-has-it", func(c *Cable) { bridged(c.Low); bridged(c.High) }, api.RDMACanEnable},
		{"enable-one-end-bridged", func(c *Cable) { bridged(c.High) }, api.RDMACanEnable},
		{"enable-bridged-with-an-address", func(c *Cable) { c.High.Network.Interfaces[1].Bridge = "bridge0" }, api.RDMACanEnable},
		{"enable-no-ipv4-address", func(c *Cable) {
			c.High.RDMA.Device.GIDs, c.High.Network.Interfaces[1].Addresses = c.High.RDMA.Device.GIDs[:1], nil
		}, api.RDMACanEnable},
		{"enable-addresses-do-not-meet", func(c *Cable) {
			c.High.RDMA.Device.GIDs = gids("169.254.77.11/16")
			c.High.Network.Interfaces[1].Addresses[0].Address = netip.MustParsePrefix("169.254.77.11/16")
		}, api.RDMACanEnable},
		{"enable-two-cables-in-the-bridge", func(c *Cable) {
			bridged(c.Low)
			bridged(c.High)
			c.Loop = []string{"studio-1", "studio-2"}
		}, api.RDMACanEnable},
		{"enable-ring-of-bridges", func(c *Cable) {
			bridged(c.Low)
			bridged(c.High)
			c.Loop = []string{"studio-1", "studio-2", "studio-3"}
		}, api.RDMACanEnable},
		{"person-service-in-the-way", func(c *Cable) {
			bridged(c.High) // the other end is as it should be, by a service of its own
			c.Low.Network.Interfaces[1].Service = &api.NetworkService{ID: "1", Name: "By hand", Active: true}
		}, api.RDMANeedsPerson},
		{"ready-by-hand", func(c *Cable) {
			c.Low.Network.Interfaces[1].Service = &api.NetworkService{ID: "1", Name: "By hand", Active: true}
		}, api.RDMAReady},
		{"enable-services-that-do-not-count", func(c *Cable) {
			bridged(c.High)
			c.Low.Network.Interfaces[1].Service = &api.NetworkService{ID: "1", Name: "Fulmen Thunderbolt 4", Active: true, Ours: true}
			c.High.Network.Interfaces[1].Service = &api.NetworkService{ID: "1", Name: "Switched off"}
		}, api.RDMACanEnable},
		{"enable-address-lost", func(c *Cable) {
			c.Low.RDMA.Device.GIDs, c.Low.Network.Interfaces[1].Addresses = c.Low.RDMA.Device.GIDs[:1], nil
			c.Low.Change = &api.RDMAChange{Link: c.Link, State: api.RDMAChangeActive}
		}, api.RDMACanEnable},
		{"enable-under-way", func(c *Cable) {
			bridged(c.High)
			c.Low.Change = &api.RDMAChange{Link: c.Link, State: api.RDMAChangeApplying}
		}, api.RDMACanEnable},
		{"enable-last-try-taken-back", func(c *Cable) {
			bridged(c.High)
			c.High.Change = &api.RDMAChange{Link: c.Link, State: api.RDMAChangeUndone, Reason: api.ReasonRDMAChangeFailed, Message: "studio-2 did not get its address within 20 s."}
		}, api.RDMACanEnable},

		{"person-switch-off-there", func(c *Cable) { off(c, c.High) }, api.RDMANeedsPerson},
		{"person-switch-off-at-both", func(c *Cable) { off(c, c.Low); off(c, c.High) }, api.RDMANeedsPerson},
		{"person-switch-off-macos-27", func(c *Cable) { tahoe27(c.High); off(c, c.High) }, api.RDMANeedsPerson},
		{"person-on-and-not-restarted", func(c *Cable) {
			off(c, c.High)
			notRestarted(c.High)
		}, api.RDMANeedsPerson},
		{"person-switch-off-and-away", func(c *Cable) { off(c, c.High); c.High.Stale, c.Down = true, true }, api.RDMANeedsPerson},
		{"person-cable-at-40", func(c *Cable) { speed(c, 40, 40) }, api.RDMANeedsPerson},
		{"person-hub-at-40", func(c *Cable) { speed(c, 40, 40); c.Hubs = []string{"CalDigit TS4"} }, api.RDMANeedsPerson},
		{"person-cable-down", func(c *Cable) { speed(c, 0, 0); c.Down = true; down(c.Low); down(c.High) }, api.RDMANeedsPerson},
		{"person-system-too-old", func(c *Cable) {
			off(c, c.High)
			c.High.Identity.OSVersion, c.High.Identity.OSBuild, c.High.RDMA.OSCapable = "26.1", "25B78", new(false)
		}, api.RDMANeedsPerson},
		{"person-port-down", func(c *Cable) { down(c.Low); down(c.High) }, api.RDMANeedsPerson},
		{"person-port-being-set-up", func(c *Cable) { c.High.RDMA.Device.PortState = api.RDMAPortInit }, api.RDMANeedsPerson},
		{"person-not-offered", func(c *Cable) { c.Low.Sees = new(false); down(c.Low) }, api.RDMANeedsPerson},
		{"person-without-fulmen", func(c *Cable) { alone(c, "Guest") }, api.RDMANeedsPerson},
		{"person-both-ends-in-one-mac", func(c *Cable) {
			c.High.End.Node, c.High.Name = c.Low.End.Node, c.Low.Name
			c.Link = api.LinkID{Low: c.High.End, High: c.Low.End}
		}, api.RDMANeedsPerson},
		{"person-several-things", func(c *Cable) {
			off(c, c.High)
			speed(c, 40, 40)
		}, api.RDMANeedsPerson},

		{"cannot-thunderbolt-4", func(c *Cable) { speed(c, 40, 40); tb4(c, c.Low); tb4(c, c.High) }, api.RDMACannot},
		{"cannot-thunderbolt-4-there", func(c *Cable) { speed(c, 40, 40); tb4(c, c.High) }, api.RDMACannot},
		{"cannot-thunderbolt-4-switch-off", func(c *Cable) { speed(c, 40, 40); tb4(c, c.High); c.High.RDMA.SwitchedOn = new(false) }, api.RDMACannot},
		{"cannot-without-fulmen-thunderbolt-3", func(c *Cable) {
			speed(c, 40, 40)
			alone(c, "")
			c.Low.Capability, c.Low.RDMA = api.Thunderbolt3, nil
		}, api.RDMACannot},
		{"cannot-linux", func(c *Cable) {
			c.High.Identity = &api.Identity{Platform: api.PlatformLinux, OSName: "Debian", OSVersion: "12"}
			c.High.RDMA = &api.RDMA{OSCapable: new(false)}
		}, api.RDMACannot},

		{"unknown-asleep", func(c *Cable) { c.High.Stale, c.High.State = true, &api.NodeState{State: api.SelfAsleep} }, api.RDMAUnknown},
		{"unknown-unreachable", func(c *Cable) { c.High.Stale = true }, api.RDMAUnknown},
		{"unknown-restarting", func(c *Cable) { c.High.Stale, c.High.State = true, &api.NodeState{State: api.SelfRestarting} }, api.RDMAUnknown},
		{"unknown-nothing-told", func(c *Cable) { c.High.RDMA, c.High.Network, c.High.Identity = nil, nil, nil }, api.RDMAUnknown},
		{"unknown-switch", func(c *Cable) {
			off(c, c.High)
			c.Low.Sees = nil
			c.High.RDMA.SwitchedOn, c.High.RDMAUnknown = nil, map[string]api.Reason{"switched_on": api.ReasonNeedsRoot, "device": api.ReasonNotSupportedByOS}
		}, api.RDMAUnknown},
		{"unknown-speed", func(c *Cable) { speed(c, 0, 0); c.SpeedUnknown = api.ReasonReadFailed }, api.RDMAUnknown},
		{"unknown-addresses", func(c *Cable) {
			c.High.RDMA.Device.GIDs, c.High.RDMAUnknown = nil, map[string]api.Reason{"device.gids": api.ReasonNeedsRoot}
		}, api.RDMAUnknown},
		{"unknown-port-state", func(c *Cable) { c.High.RDMA.Device.PortState = "" }, api.RDMAUnknown},
		{"unknown-device", func(c *Cable) {
			c.High.RDMA.Device, c.High.RDMAUnknown = nil, map[string]api.Reason{"device": api.ReasonSourceGone}
			down(c.Low)
		}, api.RDMAUnknown},
		{"unknown-offer-denied", func(c *Cable) {
			c.Low.Sees, c.Low.RDMA.Device.PortState = new(false), ""
			c.Low.RDMAUnknown = map[string]api.Reason{"device.port_state": api.ReasonReadFailed}
		}, api.RDMAUnknown},
		{"unknown-who-is-there", func(c *Cable) { alone(c, "Mac"); c.NonMember = api.ReasonSourcesDisagree }, api.RDMAUnknown},
	}
}
