package linux

import (
	"io/fs"
	"net/netip"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestParseRDMA(t *testing.T) {
	for text, want := range map[string]int64{
		"2.5 Gb/sec (1X SDR)": 2_500_000_000, "100 Gb/sec (4X EDR)": 100_000_000_000, "14 Gb/sec (1X FDR)": 14_000_000_000,
		"400 Gb/sec (4X NDR)": 400_000_000_000,
		"":                    0, "100": 0, "100 Gb/sec": 0, "100 Gb/s (4X EDR)": 0, "-1 Gb/sec (1X)": 0, "Up to 5 Gb/sec (1X)": 0, "1/2 Gb/sec (1X)": 0,
		"0 Gb/sec (1X)": 0, "1e9 Gb/sec (1X)": 0, "100 Gb/sec (4X EDR": 0,
	} {
		got, err := parseRDMARate(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]native.RDMAPortState{
		"1: DOWN": native.RDMAPortDown, "2: INIT": native.RDMAPortInit, "3: ARMED": native.RDMAPortArmed, "4: ACTIVE": native.RDMAPortActive,
		"": "", "0: NOP": "", "5: ACTIVE_DEFER": "", "ACTIVE": "", "4: DOWN": "",
	} {
		got, err := parseRDMAState(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"0000:0000:0000:0000:0000:ffff:a9fe:0101": "::ffff:169.254.1.1",
		"fe80:0000:0000:0000:0000:00ff:fe00:0102": "fe80::ff:fe00:102",
		"": "", "fe80::1": "", "0000:0000:0000:0000:0000:ffff:169.254.01": "", "fe80:0000:0000:0000:0000:00ff:fe00:010g": "",
		"fe80:0000:0000:0000:0000:0000:0000:1%en0": "",
	} {
		got, err := parseGID(text)
		if (err == nil) != (want != "") || want != "" && got != netip.MustParseAddr(want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// withDevice is a tree of one RDMA device with the given files.
func withDevice(t *testing.T, files map[string]string, fails map[string]error) tree {
	r := recording{fstest.MapFS{"sys/class/infiniband/a/node_guid": {}}, map[string]error{}}
	for name, content := range files {
		r.files[rdmaFolder+"a/"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	for name, err := range fails {
		r.files[rdmaFolder+"a/"+name] = &fstest.MapFile{}
		r.fails[rdmaFolder+"a/"+name] = err
	}
	return r.tree(t)
}

// What a device has carried is the sum of both directions, in bytes; without a count of
// either it is not known.
func TestRDMACarried(t *testing.T) {
	is := is.New(t)
	counts := map[string]string{"ports/1/counters/port_xmit_data": "100\n", "ports/1/counters/port_rcv_data": "20\n"}
	carried, err := withDevice(t, counts, nil).rdmaCarried("a")
	is.NoErr(err)
	is.Equal(carried, uint64(480))
	for _, bad := range []tree{
		withDevice(t, nil, nil),
		withDevice(t, merged(counts, map[string]string{"ports/1/counters/port_rcv_data": "many"}), nil),
	} {
		_, err = bad.rdmaCarried("a")
		is.True(err != nil)
	}
	_, err = withDevice(t, counts, nil).rdmaCarried("../a")
	is.True(err != nil)
}

func TestRDMADevice(t *testing.T) {
	const first, mapped = "fe80:0000:0000:0000:0000:00ff:fe00:0102", "0000:0000:0000:0000:0000:ffff:a9fe:0101"
	active := map[string]string{"ports/1/state": "4: ACTIVE\n", "ports/1/rate": "40 Gb/sec (4X QDR)\n"}
	for name, c := range map[string]struct {
		files map[string]string
		fails map[string]error
		holds func(native.RDMADevice) bool
	}{
		"a device that just went": {nil, nil, func(d native.RDMADevice) bool {
			return d.PortState == "" && d.GIDs == nil && d.Unknown["gids"].Key() == native.ReasonSourceGone.Key()
		}},
		"entries in the order of their index, without those of an old kernel that are empty": {
			merged(active, map[string]string{"ports/1/gids/10": mapped, "ports/1/gids/9": first, "ports/1/gid_attrs/ndevs/9": "eth0\n", "ports/1/gids/x": "y"}),
			map[string]error{"ports/1/gids/0": syscall.EINVAL}, func(d native.RDMADevice) bool {
				_, ok := d.GIDs[1].IPv4()
				return len(d.GIDs) == 2 && d.GIDs[0].Index == 9 && ok && d.GIDs[1].Index == 10 && d.Interface == "eth0"
			}},
		"one entry that cannot be read": {merged(active, map[string]string{"ports/1/gids/1": mapped}),
			map[string]error{"ports/1/gids/0": syscall.EIO}, func(d native.RDMADevice) bool {
				return d.GIDs == nil && d.Unknown["gids"].Key() == native.ReasonReadFailed.Key() && *d.SpeedBitsPerS == 40_000_000_000
			}},
		"the hardware has two interfaces": {merged(active, map[string]string{"device/net/eth0/ifindex": "2", "device/net/eth1/ifindex": "3"}), nil,
			func(d native.RDMADevice) bool { return d.Interface == "" && d.Unknown["interface"] != "" }},
		"the rate of a port that is not active": {merged(active, map[string]string{"ports/1/state": "2: INIT"}), nil,
			func(d native.RDMADevice) bool { return d.SpeedBitsPerS == nil && d.PortState == native.RDMAPortInit }},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			facts, _ := withDevice(t, c.files, c.fails).rdma()
			is.Equal(native.CheckUnknown(*facts), nil)
			if !c.holds(facts.Devices[0]) {
				t.Errorf("%+v", facts.Devices[0])
			}
		})
	}
}

// TestRDMACapabilities holds that hints are promised only where the kernel
// announces what a port does: one on Ethernet follows its interface, one on
// InfiniBand does not.
func TestRDMACapabilities(t *testing.T) {
	is := is.New(t)
	speaks := []hintSource{{[]native.Area{native.AreaRDMA}, func(*machine) ([]listener, error) { return nil, nil }}}
	hints, facts := native.HintsFeature(native.AreaRDMA), native.FactsFeature(native.AreaRDMA)
	ask := func(tree tree) native.Capabilities {
		caps, err := (&machine{tree: tree, sources: speaks, links: func() (tables, error) { return tables{}, nil }}).Capabilities(t.Context())
		is.NoErr(err)
		is.Equal(caps.Check(), nil)
		return caps
	}
	caps := ask(withDevice(t, map[string]string{"ports/1/link_layer": "Ethernet\n"}, nil))
	is.True(caps[hints].Supported && caps[facts].Supported)
	caps = ask(withDevice(t, map[string]string{"ports/1/link_layer": "InfiniBand\n"}, nil))
	is.True(!caps[hints].Supported && caps[facts].Supported)
	caps = ask(recording{fstest.MapFS{}, nil}.tree(t))
	is.True(caps[hints].Supported && !caps[facts].Supported) // a first device would be announced
	is.Equal(caps[facts].Reason.Key(), native.ReasonNoHardware.Key())
}

// TestNoRDMADevice is a kernel that has its part for RDMA, and no device.
func TestNoRDMADevice(t *testing.T) {
	is := is.New(t)
	r := recording{fstest.MapFS{"sys/class/infiniband": {Mode: fs.ModeDir}}, nil}
	facts, _ := r.tree(t).rdma()
	is.Equal(native.CheckUnknown(*facts), nil)
	is.Equal(len(facts.Devices), 0)
	is.Equal(facts.HardwareCapable, nil)
	is.True(*facts.OSCapable)
}
