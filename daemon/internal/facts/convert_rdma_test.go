package facts

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

func TestRDMA(t *testing.T) {
	tb5 := native.Port{PortNumber: 1, Capability: native.TB5, Interface: "en2"}
	device := native.RDMADevice{
		Name: "rdma_en2", Interface: "en2", PortState: native.RDMAPortActive, MTUBytes: new(int64(4096)), Holder: "python",
		GIDs:    []native.GID{{Index: 1, Address: netip.MustParseAddr("::ffff:169.254.1.1")}},
		Unknown: native.Reasons{"speed_bits_per_s": native.ReasonNoOS},
	}
	on := native.RDMA{HardwareCapable: new(true), OSCapable: new(true), Switch: native.RDMAOn, Devices: []native.RDMADevice{device}}
	with := func(change func(*native.RDMA)) *native.RDMA {
		one := on
		change(&one)
		return &one
	}
	for _, c := range []struct {
		what     string
		port     native.Port
		from     *native.RDMA
		hardware *bool
		switched *bool
		device   string
		unknown  map[string]api.Reason
	}{
		{"a device at its port", tb5, &on, new(true), new(true), "rdma_en2", map[string]api.Reason{"device.speed_bits_per_s": api.ReasonNotSupportedByOS}},
		{"another port has none", native.Port{PortNumber: 2, Capability: native.TB5, Interface: "en3"}, &on, new(true), new(true), "", map[string]api.Reason{"device": api.ReasonSourceGone}},
		{"a Thunderbolt 4 port of a capable Mac", native.Port{PortNumber: 3, Capability: native.TB4, Interface: "en4"}, &on, new(false), new(true), "", map[string]api.Reason{}},
		{"a port of unknown capability", native.Port{PortNumber: 2, Interface: "en2", Unknown: native.Reasons{"capability": native.ReasonReadFailed}}, &on, nil, new(true), "rdma_en2",
			map[string]api.Reason{"hardware_capable": api.ReasonReadFailed, "device.speed_bits_per_s": api.ReasonNotSupportedByOS}},
		{"a port of unknown interface", native.Port{PortNumber: 2, Capability: native.TB5, Unknown: native.Reasons{"interface": native.ReasonReadFailed}}, &on, new(true), new(true), "",
			map[string]api.Reason{"device": api.ReasonReadFailed}},
		{"switched off", tb5, with(func(r *native.RDMA) { r.Switch, r.Devices = native.RDMAOff, []native.RDMADevice{} }), new(true), new(false), "", map[string]api.Reason{}},
		{"switched on, before the restart", tb5, with(func(r *native.RDMA) { r.Switch, r.Devices = native.RDMAOnAfterRestart, []native.RDMADevice{} }), new(true), new(true), "",
			map[string]api.Reason{"device": api.ReasonRDMANoDevice}},
		{"a switch that cannot be read", tb5, with(func(r *native.RDMA) {
			r.Switch, r.Devices, r.Unknown = "", nil, native.Reasons{"switch": native.ReasonNeedsRoot.With("nvram"), "devices": native.ReasonNoOS}
		}), new(true), nil, "", map[string]api.Reason{"switched_on": api.ReasonNeedsRoot, "device": api.ReasonNotSupportedByOS}},
		{"a Mac that cannot", tb5, with(func(r *native.RDMA) { r.HardwareCapable = new(false); r.Devices = []native.RDMADevice{} }), new(false), new(true), "", map[string]api.Reason{}},
	} {
		t.Run(c.what, func(t *testing.T) {
			is := is.New(t)
			value, unknown := rdma(c.port, c.from, "")
			is.Equal(value.PortNumber, api.PortNumber(c.port.PortNumber))
			is.Equal(value.HardwareCapable, c.hardware)
			is.Equal(value.OSCapable, new(true))
			is.Equal(value.SwitchedOn, c.switched)
			is.Equal(unknown, c.unknown)
			if c.device == "" {
				is.Equal(value.Device, nil)
				return
			}
			is.Equal(value.Device, &api.RDMADevice{
				Name: c.device, Interface: "en2", PortState: api.RDMAPortActive, MTUBytes: new(int64(4096)),
				GIDs: []api.GID{{Index: 1, Address: netip.MustParseAddr("::ffff:169.254.1.1")}},
			})
		})
	}
}

func TestPortlessDevices(t *testing.T) {
	is := is.New(t)
	devices := &native.RDMA{Devices: []native.RDMADevice{{Name: "mlx5_0", Interface: "eth0"}, {Name: "bare"}, {Name: "rdma_en2", Interface: "en2"}}}
	is.Equal(portless(devices, &native.Thunderbolt{Ports: []native.Port{{PortNumber: 1}, {PortNumber: 2, Interface: "en2"}}}), []string{"bare", "mlx5_0"})
	is.Equal(portless(devices, nil), []string{"bare", "mlx5_0", "rdma_en2"})
}
