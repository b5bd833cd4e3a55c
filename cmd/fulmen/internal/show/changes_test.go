package show

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// silenced is a document that is kept though nothing tells of its kind.
func silenced(d api.Document) api.Document {
	d.Unknown = map[string]api.Reason{string(d.Kind): api.ReasonSourceGone}
	return d
}

func clusterNames() map[api.NodeID]string { return NamesOf(clusterNodes()) }

// TestChangesOfHardware holds each line of a watch to what a person sees happen.
func TestChangesOfHardware(t *testing.T) {
	studioPort := func(p api.Thunderbolt) api.Document { p.PortNumber = 2; return portDoc(t, studio, p) }
	to := func(speed int64, services ...api.ThunderboltService) api.Thunderbolt {
		peer := peerOf(second, "1")
		peer.Services = services
		return api.Thunderbolt{Negotiated: at(speed), Peers: []api.ThunderboltPeer{peer}}
	}
	hub := api.ThunderboltHub{Route: "1", Vendor: "CalDigit", Name: "TS5 Plus"}
	deep := api.ThunderboltHub{Route: "2", Parent: "1", Name: "inner"}
	behind := peerOf(book, "2")
	behind.Hub = "2"
	rdma := func(r api.RDMA) api.Document { r.PortNumber = 2; return rdmaDoc(t, studio, r) }
	device := func(state api.RDMAPortState, gids ...string) *api.RDMADevice {
		d := &api.RDMADevice{Name: "rdma_en4", PortState: state, GIDs: []api.GID{}}
		for i, g := range gids {
			d.GIDs = append(d.GIDs, api.GID{Index: i, Address: netip.MustParseAddr(g)})
		}
		return d
	}
	network := func(primary string, all ...api.Interface) api.Document {
		return named(t, studio, api.KindNetwork, "", api.Network{Interfaces: all, PrimaryInterface: primary})
	}
	en5 := func(change func(*api.Interface)) api.Interface {
		i := api.Interface{Name: "en5", Type: api.InterfaceThunderbolt, Up: true, Link: ptr(true), MTUBytes: ptr(int64(1500)),
			Addresses: []api.InterfaceAddress{{Address: netip.MustParsePrefix("169.254.1.1/30")}}}
		if change != nil {
			change(&i)
		}
		return i
	}
	way := func(state api.PathState, reason api.Reason) api.Document {
		r := api.Reach{Peer: second, Address: netip.MustParseAddr("169.254.1.2"), Interface: "en5", Kind: api.LinkTB5, State: state, Reason: reason}
		return named(t, studio, api.KindReach, string(second)+"/169.254.1.2", r)
	}
	for _, c := range []struct {
		name          string
		before, after api.Document
		want          string
	}{
		{"plugged", studioPort(api.Thunderbolt{}), studioPort(to(80)), "cable to mac-studio-2:1 at 80 Gb/s TB5"},
		{"unplugged", studioPort(to(80)), studioPort(api.Thunderbolt{}), "unplugged, was cable to mac-studio-2:1"},
		{"retrained", studioPort(to(80)), studioPort(to(40)), "negotiated 40 Gb/s TB4 where both ends can 80 Gb/s, was 80 Gb/s TB5"},
		{"mended", studioPort(to(40)), studioPort(to(80)), "negotiated 80 Gb/s TB5, was 40 Gb/s TB4"},
		{"lopsided", studioPort(to(80)), studioPort(func() api.Thunderbolt {
			p := to(80)
			p.Negotiated = &api.ThunderboltSpeed{TxBitsPerS: 120e9, RxBitsPerS: 40e9, Generation: api.Thunderbolt5}
			return p
		}()), "negotiated 120/40 Gb/s TB5, was 80 Gb/s TB5"},
		{"through hubs", studioPort(to(80)), studioPort(api.Thunderbolt{Negotiated: at(80), Hubs: []api.ThunderboltHub{hub, deep}, Peers: []api.ThunderboltPeer{behind}}),
			"cable to a Mac through 2 hubs at 80 Gb/s TB5, was cable to mac-studio-2:1"},
		{"dock alone", studioPort(api.Thunderbolt{}), studioPort(api.Thunderbolt{Negotiated: at(40), Hubs: []api.ThunderboltHub{hub}}),
			"hub CalDigit TS5 Plus at 40 Gb/s TB4 where this port can 80 Gb/s"},
		{"something else", studioPort(api.Thunderbolt{}), studioPort(api.Thunderbolt{Connected: ptr(true)}), "a device that is neither a hub nor a computer"},
		{"RDMA offered", studioPort(to(80, api.ServiceIP)), studioPort(to(80, api.ServiceIP, api.ServiceRDMA)), "mac-studio-2:1 offers RDMA now"},
		{"RDMA withdrawn", studioPort(to(80, api.ServiceRDMA)), studioPort(to(80)), "mac-studio-2:1 no longer offers RDMA"},
		{"source gone", studioPort(to(80)), silenced(studioPort(to(80))), "cable to mac-studio-2:1 at 80 Gb/s TB5, last known: The source of this value is gone"},
		{"source back", silenced(studioPort(to(80))), studioPort(to(80)), "reported again: cable to mac-studio-2:1 at 80 Gb/s TB5"},
		{"source back with news", silenced(studioPort(to(80))), studioPort(api.Thunderbolt{}), "unplugged, was cable to mac-studio-2:1"},
		{"nothing to tell", studioPort(to(80)), studioPort(to(80)), "cable to mac-studio-2:1 at 80 Gb/s TB5"},

		{"switch on", rdma(api.RDMA{SwitchedOn: ptr(false)}), rdma(api.RDMA{SwitchedOn: ptr(true)}), "switched on"},
		{"switch off", rdma(api.RDMA{SwitchedOn: ptr(true), Device: device("active")}), rdma(api.RDMA{SwitchedOn: ptr(false)}), "switched off; device rdma_en4 is gone"},
		{"device", rdma(api.RDMA{SwitchedOn: ptr(true)}), rdma(api.RDMA{SwitchedOn: ptr(true), Device: device("down")}), "device rdma_en4 appeared, port down"},
		{"port active", rdma(api.RDMA{Device: device("down")}), rdma(api.RDMA{Device: device("active", "::ffff:169.254.1.1")}),
			"rdma_en4: port active, was down; rdma_en4 gained GID ::ffff:169.254.1.1"},
		{"GID lost", rdma(api.RDMA{Device: device("active", "::ffff:169.254.1.1", "fe80::1")}), rdma(api.RDMA{Device: device("active", "fe80::1")}),
			"rdma_en4 lost GID ::ffff:169.254.1.1"},
		{"probe counted", rdma(api.RDMA{SwitchedOn: ptr(true)}), rdma(api.RDMA{SwitchedOn: ptr(true), ProbesSinceBoot: 1}), "on, no device"},

		{"link down", network("", en5(nil)), network("", en5(func(i *api.Interface) { i.Link, i.Addresses = ptr(false), nil })), "en5 link down; en5 lost 169.254.1.1"},
		{"link up", network("", en5(func(i *api.Interface) { i.Link = nil })), network("", en5(nil)), "en5 link up"},
		{"switched off", network("", en5(nil)), network("", en5(func(i *api.Interface) { i.Up = false })), "en5 switched off"},
		{"bridge joined", network("", en5(nil)), network("", en5(func(i *api.Interface) { i.Bridge = "bridge0" })), "en5 joined bridge0"},
		{"bridge left", network("", en5(func(i *api.Interface) { i.Bridge = "bridge0" })), network("", en5(nil)), "en5 left bridge0"},
		{"MTU", network("", en5(nil)), network("", en5(func(i *api.Interface) { i.MTUBytes = ptr(int64(9000)) })), "en5 MTU 9000, was 1500"},
		{"speed", network("", en5(nil)), network("", en5(func(i *api.Interface) { i.SpeedBitsPerS = gbits(10) })), "en5 speed 10 Gb/s, was -"},
		{"appeared", network("en0"), network("en5", en5(nil)), "en5 (thunderbolt) appeared with 169.254.1.1; the default route is over en5, was en0"},
		{"disappeared", network("", en5(nil)), network(""), "en5 is gone"},

		{"path lost", way(api.PathActive, ""), way(api.PathFailed, api.ReasonLinkDown), "no longer reaches mac-studio-2 at 169.254.1.2 over en5 (TB5): The link is down"},
		{"path back", way(api.PathFailed, ""), way(api.PathActive, ""), "now reaches mac-studio-2 at 169.254.1.2 over en5 (TB5)"},
		{"path proved again", way(api.PathActive, ""), way(api.PathActive, ""), "reaches mac-studio-2 at 169.254.1.2 over en5 (TB5)"},
		{"path in reserve", way(api.PathActive, ""), way(api.PathStandby, ""), "can reach mac-studio-2 at 169.254.1.2 over en5 (TB5), standby"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			reported := Changes{View: View{Now: now()}, Names: clusterNames()}
			reported.Begin([]api.Document{c.before, portDoc(t, second, api.Thunderbolt{PortNumber: 1})})
			is.Equal(reported.Line(c.after), c.want+" SIMULATED")
		})
	}
}

