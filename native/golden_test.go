package native_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

var update = flag.Bool("update", false, "write the golden files again")

// golden holds the JSON of v against testdata/name.json, and what is read back
// from that file against v: both directions are the contract.
func golden[T any](t *testing.T, name string, v T) {
	t.Helper()
	is := is.New(t)
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetIndent("", "  ")
	is.NoErr(enc.Encode(v))
	path := filepath.Join("testdata", name+".json")
	if *update {
		is.NoErr(os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(got.String(), string(want))
	var back T
	dec := json.NewDecoder(bytes.NewReader(want))
	dec.DisallowUnknownFields()
	is.NoErr(dec.Decode(&back))
	if !reflect.DeepEqual(back, v) {
		t.Errorf("%s reads back as\n%+v\nnot\n%+v", name, back, v)
	}
}

var at = native.Stamp(time.Date(2026, 11, 21, 12, 0, 0, 250e6, time.UTC))

// studio is a Mac Studio with a Mac on receptacle 1, another behind a hub on
// receptacle 2, and nothing on receptacle 3.
func studio() native.Snapshot {
	tb5 := &native.Link{State: native.LinkUp, Generation: native.Gen4, LaneBitsPerS: 40e9, TxLanes: 2, RxLanes: 2, TxBitsPerS: 80e9, RxBitsPerS: 80e9}
	tb4 := &native.Link{State: native.LinkUp, Generation: native.Gen3, LaneBitsPerS: 20e9, TxLanes: 2, RxLanes: 2, TxBitsPerS: 40e9, RxBitsPerS: 40e9}
	return native.Snapshot{
		At: at, Platform: "sim", Simulated: true,
		Identity: &native.Identity{
			Name: "Studio 1", HostName: "studio-1", Model: "Mac15,14", ModelName: "Mac Studio", Chip: "Apple M3 Ultra",
			OSName: "macOS", OSVersion: "26.2", OSBuild: "25C56", Architecture: "arm64", CPUCores: new(28),
			CPUPerformanceCores: new(20), CPUEfficiencyCores: new(8), GPUCores: new(60), GPUMemory: native.GPUMemoryUnified, BootedAt: at, BootID: "5f0c",
			Unknown: native.Reasons{"hardware_id": native.ReasonNotInScenario},
		},
		Memory: &native.Memory{
			TotalBytes: new(int64(256 << 30)), UsedBytes: new(int64(40 << 30)), WiredBytes: new(int64(8 << 30)),
			AvailableBytes: new(int64(216 << 30)), SwapTotalBytes: new(int64(0)), SwapUsedBytes: new(int64(0)),
			Pressure: native.PressureNormal, GPUWorkingSetBytes: new(int64(192 << 30)), GPUUsedBytes: new(int64(0)),
			Unknown: native.Reasons{"compressed_bytes": native.ReasonSourceMalformed.With("compressor -1"), "pressure_stall_ratio": native.ReasonNoPlatform},
		},
		System: &native.System{
			GPUUseRatio: new(0.0), GPULoadRatio: new(0.0), SystemPowerWatts: new(12.5), ThermalState: native.ThermalNominal, PowerSource: native.PowerAC,
			LowPowerMode: new(false), GPUTemperatureCelsius: new(41.5),
			Temperatures: []native.Temperature{{Name: "Tg0D", TemperatureCelsius: 41.5}}, Fans: []native.Fan{{Name: "left", SpeedHz: new(20.5), MaxSpeedHz: new(48.25)}},
			Unknown: native.Reasons{
				"interval_s": native.ReasonNotYetRead, "cpu_use_ratio": native.ReasonNotYetRead, "gpu_frequency_hz": native.ReasonNotYetRead,
				"cpu_power_watts": native.ReasonNotYetRead, "gpu_power_watts": native.ReasonNotYetRead, "package_power_watts": native.ReasonNotYetRead,
				"cpu_temperature_celsius": native.ReasonReadFailed.With("AppleSMC: 132"),
				"battery_ratio":           native.ReasonNoHardware,
			},
		},
		Network: &native.Network{
			Interfaces: []native.Interface{
				{Name: "en0", Type: native.InterfaceEthernet, Index: 4, HardwareAddress: "02:00:00:00:00:01", Up: new(true), Link: new(true), MTUBytes: new(int64(1500)), Expensive: new(false), SpeedBitsPerS: new(int64(10e9)),
					Addresses: []native.InterfaceAddress{{Address: netip.MustParsePrefix("192.168.1.20/24"), Origin: native.OriginDHCP}}},
				{Name: "en2", Type: native.InterfaceThunderbolt, Index: 6, DisplayName: "Thunderbolt 1", Up: new(true), Link: new(true), MTUBytes: new(int64(9000)), Expensive: new(false), PortNumber: new(1),
					Addresses: []native.InterfaceAddress{{Address: netip.MustParsePrefix("fe80::1/64"), Origin: native.OriginLinkLocal}},
					Unknown:   native.Reasons{"speed_bits_per_s": native.ReasonNoOS}},
			},
			Bridges: []native.Bridge{{Name: "bridge0", KernelMembers: []string{}, StoredMembers: []string{"en2"}, Active: new(false)}},
			Services: []native.NetworkService{{ID: "8C2F", Name: "Fulmen Thunderbolt 1", Interface: "en2", Enabled: true, IPv4: native.OriginManual,
				Addresses: []netip.Prefix{netip.MustParsePrefix("169.254.1.1/30")}}},
			PrimaryInterface: "en0",
		},
		Thunderbolt: &native.Thunderbolt{Ports: []native.Port{
			{PortNumber: 1, Place: "back-left", DomainUUID: "A1", Capability: native.TB5, Status: native.PortPeer, Negotiated: tb5, Hubs: []native.Hub{}, Interface: "en2",
				Peers: []native.Peer{{DomainUUID: "B1", Name: "Mac17,7", Vendor: "Apple Inc.", Negotiated: tb5, Services: []native.PeerService{{ProtocolID: native.ProtocolIP, Version: 1}, {ProtocolID: native.ProtocolRDMA, Version: 1}}}}},
			{PortNumber: 2, Place: "back-right", DomainUUID: "A2", Capability: native.TB5, Status: native.PortPeer, Negotiated: tb5, Interface: "en3",
				Hubs: []native.Hub{
					{Route: "0x1", Vendor: "Acme", Name: "Hub 5", Negotiated: tb5},
					{Route: "0x301", Parent: "0x1", Negotiated: tb4, Unknown: native.Reasons{"vendor": native.ReasonNoOS, "name": native.ReasonNoOS}},
				},
				Peers: []native.Peer{{Name: "Mac16,9", Vendor: "Apple Inc.", Hub: "0x301", Negotiated: tb5, Services: []native.PeerService{}, Unknown: native.Reasons{"domain_uuid": native.ReasonSourceGone}}}},
			{PortNumber: 3, DomainUUID: "A3", Capability: native.TB5, Status: native.PortEmpty, Negotiated: &native.Link{State: native.LinkDown}, Hubs: []native.Hub{}, Peers: []native.Peer{}, Interface: "en4",
				Unknown: native.Reasons{"place": native.ReasonNoHardware}},
		}},
		RDMA: &native.RDMA{HardwareCapable: new(true), OSCapable: new(true), Switch: native.RDMAOn, Devices: []native.RDMADevice{
			{Name: "rdma_en2", Interface: "en2", PortState: native.RDMAPortActive, SpeedBitsPerS: new(int64(80e9)), MTUBytes: new(int64(4096)), GIDs: []native.GID{
				{Index: 0, Address: netip.MustParseAddr("fe80::1")}, {Index: 1, Address: netip.MustParseAddr("::ffff:169.254.1.1")}}},
			{Name: "rdma_en3", Interface: "en3", PortState: native.RDMAPortDown, Unknown: native.Reasons{"gids": native.ReasonReadFailed.With("ibv_query_gid: 22"), "speed_bits_per_s": native.ReasonNotConnected, "mtu_bytes": native.ReasonNotConnected}},
		}},
	}
}

func TestGolden(t *testing.T) {
	t.Run("snapshot", func(t *testing.T) { golden(t, "snapshot", studio()) })
	t.Run("snapshot of nothing", func(t *testing.T) {
		golden(t, "snapshot-nothing", native.Snapshot{At: at, Platform: "linux",
			Unknown: native.Reasons{"thunderbolt": native.ReasonNoHardware, "rdma": native.ReasonPermission.With("/sys/class/infiniband")}})
	})
	t.Run("hints", func(t *testing.T) {
		golden(t, "hints", []native.Hint{
			{Area: native.AreaThunderbolt, Source: "iokit.matched", Subject: "receptacle 2", At: at, BootUS: 3_600_000_125},
			{Area: native.AreaMemory, Source: "psi.memory", At: at, BootUS: 3_600_250_000},
		})
	})
	t.Run("capabilities", func(t *testing.T) {
		c := native.Capabilities{}
		c.Yes(native.FeatureClock)
		c.No(native.ReasonNoOS.With("_SCBridgeInterfaceCopyActive does not resolve"), native.FeatureBridgeMembership)
		golden(t, "capabilities", c)
	})
	t.Run("power notices", func(t *testing.T) {
		golden(t, "power-notices", []native.PowerNotice{
			{ID: "7", Event: native.PowerWillSleep, Cause: "lid closed", WithinS: 30, At: at}, {Event: native.PowerAwake, At: at}})
	})
	t.Run("discovery", func(t *testing.T) {
		golden(t, "announcement", native.Announcement{Type: "_fulmen._tcp", Instance: "a5k2", Port: 7732, TXT: map[string]string{"v": "1"}, Interfaces: []string{"en2"}})
		golden(t, "sightings", []native.Sighting{
			{Instance: "a5k2", Interface: "en2", Host: "studio-1.local.", Port: 7732, TXT: map[string]string{"v": "1"}, Addresses: []netip.Addr{netip.MustParseAddr("fe80::1%en2")}, At: at},
			{Instance: "a5k2", Interface: "en2", Gone: true, At: at}})
	})
	t.Run("unit", func(t *testing.T) {
		golden(t, "unit", native.Unit{Label: "org.fulmen.rank.j4k2m9xq7.0", Program: "/Applications/Fulmen.app/Contents/MacOS/fulmend", Args: []string{"shim", "spec.json"}, Env: []string{"PATH=/usr/bin"},
			Dir: "/", User: &native.Account{Name: "ada", UID: 501, GID: 20}, Socket: "/var/run/fulmen/j4k2m9xq7.2.0", ErrorLog: "/tmp/err"})
		golden(t, "unit-status", []native.UnitStatus{{Label: "org.fulmen.rank.j4k2m9xq7.0", State: native.UnitRunning, PID: 412, Socket: "/s"}, {Label: "b", State: native.UnitEnded}})
	})
}

func TestTheGoldenMachineIsHonest(t *testing.T) {
	is := is.New(t)
	is.Equal(studio().Check(native.AllAreas()), nil)
}
