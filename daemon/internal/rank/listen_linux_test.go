package rank

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

func TestPortsAreFree(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	loopback := netip.MustParseAddr("127.0.0.1")
	seen := map[netip.AddrPort]bool{}
	for range 10 {
		var answer api.PeerListenResult
		is.NoErr(m.call("peer.listen", api.PeerListenParams{Rank: api.RankRef{Job: m.job, Attempt: 1}, Epoch: 1, Addresses: []netip.Addr{loopback, loopback}}, &answer))
		is.Equal(len(answer.Addresses), 2)
		for _, a := range answer.Addresses {
			is.Equal(a.Addr(), loopback)
			is.True(!seen[a])
			seen[a] = true
			l, err := net.Listen("tcp", a.String())
			is.NoErr(err)
			is.NoErr(l.Close())
		}
	}
	err := m.call("peer.listen", api.PeerListenParams{Rank: api.RankRef{Job: m.job, Attempt: 1}, Epoch: 1, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}, nil)
	is.True(isReason(err, api.ReasonPortTaken)) // an address that this machine has not
}

// A port that was handed out rests, whatever the system thinks of it.
func TestPortsRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		next := 0
		order := []uint16{5000, 5000, 5001, 5001, 5000, 5002, 5000}
		r := &Ranks{
			jobs: map[api.JobID]*fence{}, held: map[api.RankRef]*held{}, ports: ports{},
			cfg: Config{
				Clock:  native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }),
				Grants: &grants{},
				Listen: func(_ context.Context, at []netip.Addr) (found []netip.AddrPort, err error) {
					for _, a := range at {
						found = append(found, netip.AddrPortFrom(a, order[min(next, len(order)-1)]))
						next++
					}
					return found, nil
				},
			},
		}
		ask := func(n int) []netip.AddrPort {
			p := api.PeerListenParams{Rank: api.RankRef{Job: api.NewJobID(), Attempt: 1}, Epoch: 1}
			for range n {
				p.Addresses = append(p.Addresses, netip.MustParseAddr("10.0.0.1"))
			}
			answer, err := r.listen(t.Context(), gate.Home{}, p)
			if err != nil {
				is.True(isReason(err, api.ReasonPortTaken))
				return nil
			}
			return answer.(api.PeerListenResult).Addresses
		}
		at := func(port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), port) }
		is.Equal(ask(2), []netip.AddrPort{at(5000), at(5001)}) // 5000 came twice
		is.Equal(ask(1), []netip.AddrPort{at(5002)})
		is.Equal(ask(1), nil) // 5000 for ever
		time.Sleep(portRest)
		is.Equal(ask(1), []netip.AddrPort{at(5000)})
	})
}