func TestChangesRememberAndForget(t *testing.T) {
	is := is.New(t)
	reported := Changes{View: View{Now: now()}, Names: clusterNames()}
	empty, full := portDoc(t, studio, api.Thunderbolt{PortNumber: 1}), clusterDocs(t)[3]
	is.Equal(reported.Line(empty), "empty SIMULATED") // before any snapshot
	is.Equal(reported.Line(full), "cable to a Mac at 80 Gb/s TB5 SIMULATED")
	is.Equal(reported.Line(empty), "unplugged, was cable to a Mac SIMULATED")
	reported.Begin(nil)
	is.Equal(reported.Line(empty), "empty SIMULATED") // nothing was known any more
	is.Equal(reported.Gone(empty.Key()), "gone")
	is.Equal(reported.Line(empty), "empty SIMULATED")

	reach := clusterDocs(t)[12]
	reported.Begin([]api.Document{reach})
	is.Equal(reported.Gone(reach.Key()), "gone: mac-studio-2 at 192.168.1.5")
	is.Equal(reported.Name("078fnf953z5vwawj"), "078f-nf95-3z5v-wawj")

	lost := full
	lost.Deleted, lost.Value = true, nil
	reported.Begin([]api.Document{full})
	is.Equal(reported.Line(lost), "gone SIMULATED")
	is.Equal(reported.Line(full), "cable to a Mac at 80 Gb/s TB5 SIMULATED") // it is no change of what is gone
}

