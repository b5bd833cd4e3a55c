package daemon

import (
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank"
	"fulmen/daemon/internal/relay"
	"fulmen/daemon/internal/relay/sidechannel"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/simulate"
)

// channels carries JACCL's side channels for the ranks.
type channels struct{ *sidechannel.Channels }

// Open is the ranks'.
func (c channels) Open(channel rank.Channel) (netip.AddrPort, error) {
	return c.Channels.Open(sidechannel.Channel(channel))
}

// openChannels makes what carries JACCL's side channels. Ports of the loopback are
// handed out from one table, whoever needs them: nobody else on this node gets one
// that a rank was given.
func (d *daemon) openChannels() {
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	d.channels = sidechannel.New(sidechannel.Config{
		Peers: d.peers, Machine: sidechannel.Loopback{Processes: d.platform.Processes},
		Take:   func(port int) bool { return d.ranks.TakePort(netip.AddrPortFrom(loopback, uint16(port))) },
		Return: func(port int) { d.ranks.ReturnPort(netip.AddrPortFrom(loopback, uint16(port))) },
		Group:  d.groupOf,
		Tell:   d.handshake,
		Fail:   d.failRank,
		Name:   d.shortNameOf, Account: server.UserName, Clock: d.platform.Clock, Log: d.logs.Part("relay"),
	})
	d.onClose(func() error { d.channels.Shut(); return nil })
}

// groupOf is the process group of a rank's program, of a job or of a test.
func (d *daemon) groupOf(ref api.RankRef) int {
	if pid, isTest := d.prober.Group(ref); isTest {
		return pid
	}
	return d.ranks.PID(ref)
}

// failRank ends a rank.
func (d *daemon) failRank(ref api.RankRef, why *api.Error) {
	if !d.prober.Fail(ref, why) {
		d.ranks.Fail(ref, why)
	}
}

// openPublisher makes what publishes ports.
func (d *daemon) openPublisher() {
	c := relay.PublisherConfig{
		Config: relay.Config{Peers: d.peers, Processes: d.platform.Processes, Clock: d.platform.Clock, Log: d.logs.Part("relay")},
		Ledger: d.ledger, Ranks: d.ranks, Job: d.known, Seed: d.identity.Key().Seed(),
	}
	if d.platform.Simulated {
		c.Loopback = []netip.Addr{simulate.StandIn("loopback", d.identity.Node)}
		c.LAN = func() []netip.Addr { return []netip.Addr{simulate.StandIn("network", d.identity.Node)} }
	}
	d.publisher = relay.NewPublisher(c)
	d.onClose(func() error { d.publisher.Shut(); return nil })
}
