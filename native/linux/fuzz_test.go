package linux

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"fulmen/native"
	"fulmen/native/nativetest"
)

func FuzzMeminfo(f *testing.F) {
	f.Add([]byte("MemTotal: 24684096 kB\nHugePages_Total: 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, size := range parseMeminfo(data) {
			if size < 0 || size%1024 != 0 {
				t.Errorf("%s: %d bytes", name, size)
			}
		}
		parseCounters(data)
	})
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("cpu  1000 50 300 8000 200 0 50 0 0 0\nbtime 1795252400\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if times := parseStat(data); times.busy > times.total {
			t.Errorf("busy %d of %d", times.busy, times.total)
		}
	})
}

func FuzzPressure(f *testing.F) {
	f.Add([]byte("some avg10=1.50 avg60=0.80 avg300=0.10 total=1\nfull avg10=0.50\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ratios := parsePressure(data)
		for _, r := range []*float64{ratios.some, ratios.full} {
			if r != nil && !(*r >= 0 && *r <= 1) {
				t.Errorf("a ratio of %v", *r)
			}
		}
	})
}

func FuzzShellVariables(f *testing.F) {
	f.Add([]byte("NAME=\"Debian GNU/Linux\"\nPRETTY_HOSTNAME='Ada'\\''s'\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, value := range parseShellVariables(data) {
			if !isShellName(name) || !utf8.ValidString(value) || strings.Contains(value, "\n") {
				t.Errorf("%q = %q", name, value)
			}
		}
	})
}

func FuzzCPUInfo(f *testing.F) {
	f.Add([]byte("model name\t: AMD EPYC\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		info := parseCPUInfo(data)
		if !utf8.ValidString(info.model) {
			t.Errorf("%q", info.model)
		}
		for _, p := range info.parts {
			if p.name() == "" {
				t.Errorf("%v has no name", p)
			}
		}
	})
}

func FuzzCPUList(f *testing.F) {
	f.Add("0-3,8")
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := parseCPUList(text)
		if err == nil && len(cpus) > maxCPU {
			t.Errorf("%d processors", len(cpus))
		}
	})
}

func FuzzUevent(f *testing.F) {
	f.Add(message("add@"+xdomain, "ACTION=add", "DEVPATH="+xdomain, "SUBSYSTEM=thunderbolt", "SEQNUM=1"))
	f.Add(message("add@"+xdomain+"/0-301.0/net/a", "ACTION=add", "DEVPATH="+xdomain+"/0-301.0/net/a", "SUBSYSTEM=net", "SEQNUM=1"))
	f.Add([]byte("libudev\x00\xfe\xed\xca\xfe"))
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := parseUevent(data)
		if err != nil {
			return
		}
		if len(data) > mostUeventBytes || !strings.HasPrefix(string(data), u.action+"@"+u.device+"\x00") || u.subsystem == "" {
			t.Errorf("%+v", u)
		}
		if !utf8.ValidString(u.subject()) || strings.Contains(u.subject(), "\x00") {
			t.Errorf("subject %q", u.subject())
		}
		for _, area := range u.areas() {
			if !slices.Contains(ueventAreas(), area) {
				t.Errorf("area %q", area)
			}
		}
	})
}

func FuzzThunderboltNames(f *testing.F) {
	f.Add("0-0")
	f.Add("12-30501")
	f.Add("0-301.12")
	f.Fuzz(func(t *testing.T, name string) {
		if domain, route, ok := parseDeviceName(name); ok {
			if fmt.Sprintf("%d-%x", domain, uint64(route)) != name || route.Hops() > maxHops {
				t.Errorf("%q: domain %d, route %s", name, domain, route)
			}
			hops := 0
			for ; route != 0; route = route.Parent() {
				hops++
			}
			if hops > maxHops {
				t.Errorf("%q has %d hops", name, hops)
			}
		}
		if peer, number, ok := parseServiceName(name); ok && fmt.Sprintf("%s.%d", peer, number) != name {
			t.Errorf("%q: peer %q, number %d", name, peer, number)
		}
	})
}

func FuzzRDMA(f *testing.F) {
	f.Add("100 Gb/sec (4X EDR)")
	f.Add("0000:0000:0000:0000:0000:ffff:a9fe:0101")
	f.Fuzz(func(t *testing.T, text string) {
		if rate, err := parseRDMARate(text); (err == nil) != (rate > 0) {
			t.Errorf("rate %d, %v", rate, err)
		}
		if gid, err := parseGID(text); err == nil && (!gid.Is6() || gid.Zone() != "" || !strings.EqualFold(gid.StringExpanded(), text) && !gid.Is4In6()) {
			t.Errorf("%q: %v", text, gid)
		}
	})
}

