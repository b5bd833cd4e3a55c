package sidechannel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// numberBytes is what a rank says first.
const numberBytes = 4

// permutations of the numbers below n.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			one := append(append(append([]int{}, p[:at]...), n-1), p[at:]...)
			all = append(all, one)
		}
	}
	return all
}

// Whatever the order in which ranks are started, and however late each is, all
// join as soon as the last is there, and none had to connect twice.
func TestEveryOrder(t *testing.T) {
	for _, order := range permutations(4) {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			bubble(t, 4, func(t *testing.T, d *scenario) {
				is := is.New(t)
				programs := make([]*program, 4)
				for i, rank := range order {
					if i > 0 {
						pass(20 * time.Second)
					}
					programs[rank] = d.start(ref(rank))
				}
				last := d.clock.Boot()
				pass(tick)
				for rank, p := range programs {
					is.True(p.joins(t).after-last < tick) // the relay costs nothing but the wait
					is.Equal(p.tried, 0)
					h := d.handshake(ref(rank))
					is.Equal(h.State, api.HandshakeJoined)
					is.Equal(len(h.Missing), 0)
					is.True(!h.Severed)
					is.Equal(d.failure(ref(rank)), api.Reason(""))
				}
				// Lengths, four descriptions and two waits, there and for four ranks back; the number.
				const one = 4 + 4*28 + 4 + 4
				is.Equal(d.handshake(ref(1)).CarriedBytes, int64(numberBytes+one+4*one))
				is.True(d.handshake(ref(0)).CarriedBytes >= 3*d.handshake(ref(1)).CarriedBytes)
			})
		})
	}
}

// Who is missing, and how far each is, is known at every moment.
func TestProgressIsTold(t *testing.T) {
	bubble(t, 3, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.start(ref(1))
		pass(tick)
		is.Equal(d.handshake(ref(1)).State, api.HandshakeHeld)

		at := d.open(ref(0))
		pass(tick)
		is.Equal(d.handshake(ref(0)), api.Handshake{State: api.HandshakeNone, Missing: []int{2}})

		d.run(ref(0), at, nil)
		pass(tick)
		is.Equal(d.handshake(ref(0)).State, api.HandshakeListening)
		is.Equal(d.handshake(ref(0)).Missing, []int{2})
		is.Equal(d.handshake(ref(1)).State, api.HandshakeConnected)

		d.start(ref(2))
		pass(tick)
		for rank := range 3 {
			is.Equal(d.handshake(ref(rank)).State, api.HandshakeJoined)
		}
	})
}

// Where rank 0 has room, nobody waits until it has accepted another, and it is looked
// once who listens.
func TestRankZeroHasRoom(t *testing.T) {
	for room, want := range map[int]int{1: 1, 2: 2, 3: 3} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			bubble(t, 4, func(t *testing.T, d *scenario) {
				is := is.New(t)
				zero := d.nodes[0]
				zero.machine.room = room
				coordinator := d.open(ref(0))
				n := zero.network()
				_, err := n.Listen(coordinator) // and accepts nobody
				is.NoErr(err)
				zero.spawned(ref(0), n)
				pass(tick)
				zero.machine.mu.Lock()
				zero.machine.looks = 0
				zero.machine.mu.Unlock()
				for rank := 1; rank < 4; rank++ {
					d.start(ref(rank))
				}
				pass(tick)
				connected := 0
				for rank := 1; rank < 4; rank++ {
					if d.handshake(ref(rank)).State == api.HandshakeConnected {
						connected++
					}
				}
				is.Equal(connected, want)
				zero.machine.mu.Lock()
				defer zero.machine.mu.Unlock()
				is.True(room < 3 || zero.machine.looks <= 2) // the watch may have looked too
			})
		})
	}
}

// News are told when nothing is carried any more, and after a second at most: what is
// published takes time of those who join.
func TestNewsWaitForTheirPath(t *testing.T) {
	for _, c := range []struct {
		what       string
		chats      time.Duration // how long something is carried once there are news
		reportedAt time.Duration
	}{
		{"a short while", 500 * time.Millisecond, 600 * time.Millisecond},
		{"for ever", 5 * time.Second, time.Second},
	} {
		t.Run(c.what, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, d *scenario) {
				is := is.New(t)
				chat := rawPair(t, d)
				is.Equal(d.handshake(ref(0)).Missing, []int{2})
				at, n := d.open(ref(2)), d.nodes[2].network()
				d.nodes[2].spawned(ref(2), n)
				conn, err := n.Dial(t.Context(), at)
				is.NoErr(err)
				_, err = conn.Write(number(2))
				is.NoErr(err)
				const step = 10 * time.Millisecond
				for since := time.Duration(0); since < c.reportedAt-2*step; since += step {
					is.Equal(d.handshake(ref(0)).Missing, []int{2})
					if since < c.chats {
						_, err := chat.leaf.Write([]byte{1})
						is.NoErr(err)
					}
					pass(step)
				}
				pass(4 * step)
				is.Equal(d.handshake(ref(0)).Missing, []int{0}) // its program takes one connection
			})
		})
	}
}
