package health

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/nativetest"
)

// A rank leaves its devices suspect where its program had them open and no chance to
// give them back. One that had joined and ended otherwise has shown that they work.
func TestWhatTheEndOfARankSaysOfItsDevices(t *testing.T) {
	lost := api.Rank{Phase: api.RankLost}
	killed := api.Rank{Phase: api.RankExited, Exit: &api.Exit{Signal: int(syscall.SIGKILL)}}
	asked := api.Rank{Phase: api.RankExited, Exit: &api.Exit{Signal: int(syscall.SIGTERM)}}
	left := api.Rank{Phase: api.RankExited, Exit: &api.Exit{}}
	never := api.Rank{Phase: api.RankExited} // it was never spawned
	const (
		asItWas = iota
		suspect
		works
	)
	for _, c := range []struct {
		name                            string
		rank                            int
		state                           api.HandshakeState // empty: no handshake
		lost, killed, asked, left, none int
	}{
		{"no handshake", 1, "", asItWas, asItWas, asItWas, asItWas, asItWas},
		{"not dialled", 1, api.HandshakeNone, asItWas, asItWas, asItWas, asItWas, asItWas},
		{"rank 0 listens", 0, api.HandshakeListening, asItWas, asItWas, asItWas, asItWas, asItWas},
		{"rank 0 is held", 0, api.HandshakeHeld, asItWas, asItWas, asItWas, asItWas, asItWas},
		{"rank 1 is held", 1, api.HandshakeHeld, suspect, suspect, asItWas, asItWas, asItWas},
		{"connected", 0, api.HandshakeConnected, suspect, suspect, asItWas, asItWas, asItWas},
		{"joined", 0, api.HandshakeJoined, suspect, suspect, works, works, works},
	} {
		for how, end := range map[string]struct {
			rank api.Rank
			want int
		}{"lost": {lost, c.lost}, "killed": {killed, c.killed}, "asked to end": {asked, c.asked}, "left": {left, c.left}, "never spawned": {never, c.none}} {
			t.Run(c.name+", "+how, func(t *testing.T) {
				is := is.New(t)
				rank := end.rank
				rank.Rank, rank.Job = c.rank, "j00000000"
				if c.state != "" {
					rank.Handshake = &api.Handshake{State: c.state}
				}
				cables, _, _ := cableRig(t)
				cables.Killed(2, "a program before")
				cables.RankEnded(rank, []api.PortNumber{2, 3})
				is.Equal(cables.IsSuspect(2), end.want != works)
				is.Equal(cables.IsSuspect(3), end.want == suspect)
				is.True(!cables.IsSuspect(1))
			})
		}
	}
}

// refusalFacts are a Mac with a device at each of two receptacles.
func refusalFacts() native.Snapshot {
	return native.Snapshot{
		Thunderbolt: &native.Thunderbolt{Ports: []native.Port{{PortNumber: 1, Interface: "en1"}, {PortNumber: 2, Interface: "en2"}}},
		RDMA: &native.RDMA{Devices: []native.RDMADevice{
			{Name: "rdma_en1", Interface: "en1", PortState: native.RDMAPortActive},
			{Name: "rdma_en2", Interface: "en2", PortState: native.RDMAPortActive},
		}},
	}
}