// FuzzTree gives the same content to every kind of file: whatever it is, the
// facts are there or explained, and have a JSON form that reads back.
func FuzzTree(f *testing.F) {
	f.Add([]byte("1"))
	f.Add([]byte("-9223372036854775808"))
	f.Add([]byte("9223372036854775807"))
	f.Add([]byte("Battery"))
	f.Add([]byte("20.0 Gb/s\n"))
	f.Add([]byte("4: ACTIVE\n"))
	f.Add([]byte("c5030000-0072-7508-2341-8a2b5c8ff922\n"))
	f.Add([]byte("DEVTYPE=thunderbolt_xdomain\nUSB4_VERSION=2.0\n"))
	f.Add([]byte("a\x00b\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := recording{fstest.MapFS{}, nil}
		for _, name := range []string{
			"etc/machine-id", "proc/sys/kernel/hostname", "proc/sys/kernel/arch", "proc/sys/kernel/osrelease", "proc/sys/kernel/random/boot_id",
			"sys/block/zram0/mm_stat", "sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current", "sys/fs/cgroup/memory.swap.max",
			"sys/class/dmi/id/product_name", "sys/class/dmi/id/product_uuid", "sys/class/dmi/id/sys_vendor", "sys/firmware/devicetree/base/model",
			"sys/devices/system/cpu/online", "sys/class/hwmon/hwmon0/name", "sys/class/hwmon/hwmon0/temp1_input", "sys/class/hwmon/hwmon0/fan1_input",
			"sys/class/power_supply/a/type", "sys/class/power_supply/b/capacity", "sys/class/power_supply/b/energy_now", "sys/class/power_supply/b/energy_full",
			"sys/class/powercap/intel-rapl:0/energy_uj", "sys/class/net/eth0/speed",
			thunderboltFolder + "0-0/generation", thunderboltFolder + "0-0/unique_id", thunderboltFolder + "0-0/usb4_port1/link",
			thunderboltFolder + "0-0/usb4_port1/connector/physical_location/panel", thunderboltFolder + "0-1/vendor_name",
			thunderboltFolder + "0-1/rx_speed", thunderboltFolder + "0-1/tx_speed", thunderboltFolder + "0-1/rx_lanes", thunderboltFolder + "0-1/tx_lanes",
			thunderboltFolder + "0-301/unique_id", thunderboltFolder + "0-301/device_name", thunderboltFolder + "0-301.0/prtcid", thunderboltFolder + "0-301.0/prtcvers",
			rdmaFolder + "a/ports/1/state", rdmaFolder + "a/ports/1/rate", rdmaFolder + "a/ports/1/gids/0", rdmaFolder + "a/ports/1/gid_attrs/ndevs/0",
		} {
			r.files[name] = &fstest.MapFile{Data: data}
		}
		r.files[thunderboltFolder+"0-0/uevent"] = &fstest.MapFile{Data: []byte("DEVTYPE=thunderbolt_device\n" + string(data))}
		r.files[thunderboltFolder+"0-1/uevent"] = &fstest.MapFile{Data: []byte("DEVTYPE=thunderbolt_device\n")}
		r.files[thunderboltFolder+"0-301/uevent"] = &fstest.MapFile{Data: []byte("DEVTYPE=thunderbolt_xdomain\n")}
		r.files["proc/meminfo"] = &fstest.MapFile{Data: []byte("MemTotal: 4 kB\nMemAvailable: 2 kB\nSwapTotal: 2 kB\n")}
		r.files["sys/class/power_supply/b/type"] = &fstest.MapFile{Data: []byte("Battery")}
		r.files["sys/class/powercap/intel-rapl:0/name"] = &fstest.MapFile{Data: []byte("package-0")}
		r.files["sys/class/net/eth0/ifindex"] = &fstest.MapFile{Data: []byte("1")}
		r.files["sys/class/net/eth0/address"] = &fstest.MapFile{}
		tree := r.tree(t)
		var s sampler
		s.read(tree, time.Second)
		network, _ := tree.network(func() (tables, error) {
			return tables{Links: []link{{Index: 1, Name: "eth0", Hardware: hardwareEther, Flags: iffUp | iffLowerUp}}}, nil
		})
		memory := tree.memory()
		(&machine{tree: tree, clock: nativetest.NewClock(time.Unix(0, 0))}).setPressure(memory)
		facts := native.Snapshot{Identity: tree.identity(), Memory: memory, System: s.read(tree, 2*time.Second), Network: network}
		facts.Thunderbolt, _ = tree.thunderbolt()
		facts.RDMA, _ = tree.rdma()
		if problems := native.CheckUnknown(facts); problems != nil {
			t.Error(problems)
		}
		encoded, err := json.Marshal(facts)
		if err != nil || !json.Valid(encoded) {
			t.Error(err)
		}
	})
}
