//go:build cgo && linux && darwinsim

package rdma

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/native"
	"fulmen/native/darwin/simfw"
	"fulmen/native/darwin/simmac"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// followed are the actions of native/darwin, whose Mac follows each at once.
type followed struct {
	native.NetworkActions
	follow func()
}

func (f followed) CreateService(ctx context.Context, spec native.ServiceSpec) (native.NetworkService, error) {
	defer f.follow()
	return f.NetworkActions.CreateService(ctx, spec)
}

func (f followed) DeleteService(ctx context.Context, expected native.NetworkService) error {
	defer f.follow()
	return f.NetworkActions.DeleteService(ctx, expected)
}

func (f followed) SetBridgeMember(ctx context.Context, bridge, iface string, member bool) error {
	defer f.follow()
	return f.NetworkActions.SetBridgeMember(ctx, bridge, iface, member)
}

// overDarwin is two Macs whose network is changed by the C of native/darwin.
type overDarwin struct {
	machines map[api.NodeID]*simfw.Machine
	owners   map[api.NodeID]*Owner
	facts    map[api.NodeID]native.Facts

	mu   sync.Mutex
	docs map[api.NodeID]api.RDMAChange
}

func newOverDarwin(t *testing.T) *overDarwin {
	t.Helper()
	is := is.New(t)
	s, err := scenario.Parse("pair.toml", []byte(`title = "Two Macs"
mac = [
  {name = "A", model = "Mac15,14", chip = "Apple M3 Ultra", rdma = "on", os = "26.2/25C56", memory = "512 GB", used = "24 GB",
   bridge = [{name = "bridge0", members = ["en2", "en3"]}],
   port = [{receptacle = 1, capability = "tb5", interface = "en2"}, {receptacle = 2, capability = "tb5", interface = "en3"}]},
  {name = "B", model = "Mac15,14", chip = "Apple M3 Ultra", rdma = "on", os = "26.2/25C56", memory = "512 GB", used = "24 GB",
   bridge = [{name = "bridge0", members = ["en2", "en3"]}],
   port = [{receptacle = 1, capability = "tb5", interface = "en2"}, {receptacle = 2, capability = "tb5", interface = "en3"}]},
]
cable = [{ends = ["A.tb2", "B.tb2"]}]
`))
	is.NoErr(err)
	clock, err := native.SystemClock()
	is.NoErr(err)
	time := nativetest.NewClock(clock.Now())
	world, err := sim.New(s, time)
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(world.Close()) })
	d := &overDarwin{
		machines: map[api.NodeID]*simfw.Machine{}, owners: map[api.NodeID]*Owner{}, facts: map[api.NodeID]native.Facts{},
		docs: map[api.NodeID]api.RDMAChange{},
	}
	network := peertest.NewNetwork()
	for name, id := range map[string]api.NodeID{"A": nodeA, "B": nodeB} {
		source, err := world.Platform(name)
		is.NoErr(err)
		mac, err := simmac.New(source)
		is.NoErr(err)
		t.Cleanup(func() { is.NoErr(mac.Close()) })
		platform, err := mac.Platform(clock)
		is.NoErr(err)
		t.Cleanup(func() { is.NoErr(platform.Close()) })
		d.machines[id], d.facts[id] = mac.Machine, platform.Facts
		follow := func() {
			time.Advance(sim.AddressLingers)
			if err := mac.Project(); err != nil {
				t.Error(err)
			}
			d.owners[id].Look(true)
		}
		d.owners[id] = New(Config{
			Node: id, Clock: clock, Peers: peer.New(id, network.Add(id), peertest.GateFor(id, clock, nil)), Facts: platform.Facts,
			Network: followed{platform.Network, follow}, Records: UndoFile{Path: filepath.Join(t.TempDir(), api.UndoFile)},
			History: noHistory{}, Documents: reported{d, id}, Conditions: noConditions{},
			Allowed: func(api.NodeID) api.Reason { return "" }, Check: func(api.LinkID) *api.Error { return nil },
			Others: func(node api.NodeID, _ api.LinkID) (api.RDMAChange, bool) {
				d.mu.Lock()
				defer d.mu.Unlock()
				one, known := d.docs[node]
				return one, known
			},
			Name:  func(id api.NodeID) string { return string(id[:4]) },
			Able:  func(native.Feature) error { return nil },
			Busy:  func() *api.Error { return nil },
			Quiet: func(context.Context, api.PortNumber) *api.Error { return nil },
			Idle:  func() {}, Prove: func(context.Context, api.LinkID) error { return nil }, Log: slog.New(slog.DiscardHandler),
		})
		t.Cleanup(d.owners[id].Close)
	}
	for _, o := range d.owners {
		is.NoErr(o.Start())
	}
	return d
}

