package daemon

import (
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank"
	"fulmen/daemon/internal/relay/sidechannel"
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
		Group:  func(ref api.RankRef) int { return d.ranks.PID(ref) },
		Tell:   d.handshake,
		Fail:   func(ref api.RankRef, why *api.Error) { d.ranks.Fail(ref, why) },
		Name:   d.shortNameOf, Clock: d.platform.Clock, Log: d.logs.part("relay"),
	})
	d.onClose(func() error { d.channels.Shut(); return nil })
}
