package facts

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

// gigabits is a link of whole lanes.
func gigabits(t *testing.T, lane int64, tx, rx int) *native.Link {
	t.Helper()
	link, err := native.LinkFromLanes(lane*1e9, tx, rx)
	if err != nil {
		t.Fatal(err)
	}
	return &link
}

func TestThunderbolt(t *testing.T) {
	is := is.New(t)
	fast := &api.ThunderboltSpeed{TxBitsPerS: 80e9, RxBitsPerS: 80e9, TxLanes: 2, RxLanes: 2, Generation: api.Thunderbolt5}
	value, unknown := thunderbolt(native.Port{
		PortNumber: 2, Place: "back-left", BesideEthernet: new(false), DomainUUID: "A", Capability: native.TB5, Status: native.PortPeer,
		Negotiated: gigabits(t, 40, 2, 2), Interface: "en3",
		Hubs: []native.Hub{
			{Route: "0x10301", Parent: "0x301", Negotiated: gigabits(t, 20, 2, 2)},
			{Route: "0x1", Vendor: "Acme", Name: "Hub", Negotiated: gigabits(t, 40, 2, 2), Unknown: native.Reasons{"negotiated": native.ReasonReadFailed}},
			{Route: "0x301", Parent: "0x1", Unknown: native.Reasons{"negotiated": native.ReasonReadFailed, "vendor": native.ReasonNoOS}},
		},
		Peers: []native.Peer{
			{DomainUUID: "C", Hub: "0x10301", Negotiated: gigabits(t, 40, 3, 1), Unknown: native.Reasons{"services": native.ReasonReadFailed.With("code 5")}},
			{DomainUUID: "B", Name: "Mac15,14", Negotiated: gigabits(t, 40, 2, 2),
				Services: []native.PeerService{{ProtocolID: 77}, {ProtocolID: native.ProtocolRDMA}, {ProtocolID: native.ProtocolIP}, {ProtocolID: 78}}},
			{Hub: "0x1", Services: []native.PeerService{}, Negotiated: &native.Link{State: native.LinkDown}, Unknown: native.Reasons{"domain_uuid": native.ReasonSourceMalformed}},
		},
	})
	is.Equal(value, api.Thunderbolt{
		PortNumber: 2, Place: "back-left", BesideEthernet: new(false), DomainUUID: "A", Capability: api.Thunderbolt5, Interface: "en3",
		Connected: new(true), Negotiated: fast,
		Hubs: []api.ThunderboltHub{ // each after the one it hangs on
			{Route: "0x1", Vendor: "Acme", Name: "Hub"}, // its cable is the port's
			{Route: "0x301", Parent: "0x1"},
			{Route: "0x10301", Parent: "0x301", Negotiated: &api.ThunderboltSpeed{TxBitsPerS: 40e9, RxBitsPerS: 40e9, TxLanes: 2, RxLanes: 2, Generation: api.Thunderbolt4}},
		},
		Peers: []api.ThunderboltPeer{
			{DomainUUID: "B", Name: "Mac15,14", Services: []api.ThunderboltService{api.ServiceIP, api.ServiceOther, api.ServiceRDMA}}, // direct: the port's speed
			{Hub: "0x1", Services: []api.ThunderboltService{}},                                                                        // offers nothing, and says so
			{DomainUUID: "C", Hub: "0x10301", Negotiated: &api.ThunderboltSpeed{TxBitsPerS: 120e9, RxBitsPerS: 40e9, TxLanes: 3, RxLanes: 1, Generation: api.Thunderbolt5}},
		},
	})
	is.Equal(unknown, map[string]api.Reason{
		"hubs.0x301.vendor":     api.ReasonNotSupportedByOS,
		"hubs.0x301.negotiated": api.ReasonReadFailed,
		"peers.1.domain_uuid":   api.ReasonSourceMalformed,
		"peers.1.negotiated":    api.ReasonLinkDown,
		"peers.C.services":      api.ReasonReadFailed,
	})
}

func TestThunderboltAbsent(t *testing.T) {
	for _, c := range []struct {
		what      string
		port      native.Port
		connected *bool
		unknown   map[string]api.Reason
	}{
		{"an empty port whose lanes are trained", native.Port{PortNumber: 1, Status: native.PortEmpty, Negotiated: gigabits(t, 40, 2, 2)}, new(false),
			map[string]api.Reason{"negotiated": api.ReasonNotConnected}},
		{"a device whose lanes are not", native.Port{PortNumber: 1, Status: native.PortDevice, Negotiated: &native.Link{State: native.LinkDown}}, new(true),
			map[string]api.Reason{"negotiated": api.ReasonLinkDown}},
		{"nothing told", native.Port{PortNumber: 1, Unknown: native.Reasons{"status": native.ReasonNeedsRoot, "negotiated": native.ReasonReadFailed, "capability": native.ReasonNoPlatform}}, nil,
			map[string]api.Reason{"connected": api.ReasonNeedsRoot, "negotiated": api.ReasonReadFailed, "capability": api.ReasonNotSupportedByPlatform}},
	} {
		t.Run(c.what, func(t *testing.T) {
			is := is.New(t)
			value, unknown := thunderbolt(c.port)
			is.Equal(value.Connected, c.connected)
			is.Equal(value.Negotiated, nil)
			is.Equal(unknown, c.unknown)
		})
	}
}

func TestSignalled(t *testing.T) {
	is := is.New(t)
	is.Equal(signalled(native.Gen3, native.TB5), api.Thunderbolt4)
	is.Equal(signalled(native.Gen3, native.TB3), api.Thunderbolt3)
	is.Equal(signalled(native.Gen3, ""), api.ThunderboltGeneration("")) // 3 and 4 have lanes alike
	is.Equal(signalled(native.Gen2, native.TB4), api.Thunderbolt3)
}

func TestTornHubsKeepAnOrder(t *testing.T) {
	is := is.New(t)
	ordered := parentsFirst([]native.Hub{{Route: "0x5", Parent: "0x4"}, {Route: "0x3", Parent: "0x3"}, {Route: "0x1"}})
	is.Equal([]string{ordered[0].Route, ordered[1].Route, ordered[2].Route}, []string{"0x1", "0x3", "0x5"})
}
