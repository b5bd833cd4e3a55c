package facts

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// Published reads back what this node has published of itself.
type Published struct{ Ledger *ledger.Ledger }

// Identity gives the identity document; empty where there is none yet.
func (p Published) Identity() api.Identity {
	identity, _ := ledger.Read[api.Identity](p.Ledger, api.Key{Node: p.Ledger.Node(), Kind: api.KindIdentity})
	return identity
}

// System gives the build of this node's system and the version of its MLX; empty where
// not known.
func (p Published) System() (osBuild, mlx string) {
	identity := p.Identity()
	return identity.OSBuild, identity.MLXVersion
}

// InterfaceOf is this node's interface that has an address.
func (p Published) InterfaceOf(sink netip.Addr) (iface string, ok bool) {
	network, _ := ledger.Read[api.Network](p.Ledger, api.Key{Node: p.Ledger.Node(), Kind: api.KindNetwork})
	for _, i := range network.Interfaces {
		if slices.ContainsFunc(i.Addresses, func(a api.InterfaceAddress) bool { return a.Address.Addr().WithZone("") == sink.WithZone("") }) {
			return i.Name, true
		}
	}
	return "", false
}

// bootWithin bounds the reading of the id of the system's start.
const bootWithin = 2 * time.Second

// BootID is the id of the system's start; empty where it is not known.
func BootID(ctx context.Context, clock native.Clock, machine native.Facts) string {
	ctx, cancel := native.WithTimeout(ctx, clock, bootWithin, "the id of the system's start")
	defer cancel()
	snapshot, err := machine.Snapshot(ctx, native.AreaIdentity)
	if err != nil || snapshot.Identity == nil {
		return ""
	}
	return snapshot.Identity.BootID
}

// Circumstances reads the conditions under which a measurement begins now, and the
// reasons for those that are not known.
func Circumstances(ctx context.Context, machine native.Facts) (api.MeasureConditions, map[string]api.Reason) {
	var now api.MeasureConditions
	why := map[string]api.Reason{}
	snapshot, err := machine.Snapshot(ctx, native.AreaIdentity, native.AreaSystem)
	if err != nil || snapshot.Identity == nil || snapshot.System == nil {
		for _, field := range []string{"os_build", "thermal_state", "power_source", "low_power_mode"} {
			why[field] = api.ReasonReadFailed
		}
		return now, why
	}
	now.OSBuild = snapshot.Identity.OSBuild
	now.ThermalState = api.ThermalState(snapshot.System.ThermalState)
	now.PowerSource = PowerSource(snapshot.System.PowerSource)
	now.LowPowerMode = snapshot.System.LowPowerMode
	for field, reason := range snapshot.System.Unknown {
		switch field {
		case "thermal_state", "power_source", "low_power_mode":
			why[field] = api.Reason(reason.Key())
		}
	}
	return now, why
}

// MissesPressure is the condition of a system that should announce memory pressure and
// does not, and why; none where it does.
func MissesPressure(platform string, c native.Capabilities) (code api.Reason, why string) {
	pressure := c[native.HintsFeature(native.AreaMemory)]
	if platform != "linux" || pressure.Supported {
		return "", ""
	}
	return api.ReasonPSIUnavailable, pressure.Reason.Detail()
}

// Static is what the platform cannot know of this node: what Fulmen itself
// adds to the identity document.
type Static struct {
	PublicKey     []byte
	FulmenVersion string
	Protocol      int
	StartedAt     api.Time
	// Platform is the machine's family of systems; empty is that of this program.
	Platform api.Platform
	// FriendlyName is what a person called the node instead of the computer's
	// name; empty where nobody did.
	FriendlyName string
	// ShortName makes the short name of a computer name.
	ShortName func(name string) string
	// Probes counts the tests that opened the RDMA device of a receptacle since the
	// system started, which has the id; nil where nobody counts.
	Probes func(bootID string, portNumber api.PortNumber) int
	// Ours reports whether Fulmen made the network service that has an identifier; nil
	// where it makes none.
	Ours func(service string) bool
	// MLX is what the worker found; nil until it has answered, and then
	// NoMLX is why, if it could not.
	MLX   *MLX
	NoMLX api.Reason
}

// noMLX is why MLX is not known.
func (s Static) noMLX() api.Reason { return cmp.Or(s.NoMLX, api.ReasonNotYetRead) }

// claim marks the services of a network that Fulmen made.
func (s Static) claim(n api.Network) {
	for _, i := range n.Interfaces {
		if i.Service != nil && s.Ours != nil {
			i.Service.Ours = s.Ours(i.Service.ID)
		}
	}
}

// MLX is the MLX that Fulmen itself uses.
type MLX struct {
	Version  string
	Backends []api.MLXBackend
	Devices  []api.MLXDevice
	// WorkingSetBytes is how much a program may hold on the GPU that MLX uses, as
	// MLX tells it; 0 where it does not.
	WorkingSetBytes int64
	// UsesCPU says that MLX finds no GPU, so that programs hold the machine's memory.
	UsesCPU bool
}

// usesCUDA reports whether its GPU, where it finds one, is NVIDIA's.
func (m *MLX) usesCUDA() bool { return slices.Contains(m.Devices, api.MLXDeviceCUDA) }

// MLXOf is what of the worker's answer becomes facts.
func MLXOf(info worker.Info) *MLX {
	mlx := &MLX{Version: info.MLXVersion}
	for _, name := range info.Distributed {
		mlx.Backends = append(mlx.Backends, api.MLXBackend(name))
	}
	for _, name := range info.Backends {
		mlx.Devices = append(mlx.Devices, api.MLXDevice(name))
	}
	if len(info.Devices) == 0 {
		return mlx
	}
	switch device := info.Devices[0]; { // programs use it unless they choose another
	case device.Type == string(api.MLXDeviceCPU):
		mlx.UsesCPU = true
	case device.WorkingSetBytes != 0:
		mlx.WorkingSetBytes = int64(device.WorkingSetBytes)
	case mlx.usesCUDA(): // which recommends nothing: all of it may be used
		mlx.WorkingSetBytes = int64(device.MemoryBytes)
	}
	return mlx
}
