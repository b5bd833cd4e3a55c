package sidechannel_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/jaccl"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/relay/sidechannel"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
	"fulmen/native/procsockets"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkHandshake joins four ranks over this machine's sockets, once by
// themselves and once by the channels of four nodes, without what the nodes'
// transport takes.
func BenchmarkHandshake(b *testing.B) {
	const size = 4
	if err := unix.Setpgid(0, 0); err != nil { // as a rank's program is the first of its group
		b.Fatal(err)
	}
	group := os.Getpid()
	clock, err := native.SystemClock()
	if err != nil {
		b.Fatal(err)
	}
	join := func(b *testing.B, at []string) {
		var all sync.WaitGroup
		listening := make(chan struct{})
		for rank := range size {
			all.Go(func() {
				o := jaccl.Options{Rank: rank, Devices: mesh(size), Coordinator: at[rank], Network: jaccl.Roomy{}}
				if rank == 0 {
					opened := sync.OnceFunc(func() { close(listening) })
					defer opened()
					o.At = func(s jaccl.Step) {
						if s == jaccl.StepOpen {
							opened()
						}
					}
				} else {
					<-listening
				}
				g, err := jaccl.Join(context.Background(), o)
				if err != nil {
					b.Error(err)
					return
				}
				g.Close()
			})
		}
		all.Wait()
	}
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			at := l.Addr().String()
			l.Close()
			join(b, []string{at, at, at, at})
		}
	})
	b.Run("relayed", func(b *testing.B) {
		scenario := peertest.NewNetwork()
		var nodes []*sidechannel.Channels
		var plan []api.NodeID
		for i := range size {
			id := api.NodeID([]string{"0000000000000000", "1111111111111111", "2222222222222222", "3333333333333333"}[i])
			plan = append(plan, id)
			c := sidechannel.New(sidechannel.Config{
				Peers: peer.New(id, scenario.Add(id), peertest.GateFor(id, clock, nil)), Machine: sidechannel.Loopback{Processes: procsockets.Processes{}}, Clock: clock,
				Log: slog.New(slog.DiscardHandler), Take: func(int) bool { return true }, Return: func(int) {},
				Group: func(api.RankRef) int { return group }, Name: func(id api.NodeID) string { return string(id) }, Account: func(uint32) string { return "" },
				Notify: func(api.RankRef, api.Handshake) {}, Fail: func(_ api.RankRef, why *api.Error) { b.Log(errors.New(why.Message)) },
			})
			nodes = append(nodes, c)
		}
		for attempt := 1; b.Loop(); attempt++ {
			b.StopTimer()
			at := make([]string, size)
			for rank, n := range nodes {
				ref := api.RankRef{Job: job, Attempt: attempt, Rank: rank}
				a, err := n.Open(ref, 1, plan, time.Minute)
				if err != nil {
					b.Fatal(err)
				}
				at[rank] = a.String()
				n.Spawned(ref)
			}
			<-time.After(5 * time.Millisecond)
			b.StartTimer()
			join(b, at)
			b.StopTimer()
			for rank, n := range nodes {
				n.Close(api.RankRef{Job: job, Attempt: attempt, Rank: rank})
			}
			b.StartTimer()
		}
	})
}