func TestSummariesOfLinks(t *testing.T) {
	is := is.New(t)
	reported := Changes{View: View{Now: now()}, Names: clusterNames()}
	profile := api.LinkProfile{Peer: second, LinkKind: api.LinkTB5, UpBitsPerS: gbits(60), RTTUS: ptr(18.), MeasuredAt: before(0)}
	is.Equal(reported.Line(doc(t, studio, api.KindLinkProfile, profile, nil)), "mac-studio-2 over TB5: up 60 Gb/s, down -, RTT/2 9 µs, measured just now")
	failed := api.LinkProfile{Peer: second, LinkKind: api.LinkRDMA, Failure: &api.MeasureFailure{Message: "The peer\x1b stalled."}}
	is.Equal(reported.Line(doc(t, studio, api.KindLinkProfile, failed, nil)), `mac-studio-2 over RDMA: not measured; the last attempt failed: The peer\x1b stalled.`)
	unread := doc(t, studio, api.KindThunderbolt, api.Thunderbolt{}, map[string]api.Reason{"connected": api.ReasonReadFailed})
	is.Equal(View{Wide: true}.Summary(unread), "not known whether something is plugged in: unknown (Reading it failed; the log has the cause)")
	broken := doc(t, studio, api.KindReach, []int{1}, nil)
	is.Equal(reported.Line(broken), "[1]")
}