type noHistory struct{}

func (noHistory) Load() ([]api.RDMAChange, error) { return nil, nil }
func (noHistory) Save([]api.RDMAChange) error     { return nil }

type noConditions struct{}

func (noConditions) Hold(api.Reason, string, bool, string) {}

// reported publishes what a node says.
type reported struct {
	d  *overDarwin
	id api.NodeID
}

func (p reported) Delete(api.Kind, string) error { return nil } // nothing is

func (p reported) Put(_ api.Kind, _ string, value any, _ map[string]api.Reason) error {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.d.docs[p.id] = value.(api.RDMAChange)
	return nil
}

// network is what a Mac has of bridges and services.
func (d *overDarwin) network(t *testing.T, id api.NodeID) string {
	t.Helper()
	is := is.New(t)
	s, err := d.facts[id].Snapshot(t.Context(), native.AreaNetwork)
	is.NoErr(err)
	raw, err := json.Marshal([]any{s.Network.Bridges, s.Network.Services})
	is.NoErr(err)
	return string(raw)
}

// The whole change and the way back, through SCPreferences, and over one that
// somebody else holds at first.
func TestOverDarwin(t *testing.T) {
	is := is.New(t)
	d := newOverDarwin(t)
	link := cable(nodeA, 2, nodeB, 2)
	before := [2]string{d.network(t, nodeA), d.network(t, nodeB)}
	d.machines[nodeA].Arm(simfw.FaultCommit, 1) // the first commit is stale
	done, err := d.owners[nodeA].Enable(t.Context(), ada, link, false, nil)
	is.NoErr(err)
	is.Equal(done[1].State, api.RDMAChangeActive)
	is.True(strings.Contains(d.network(t, nodeA), "Fulmen Thunderbolt 2"))
	is.True(strings.Contains(d.network(t, nodeA), "169.254.1.1/30"))
	again, err := d.owners[nodeB].Enable(t.Context(), api.Principal{User: "bob", Node: nodeB}, link, false, nil)
	is.NoErr(err)
	is.Equal(again[0].Change, done[0].Change) // it is found as it was made
	d.machines[nodeB].Arm(simfw.FaultCommit, 1)
	_, err = d.owners[nodeA].Disable(t.Context(), ada, link)
	is.NoErr(err)
	is.Equal([2]string{d.network(t, nodeA), d.network(t, nodeB)}, before)
}

// A macOS without the calls for the bridge: nothing is touched at either end, and
// the one click is named.
func TestOverDarwinWithoutBridgeCalls(t *testing.T) {
	is := is.New(t)
	d := newOverDarwin(t)
	before := [2]string{d.network(t, nodeA), d.network(t, nodeB)}
	d.machines[nodeB].SetMissing("SCBridgeInterfaceSetMemberInterfaces", true)
	_, err := d.owners[nodeA].Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
	is.True(errors.Is(err, api.ReasonRDMABridgeCallsMissing))
	is.True(strings.Contains(api.AsError(err).Data.Remedy, "Thunderbolt Bridge inactive"))
	d.machines[nodeB].SetMissing("SCBridgeInterfaceSetMemberInterfaces", false)
	is.Equal([2]string{d.network(t, nodeA), d.network(t, nodeB)}, before)
}
