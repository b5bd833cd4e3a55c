package linux

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"fulmen/native"
)

const ownUUID, peerUUID = "c5030000-0072-7508-2341-8a2b5c8ff922", "6b3a5c1e-90dd-4f02-8c21-5d6e7f8090a1"

// onBus is a tree of a bus with one USB4 controller with sockets at adapters 1
// and 3, and with the given files over and beside it. A file of the content "-"
// is not there.
func onBus(t *testing.T, files map[string]string) tree {
	all := map[string]string{
		"0-0/uevent":          "DEVTYPE=thunderbolt_device\nUSB4_VERSION=1.0\n",
		"0-0/generation":      "4\n",
		"0-0/unique_id":       ownUUID + "\n",
		"0-0/usb4_port1/link": "none\n",
		"0-0/usb4_port3/link": "none\n",
	}
	for name, content := range files {
		all[name] = content
	}
	r := recording{fstest.MapFS{}, nil}
	r.files[strings.TrimSuffix(thunderboltFolder, "/")] = &fstest.MapFile{Mode: fs.ModeDir}
	for name, content := range all {
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			r.files[thunderboltFolder+name] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte(target)}
		} else if content != "-" {
			r.files[thunderboltFolder+name] = &fstest.MapFile{Data: []byte(content)}
		}
	}
	return r.tree(t)
}

// withLink are the files of a router or peer of the name.
func withLink(name, kind string) map[string]string {
	return map[string]string{
		name + "/uevent": "DEVTYPE=thunderbolt_" + kind, name + "/unique_id": peerUUID, name + "/vendor_name": "Apple Inc.", name + "/device_name": "Mac16,8",
		name + "/rx_speed": "20.0 Gb/s", name + "/tx_speed": "20.0 Gb/s", name + "/rx_lanes": "2", name + "/tx_lanes": "2",
	}
}

func merged(files ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, some := range files {
		for name, content := range some {
			all[name] = content
		}
	}
	return all
}

// ports reads the bus, of which every fact must be there or explained.
func ports(t *testing.T, files map[string]string) native.Thunderbolt {
	t.Helper()
	is := is.New(t)
	facts, _ := onBus(t, files).thunderbolt()
	is.True(facts != nil)
	is.Equal(native.CheckUnknown(*facts), nil)
	return *facts
}

