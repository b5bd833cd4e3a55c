//go:build cgo && linux && darwinsim

package simmac_test

import (
	"context"
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin/simfw"
	"fulmen/native/darwin/simmac"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// machines is a scenario whose Macs are native/darwin over simulated frameworks.
type machines struct {
	world     *sim.World
	macs      map[string]*simmac.Mac
	platforms map[string]native.Platform
	time      *nativetest.Clock // the world's
}

func newMachines(t *testing.T, s scenario.Scenario) *machines {
	t.Helper()
	is := is.New(t)
	clock, err := native.SystemClock()
	is.NoErr(err)
	time := nativetest.NewClock(clock.Now())
	d := &machines{time: time, macs: map[string]*simmac.Mac{}, platforms: map[string]native.Platform{}}
	d.world, err = sim.New(s, time)
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(d.world.Close()) })
	for _, name := range d.world.Macs() {
		source, err := d.world.Platform(name)
		is.NoErr(err)
		source.Power = hurried{source.Power, time}
		mac, err := simmac.New(source)
		is.NoErr(err)
		t.Cleanup(func() { is.NoErr(mac.Close()) })
		platform, err := mac.Platform(clock)
		is.NoErr(err)
		t.Cleanup(func() { is.NoErr(platform.Close()) })
		d.macs[name], d.platforms[name] = mac, platform
	}
	return d
}

// hurried lets the time of a restart pass once it was allowed.
type hurried struct {
	native.Power
	time *nativetest.Clock
}

func (h hurried) Acknowledge(ctx context.Context, id string) error {
	err := h.Power.Acknowledge(ctx, id)
	h.time.Advance(sim.RestartTakes)
	return err
}

// Platform is the Mac of that name.
func (d *machines) Platform(name string) (native.Platform, error) { return d.platforms[name], nil }

// Do changes the world, and returns when the Macs have followed.
func (d *machines) Do(op scenario.Op) error {
	err := d.world.Apply(op)
	for _, mac := range d.macs {
		err = errors.Join(err, mac.Project())
	}
	return err
}

// clean fails the test when something was used that is not there, and gives what
// is to be called at its end to see that nothing stays allocated.
func clean(t *testing.T) {
	t.Helper()
	live, misuses := simfw.Live(), simfw.Misuses()
	t.Cleanup(func() {
		if n := simfw.Misuses() - misuses; n > 0 {
			t.Errorf("%d uses of what is not there", n)
		}
		if n := simfw.Live() - live; n > 0 { // what others still held when it began may be gone
			t.Errorf("%d objects are left", n)
		}
	})
}

// pair is two Macs with two receptacles each.
func pair(t *testing.T) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("pair.toml", []byte(pairText))
	is.New(t).NoErr(err)
	return s
}

const pairText = `title = "Two Macs"
mac = [
  {name = "A", model = "Mac15,14", chip = "Apple M3 Ultra", rdma = "on", os = "26.2/25C56", memory = "512 GB", used = "24 GB",
   bridge = [{name = "bridge0", members = ["en2", "en3"]}],
   interface = [{name = "en0", type = "ethernet", network = "lan", speed = "10 Gb/s", addresses = ["192.168.1.11/24 dhcp"], service = "Ethernet"}],
   port = [
    {receptacle = 1, place = "back-right", capability = "tb5", interface = "en2"},
    {receptacle = 2, place = "back-left", capability = "tb5", interface = "en3"},
    {receptacle = 3, place = "front-left", capability = "tb5", interface = "en4"}]},
  {name = "B", model = "Mac15,14", chip = "Apple M3 Ultra", rdma = "on", os = "26.2/25C56", memory = "512 GB", used = "24 GB",
   bridge = [{name = "bridge0", members = ["en2", "en3"]}],
   interface = [{name = "en0", type = "ethernet", network = "lan", speed = "10 Gb/s", addresses = ["192.168.1.12/24 dhcp"], service = "Ethernet"}],
   port = [
    {receptacle = 1, place = "back-right", capability = "tb5", interface = "en2"},
    {receptacle = 2, place = "back-left", capability = "tb5", interface = "en3"},
    {receptacle = 3, place = "front-left", capability = "tb5", interface = "en4"}]},
]
[[network]]
name = "lan"
[[hub]]
name = "dock"
vendor = "Example"
product = "Example Dock"
capability = "tb5"
downstream = 3
`

func do(t *testing.T, d *machines, line string) {
	t.Helper()
	op, err := scenario.ParseOp(line)
	if err == nil {
		err = d.Do(op)
	}
	is.New(t).NoErr(err)
}

// snapshot reads areas of a Mac; whatever is wrong with it, it is honest.
func (d *machines) snapshot(t *testing.T, name string, areas ...native.Area) native.Snapshot {
	t.Helper()
	is := is.New(t)
	s, err := d.platforms[name].Facts.Snapshot(t.Context(), areas...)
	is.NoErr(err)
	is.Equal(s.Check(areas), nil)
	return s
}