// A device is refused that is not there, or whose port is known not to be active, and
// of what cannot be read nothing is.
func TestWhichDevicesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit        func(s *native.Snapshot)
		first, both api.Reason // of receptacle 1, and of 1 and 2
		on          string     // of both
	}{
		"all is well":                {func(*native.Snapshot) {}, "", "", ""},
		"no Thunderbolt":             {func(s *native.Snapshot) { s.Thunderbolt, s.RDMA.Devices = nil, []native.RDMADevice{} }, "", "", ""},
		"no RDMA":                    {func(s *native.Snapshot) { s.RDMA = nil }, "", "", ""},
		"the devices cannot be read": {func(s *native.Snapshot) { s.RDMA.Devices = nil }, "", "", ""},
		"no device at all":           {func(s *native.Snapshot) { s.RDMA.Devices = []native.RDMADevice{} }, api.ReasonRDMANoDevice, api.ReasonRDMANoDevice, "port 1"},
		"the receptacle is not there": {func(s *native.Snapshot) {
			s.Thunderbolt.Ports = s.Thunderbolt.Ports[1:]
			s.RDMA.Devices[1].PortState = native.RDMAPortDown
		}, "", api.ReasonRDMAPortDown, "port 2"},
		"its interface cannot be read": {func(s *native.Snapshot) { s.Thunderbolt.Ports[0].Interface = ""; s.RDMA.Devices = s.RDMA.Devices[:1] }, "", api.ReasonRDMANoDevice, "port 2"},
		"the first has no device":      {func(s *native.Snapshot) { s.RDMA.Devices = s.RDMA.Devices[1:] }, api.ReasonRDMANoDevice, api.ReasonRDMANoDevice, "port 1"},
		"the second has no device":     {func(s *native.Snapshot) { s.RDMA.Devices = s.RDMA.Devices[:1] }, "", api.ReasonRDMANoDevice, "port 2"},
		"the first is down":            {func(s *native.Snapshot) { s.RDMA.Devices[0].PortState = native.RDMAPortDown }, api.ReasonRDMAPortDown, api.ReasonRDMAPortDown, "port 1"},
		"the second is not active yet": {func(s *native.Snapshot) { s.RDMA.Devices[1].PortState = native.RDMAPortInit }, "", api.ReasonRDMAPortDown, "port 2"},
		"a state cannot be read":       {func(s *native.Snapshot) { s.RDMA.Devices[0].PortState = "" }, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := refusalFacts()
			c.edit(&s)
			reason, _ := refusalIn(s, []api.PortNumber{1})
			is.Equal(reason, c.first)
			reason, on := refusalIn(s, []api.PortNumber{1, 2})
			is.Equal(reason, c.both)
			is.Equal(on, c.on)
		})
	}
}

// readings is a machine whose snapshots a test gives.
type readings struct {
	native.Facts
	give func() (native.Snapshot, error)
	read int
}

func (r *readings) Snapshot(context.Context, ...native.Area) (native.Snapshot, error) {
	r.read++
	return r.give()
}

// Only where a device may be stuck its port is read anew before it is lent, and that
// is published. Where it cannot be read nothing is refused.
func TestOnlySuspectDevicesAreReadAnew(t *testing.T) {
	is := is.New(t)
	cables, _, _ := cableRig(t)
	down := refusalFacts()
	down.RDMA.Devices[1].PortState = native.RDMAPortDown
	var problem error
	machine := &readings{give: func() (native.Snapshot, error) { return down, problem }}
	published := 0
	refusal := func() api.Reason {
		reason, _ := cables.Refusal(t.Context(), machine, func() { published++ }, []api.PortNumber{1, 2})
		return reason
	}
	is.Equal(refusal(), api.Reason(""))
	is.Equal([]int{machine.read, published}, []int{0, 0})
	cables.Killed(2, "rank 0 of job j00000000")
	is.Equal(refusal(), api.ReasonRDMAPortDown)
	is.Equal([]int{machine.read, published}, []int{1, 1})
	problem = errors.New("it cannot be asked any more")
	is.Equal(refusal(), api.Reason(""))
	is.Equal(published, 2)
}

// What cannot be kept of a device that may be stuck is told.
func TestSuspectsThatCannotBeKeptAreTold(t *testing.T) {
	is := is.New(t)
	h, _, _ := rig()
	var reported strings.Builder
	cables := NewCables(logging(h, slog.New(slog.NewTextHandler(&reported, nil))), nodeA, nativetest.NewClock(time.Unix(0, 0)))
	cables.TakeSuspects(Suspects{}, "boot", func(Suspects) error { return errors.New("no space left on device") })
	cables.Killed(2, "rank 0 of job j00000000")
	is.Equal(strings.Count(reported.String(), "\n"), 1)
	is.True(strings.Contains(reported.String(), "no space left on device"))
	is.True(cables.IsSuspect(2)) // it is so all the same
}