// TestTornThunderbolt reads what is there for a moment only, or makes no sense.
func TestTornThunderbolt(t *testing.T) {
	peer, hub := withLink("0-301", "xdomain"), withLink("0-1", "device")
	for name, c := range map[string]struct {
		files map[string]string
		holds func(native.Port) bool
	}{
		"a link before anybody spoke": {map[string]string{"0-0/usb4_port1/link": "usb4"}, func(p native.Port) bool {
			return p.Status == "" && p.Unknown["status"].Key() == native.ReasonNotYetRead.Key() && p.Negotiated == nil
		}},
		"a state that does not exist": {map[string]string{"0-0/usb4_port1/link": "warp"}, func(p native.Port) bool {
			return p.Status == "" && p.Unknown["status"].Key() == native.ReasonSourceMalformed.Key()
		}},
		"a port before the kernel told states": {map[string]string{"0-0/usb4_port1/link": "-", "0-0/usb4_port1/connector/x": ""}, func(p native.Port) bool {
			return p.Status == "" && p.Unknown["status"].Key() == native.ReasonNoOS.Key()
		}},
		"a peer whose dock is gone": {peer, func(p native.Port) bool {
			_, err := p.Chain(p.Peers[0])
			return p.Status == native.PortPeer && p.Negotiated == nil && p.Unknown["negotiated"].Key() == native.ReasonSourceGone.Key() && err != nil
		}},
		"lanes of two speeds": {merged(peer, hub, map[string]string{"0-1/rx_speed": "10.0 Gb/s"}), func(p native.Port) bool {
			return p.Hubs[0].Negotiated == nil && p.Negotiated == nil && p.Unknown["negotiated"].Key() == native.ReasonSourceMalformed.Key()
		}},
		"three lanes below 40 Gb/s": {merged(hub, map[string]string{"0-1/rx_lanes": "3", "0-1/tx_lanes": "1"}), func(p native.Port) bool {
			return p.Hubs[0].Negotiated == nil
		}},
		"more lanes than a number holds": {merged(hub, map[string]string{"0-1/rx_lanes": "4294967298"}), func(p native.Port) bool {
			return p.Hubs[0].Negotiated == nil
		}},
		"a speed that is a limit": {merged(hub, map[string]string{"0-1/rx_speed": "Up to 20.0 Gb/s"}), func(p native.Port) bool {
			return p.Hubs[0].Negotiated == nil
		}},
		"a number that is no UUID": {merged(peer, hub, map[string]string{"0-301/unique_id": "6b3a5c1e-90dd-4f02-8c21-5d6e7f8090aé"}), func(p native.Port) bool {
			return p.Peers[0].DomainUUID == "" && p.Unknown["domain_uuid"] == "" && p.DomainUUID == ownUUID
		}},
		"a service that makes no sense": {merged(peer, hub, map[string]string{"0-301.0/prtcid": "1", "0-301.0/prtcvers": "4294967296"}), func(p native.Port) bool {
			_, known := p.Peers[0].Offers(native.ProtocolIP)
			return !known
		}},
		"services in the order of their numbers": {merged(peer, hub, map[string]string{
			"0-301.10/prtcid": "64087", "0-301.10/prtcvers": "1", "0-301.9/prtcid": "1", "0-301.9/prtcvers": "2",
		}), func(p native.Port) bool {
			return len(p.Peers[0].Services) == 2 && p.Peers[0].Services[0] == native.PeerService{ProtocolID: 1, Version: 2}
		}},
		"a name that is no text": {merged(hub, map[string]string{"0-1/device_name": "a\x1b[31m\xff" + strings.Repeat("é", 500), "0-1/vendor_name": "\n"}), func(p native.Port) bool {
			h := p.Hubs[0]
			return len([]rune(h.Name)) == mostLabel && !strings.ContainsAny(h.Name, "\x1b") && h.Vendor == "" && h.Unknown["vendor"] != ""
		}},
		"two peers behind a hub": {merged(hub, peer, withLink("0-501", "xdomain"), map[string]string{
			"0-301.0/prtcid": "1", "0-301.0/prtcvers": "1", "0-301.0/net/thunderbolt0/ifindex": "5",
			"0-501.0/prtcid": "1", "0-501.0/prtcvers": "1", "0-501.0/net/thunderbolt1/ifindex": "6",
		}), func(p native.Port) bool {
			return len(p.Peers) == 2 && p.Interface == "" && strings.Contains(p.Unknown["interface"].Detail(), "thunderbolt0, thunderbolt1")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			port, _ := ports(t, c.files).Port(1)
			if !c.holds(port) {
				t.Errorf("%+v", port)
			}
		})
	}
}

// TestPorts numbers sockets by where controllers are and not by their
// domain's number, which depends on which of them answered first.
func TestPorts(t *testing.T) {
	second := map[string]string{
		"1-0/uevent": "DEVTYPE=thunderbolt_device\nUSB4_VERSION=1.0\n", "1-0/generation": "4", "1-0/unique_id": peerUUID, "1-0/usb4_port2/link": "none",
		"domain0": "-> ../../../devices/pci0000:00/0000:00:0d.3/domain0", "domain1": "-> ../../../devices/pci0000:00/0000:00:0d.2/domain1",
	}
	swapped := merged(second, map[string]string{"domain1": second["domain0"], "domain0": second["domain1"]})
	old := map[string]string{ // before USB4
		"0-0/usb4_port1/link": "-", "0-0/usb4_port3/link": "-", "0-0/generation": "3", "0-0/uevent": "DEVTYPE=thunderbolt_device\n",
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"one controller":                      {nil, "1:c5 2:c5"},
		"two, the first in place first":       {second, "1:6b 2:c5 3:c5"},
		"two, places swapped":                 {swapped, "1:c5 2:c5 3:6b"},
		"two, places not told":                {merged(second, map[string]string{"domain0": "-", "domain1": "-"}), "1:c5 2:c5 3:6b"},
		"before USB4, nothing plugged in":     {old, ""},
		"before USB4, the second in use":      {merged(old, withLink("0-3", "xdomain")), "2:c5"},
		"before USB4, by its second lane":     {merged(old, withLink("0-4", "xdomain")), "2:c5"},
		"before USB4, and another controller": {merged(old, second, withLink("0-1", "device")), "1:6b 2:c5"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range ports(t, c.files).Ports {
				got = append(got, string(rune('0'+p.PortNumber))+":"+p.DomainUUID[:2])
			}
			is.New(t).Equal(strings.Join(got, " "), c.want)
		})
	}
}

