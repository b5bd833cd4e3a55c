package facts

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

func TestConversions(t *testing.T) {
	is := is.New(t)
	from := machine()
	value, unknown := identity(*from.Identity, Static{ShortName: func(string) string { return "adas-mac" }})
	is.Equal(value.Name, "Ada's Mac")
	is.Equal(value.ShortName, "adas-mac")
	is.Equal(unknown["gpu_cores"], api.ReasonNotSupportedByPlatform) // no details
	is.Equal(unknown["host_name"], api.Reason(""))                   // fields of the document only
	is.Equal(unknown["mlx_version"], api.ReasonNotYetRead)
	value, unknown = identity(*from.Identity, Static{ShortName: func(string) string { return "" }, MLX: &MLX{Version: "0.32.4"}})
	is.Equal(value.MLXVersion, "0.32.4")
	is.Equal(unknown["mlx_version"], api.Reason(""))

	heat, _ := system(native.System{PowerSource: native.PowerAC, Fans: []native.Fan{}})
	is.Equal(heat.PowerSource, api.PowerMains)
	is.True(heat.Fans != nil) // a machine without fans says so

	speed := 30.0
	heat, unknown = system(native.System{Fans: []native.Fan{{Name: "left", SpeedHz: &speed}, {Name: "right", Unknown: native.Reasons{"speed_hz": native.ReasonReadFailed}}}})
	is.Equal(len(heat.Fans), 1)
	is.Equal(unknown["fans.right"], api.ReasonReadFailed)
}

// Where nobody has set a limit, macOS tells no working set, and Metal does.
func TestWorkingSet(t *testing.T) {
	set := func(bytes int64) native.Memory {
		return native.Memory{TotalBytes: new(int64(128 << 30)), GPUWorkingSetBytes: &bytes}
	}
	none := native.Memory{TotalBytes: new(int64(128 << 30)), Unknown: native.Reasons{"gpu_working_set_bytes": native.ReasonNoPlatform}}
	for name, tt := range map[string]struct {
		from   native.Memory
		static Static
		want   int64 // 0 = unknown
		why    api.Reason
	}{
		"MLX tells it":             {none, Static{MLX: &MLX{WorkingSetBytes: 96 << 30}}, 96 << 30, ""},
		"a person's limit wins":    {set(110 << 30), Static{MLX: &MLX{WorkingSetBytes: 96 << 30}}, 110 << 30, ""},
		"a limit, and no MLX":      {set(110 << 30), Static{NoMLX: api.ReasonMLXMissing}, 110 << 30, ""},
		"ranks compute on the CPU": {none, Static{MLX: &MLX{UsesCPU: true}}, 128 << 30, ""},
		"nor is the memory known":  {native.Memory{Unknown: none.Unknown}, Static{MLX: &MLX{UsesCPU: true}}, 0, api.ReasonNotSupportedByPlatform},
		"nobody tells it":          {none, Static{MLX: &MLX{}}, 0, api.ReasonNotSupportedByPlatform},
		"MLX has not answered yet": {none, Static{}, 0, api.ReasonNotYetRead},
		"there is no MLX to ask":   {none, Static{NoMLX: api.ReasonMLXMissing}, 0, api.ReasonMLXMissing},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			value, unknown := memory(tt.from, tt.static)
			is.Equal(unknown["gpu_working_set_bytes"], tt.why)
			is.Equal(value.GPUWorkingSetBytes != nil, tt.want != 0)
			if tt.want != 0 {
				is.Equal(*value.GPUWorkingSetBytes, tt.want)
			}
		})
	}
}

// A Mac's GPU shares its memory; of a Linux machine MLX tells what it computes in.
func TestGPUMemory(t *testing.T) {
	mac := native.Identity{Architecture: "arm64", GPUMemory: native.GPUMemoryUnified}
	linux := func(architecture string) native.Identity {
		return native.Identity{Architecture: architecture, Unknown: native.Reasons{"gpu_memory": native.ReasonNoPlatform.With("why")}}
	}
	cpu, cuda := &MLX{UsesCPU: true, Devices: []api.MLXDevice{api.MLXDeviceCPU}}, &MLX{Devices: []api.MLXDevice{api.MLXDeviceCPU, api.MLXDeviceCUDA}}
	for name, tt := range map[string]struct {
		from   native.Identity
		static Static
		want   api.GPUMemory
		why    api.Reason
	}{
		"a Mac":                         {mac, Static{}, api.GPUMemoryUnified, ""},
		"a Mac whose MLX finds no GPU":  {mac, Static{MLX: cpu}, api.GPUMemoryUnified, ""},
		"no GPU":                        {linux("amd64"), Static{MLX: cpu}, api.GPUMemoryNone, ""},
		"a CUDA build that finds none":  {linux("amd64"), Static{MLX: &MLX{UsesCPU: true, Devices: cuda.Devices}}, api.GPUMemoryNone, ""},
		"a discrete GPU":                {linux("amd64"), Static{MLX: cuda}, api.GPUMemoryDedicated, ""},
		"a system on a chip, or a card": {linux("arm64"), Static{MLX: cuda}, "", api.ReasonNotSupportedByPlatform},
		"MLX names no GPU that we know": {linux("amd64"), Static{MLX: &MLX{}}, "", api.ReasonNotSupportedByPlatform},
		"MLX has not answered yet":      {linux("amd64"), Static{}, "", api.ReasonNotYetRead},
		"there is no MLX":               {linux("amd64"), Static{NoMLX: api.ReasonMLXMissing}, "", api.ReasonMLXMissing},
		"no scenario tells it":          {native.Identity{Unknown: native.Reasons{"gpu_memory": native.ReasonNotInScenario}}, Static{MLX: cpu}, "", api.ReasonNotInScenario},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			value, unknown := identity(tt.from, tt.static.named())
			is.Equal(value.GPUMemory, tt.want)
			is.Equal(unknown["gpu_memory"], tt.why)
		})
	}
}

