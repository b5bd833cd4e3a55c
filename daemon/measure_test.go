package daemon

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile"
	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

func TestObstacles(t *testing.T) {
	for name, tt := range map[string]struct {
		snapshot native.Snapshot
		want     api.Reason
	}{
		"nothing known": {native.Snapshot{}, ""},
		"idle": {native.Snapshot{System: &native.System{PowerSource: native.PowerAC, ThermalState: native.ThermalFair},
			Memory: &native.Memory{Pressure: native.PressureNormal}}, ""},
		"on battery":      {native.Snapshot{System: &native.System{PowerSource: native.PowerBattery}}, api.ReasonOnBattery},
		"on a UPS":        {native.Snapshot{System: &native.System{PowerSource: native.PowerUPS}}, api.ReasonOnBattery},
		"hot":             {native.Snapshot{System: &native.System{ThermalState: native.ThermalSerious}}, api.ReasonThermalPressure},
		"short of memory": {native.Snapshot{Memory: &native.Memory{Pressure: native.PressureWarning}}, api.ReasonMemoryPressure},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := obstacleIn(tt.snapshot, "book", "")
			is.Equal(got != nil, tt.want != "")
			if got != nil {
				is.Equal(got.Data.Reason, tt.want)
			}
		})
	}
}

// Measurements are wanted for a while after a placement, and only once however
// many there are.
func TestPlacementAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		var wanted, asked atomic.Int32
		a := &asking{clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }), want: func() func() {
			wanted.Add(1)
			asked.Add(1)
			return func() { wanted.Add(-1) }
		}}
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		a.ask()
		a.ask()
		wait(askAfter - time.Second)
		is.Equal(wanted.Load(), int32(0)) // a job that starts at once goes first
		wait(2 * time.Second)
		a.ask()
		is.Equal(wanted.Load(), int32(1))
		wait(askFor)
		is.Equal(wanted.Load(), int32(0))
		a.ask()
		wait(askAfter + time.Second)
		is.Equal(wanted.Load(), int32(1))
		a.close()
		is.Equal(wanted.Load(), int32(0))
		a.ask()
		wait(time.Hour)
		is.Equal(asked.Load(), int32(2))
	})
}

// A path of a simulated Mac has the recording of its cable or of its network.
func TestRecordedPaths(t *testing.T) {
	is := is.New(t)
	self, peer := newAuthor("a").node, newAuthor("b").node
	link, err := api.NewLinkID(api.LinkEnd{Node: self, Receptacle: 4}, api.LinkEnd{Node: peer, Receptacle: 2})
	is.NoErr(err)
	one := func(transport string, up float64, near, far int, ifaces ...string) sim.RecordedPath {
		return sim.RecordedPath{LinkMeasurement: scenario.LinkMeasurement{To: "b", Transport: transport, UpBitsPerS: up}, Receptacle: near, PeerReceptacle: far, Interfaces: ifaces}
	}
	r := &recorded{self: self, macs: map[api.NodeID]string{peer: "b"}, paths: []sim.RecordedPath{
		one("rdma", 1, 4, 2, "en5"), one("socket", 2, 4, 2, "en5", "bridge0"), one("socket", 3, 0, 0, "en0"),
	}}
	for name, tt := range map[string]struct {
		path profile.Path
		want int64
	}{
		"over the cable":          {profile.Path{Transport: api.TransportSocket, Peer: peer, Link: link, Interface: "en5"}, 2},
		"over a bridge of cables": {profile.Path{Transport: api.TransportSocket, Peer: peer, Interface: "bridge0"}, 2},
		"over the network":        {profile.Path{Transport: api.TransportSocket, Peer: peer, Interface: "en0"}, 3},
		"the cable over RDMA":     {profile.Path{Transport: api.TransportRDMA, Peer: peer, Link: link}, 1},
		"over another network":    {profile.Path{Transport: api.TransportSocket, Peer: peer, Interface: "en1"}, 0},
		"to somebody else":        {profile.Path{Transport: api.TransportSocket, Peer: self, Interface: "en0"}, 0},
		"RDMA, of no cable":       {profile.Path{Transport: api.TransportRDMA, Peer: peer}, 0},
	} {
		got, ok := r.path(tt.path)
		if ok != (tt.want != 0) || ok && *got.UpBitsPerS != tt.want {
			t.Errorf("%s: %v %v", name, got.UpBitsPerS, ok)
		}
	}
}