func TestCapability(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  native.ThunderboltVersion
	}{
		"USB4":                             {nil, native.TB4},
		"USB4 2.0, idle":                   {map[string]string{"0-0/uevent": "DEVTYPE=thunderbolt_device\nUSB4_VERSION=2.0\n"}, ""},
		"USB4 2.0, a link at 20 Gb/s":      {merged(map[string]string{"0-0/uevent": "DEVTYPE=thunderbolt_device\nUSB4_VERSION=2.0\n"}, withLink("0-1", "xdomain")), ""},
		"USB4 2.0, a link at 40 Gb/s":      {merged(map[string]string{"0-0/uevent": "DEVTYPE=thunderbolt_device\nUSB4_VERSION=2.0\n"}, withLink("0-1", "xdomain"), map[string]string{"0-1/rx_speed": "40.0 Gb/s", "0-1/tx_speed": "40.0 Gb/s"}), native.TB5},
		"USB4 of a version not told":       {map[string]string{"0-0/uevent": "DEVTYPE=thunderbolt_device\n"}, ""},
		"Thunderbolt 3":                    {map[string]string{"0-0/generation": "3"}, native.TB3},
		"Thunderbolt 2":                    {map[string]string{"0-0/generation": "2"}, ""},
		"a generation that does not exist": {map[string]string{"0-0/generation": "9"}, ""},
		"no generation":                    {map[string]string{"0-0/generation": "-"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			port, _ := ports(t, c.files).Port(1)
			is.New(t).Equal(port.Capability, c.want)
		})
	}
}

func TestDeviceNames(t *testing.T) {
	is := is.New(t)
	domain, route, ok := parseDeviceName("12-30501")
	is.True(ok)
	is.Equal(domain, 12)
	is.Equal(route.String(), "0x30501")
	is.Equal(route.Parent().String(), "0x501")
	is.Equal(route.Parent().Parent().Parent().String(), "")
	is.Equal(route.Hops(), 3)
	is.Equal(route.Adapter(), 1)
	for _, name := range []string{"", "-", "0-", "-1", "0-01", "00-1", "+0-1", "0-1G", "0-A", "0-0x1", "0-100", "0-10001", "0-41", "0-ff", "0-0:1.1", "domain0",
		"0-0101010101010101", "0-101010101010101", "65536-1", "0-1 "} {
		if _, _, ok := parseDeviceName(name); ok {
			t.Errorf("%q is a device", name)
		}
	}
	peer, number, ok := parseServiceName("0-301.12")
	is.True(ok)
	is.Equal(peer, "0-301")
	is.Equal(number, 12)
	for _, name := range []string{"0-301", "0-301.", "0-301.01", "0-301.-1", "0-0.1", "0-0:1.1", ".1", "0-301.1.1"} {
		if _, _, ok := parseServiceName(name); ok {
			t.Errorf("%q is a service", name)
		}
	}
}

// TestABusWithoutControllers is a kernel whose driver found nothing, or nothing
// that is switched on.
func TestABusWithoutControllers(t *testing.T) {
	is := is.New(t)
	facts := ports(t, map[string]string{"0-0/uevent": "-"})
	is.Equal(facts.Ports, nil)
	is.Equal(facts.Unknown["ports"].Key(), native.ReasonNoHardware.Key())
}