func (s Static) named() Static {
	s.ShortName = strings.ToLower
	return s
}

func TestNetwork(t *testing.T) {
	is := is.New(t)
	link := true
	net, unknown := network(native.Network{
		Interfaces: []native.Interface{{Name: "bridge0", Type: native.InterfaceBridge}, {Name: "en1", Type: native.InterfaceThunderbolt, Link: &link,
			HardwareAddress: "82:00:00:00:00:01", Addresses: []native.InterfaceAddress{{Origin: native.OriginUnknown}}, Unknown: native.Reasons{"speed_bits_per_s": native.ReasonNoOS}}},
		Bridges:  []native.Bridge{{Name: "bridge0", KernelMembers: []string{"en1"}, StoredMembers: []string{"en1", "en2"}}},
		Services: []native.NetworkService{{ID: "A", Name: "Thunderbolt 1", Interface: "en1", Enabled: true}},
	}, &native.Thunderbolt{Ports: []native.Port{{PortNumber: 1}, {PortNumber: 2, Interface: "en1"}}})
	is.Equal(net.Interfaces[0].Members, []string{"en1"})
	is.Equal(net.Interfaces[0].PortNumber, api.PortNumber(0))
	is.Equal(net.Interfaces[1].PortNumber, api.PortNumber(2)) // the port says whose interface it is
	is.Equal(net.Interfaces[1].Bridge, "bridge0")
	is.Equal(net.Interfaces[1].BridgeConfigured, "bridge0")
	is.Equal(net.Interfaces[1].Service, &api.NetworkService{ID: "A", Name: "Thunderbolt 1", Active: true}) // not ours
	is.Equal(net.Interfaces[1].Addresses[0].Origin, api.AddressOrigin(""))                                 // unknown is left out
	is.Equal(unknown, map[string]api.Reason{"interfaces.en1.speed_bits_per_s": api.ReasonNotSupportedByOS})
	text, err := json.Marshal(net)
	is.NoErr(err)
	is.True(!strings.Contains(string(text), "82:00")) // hardware addresses stay here
}

// TestFactsReadAsTheirDocuments: readers on this node get the value that was published, and
// others what was encoded of it. Both are the same.
func TestFactsReadAsTheirDocuments(t *testing.T) {
	is := is.New(t)
	static := Static{
		PublicKey: []byte{1, 2}, StartedAt: api.TimeOf(time.Now()), ShortName: strings.ToLower,
		MLX: MLXOf(worker.Info{MLXVersion: "0.32.4", Distributed: []string{"ring"}, Backends: []string{"cpu"}}),
	}
	kinds := map[api.Kind]bool{}
	for _, name := range scenario.Shipped() {
		s, err := scenario.Load(name)
		is.NoErr(err)
		world, err := sim.New(s, nativetest.NewClock(time.Now()))
		is.NoErr(err)
		for _, mac := range world.Macs() {
			platform, err := world.Platform(mac)
			is.NoErr(err)
			snapshot, err := platform.Facts.Snapshot(t.Context(), native.AllAreas()...)
			is.NoErr(err)
			for _, fact := range Convert(snapshot, static) {
				text, err := json.Marshal(fact.Value)
				is.NoErr(err)
				read := reflect.New(reflect.TypeOf(fact.Value))
				is.NoErr(json.Unmarshal(text, read.Interface()))
				if !reflect.DeepEqual(read.Elem().Interface(), fact.Value) {
					t.Errorf("%s, %s, %s %s: %#v, and read from %s %#v", name, mac, fact.Kind, fact.Name, fact.Value, text, read.Elem())
				}
				kinds[fact.Kind] = true
			}
		}
		is.NoErr(world.Close())
	}
	is.Equal(len(kinds), len(areas()))
}
