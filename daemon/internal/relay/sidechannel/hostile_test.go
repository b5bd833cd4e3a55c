package sidechannel_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// badInput is what a broken or hostile program says on a side channel that is not the
// one connection of a rank that begins with its number.
type badInput struct {
	what    string
	calls   int
	reports func(rank int) []byte
	of      api.Reason // for which a rank ends whose own program says it; "" = it waits
}

func noise(rank int) []byte {
	all := number(rank)
	for len(all) <= 1<<20 {
		all = append(all, byte(len(all)*7))
	}
	return all
}

func badInputs() []badInput {
	nothing := func(int) []byte { return nil }
	return []badInput{
		{"nothing", 1, nothing, ""},
		{"half a number", 1, func(rank int) []byte { return number(rank)[:2] }, ""},
		{"a number twice", 2, number, ""},
		{"the number of another rank", 1, func(rank int) []byte { return number(3 - rank) }, api.ReasonWrongRankNumber},
		{"a number out of range", 1, func(int) []byte { return number(-7) }, api.ReasonWrongRankNumber},
		{"a number and 1 MB of noise", 1, noise, api.ReasonSideChannelLimit},
		{"1 MB of noise", 1, func(int) []byte { return noise(1 << 30) }, api.ReasonWrongRankNumber},
		{"1,000 connections", 1000, nothing, ""},
	}
}

// reports has a program make connections and say something on each, and keep them.
func (d *scenario) reports(n *network, at string, in badInput, rank int) (all []net.Conn) {
	for range in.calls {
		conn, err := n.Dial(d.t.Context(), at)
		if err != nil {
			return all // it is not listened to any more
		}
		all = append(all, conn)
		d.work.Go(func() { _, _ = conn.Write(in.reports(rank)) }) // it may be closed already
	}
	return all
}

// Whatever another program says at a rank's port, before the rank's does or after it,
// the rank joins as if it had not.
func TestBadInputAtARanksPort(t *testing.T) {
	for _, in := range badInputs() {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, first %t", in.what, first), func(t *testing.T) {
				bubble(t, 3, func(t *testing.T, d *scenario) {
					is := is.New(t)
					at := d.open(ref(1))
					nonMember := d.nodes[1].network()
					if first {
						d.work.Go(func() { d.reports(nonMember, at, in, 1) }) // no room is left for all
						pass(tick)
					}
					one := d.run(ref(1), at, nil)
					if !first {
						d.reports(nonMember, at, in, 1)
					}
					all := []*program{d.start(ref(0)), one, d.start(ref(2))}
					pass(5 * time.Second)
					for rank, p := range all {
						p.joins(t)
						is.Equal(d.failure(ref(rank)), api.Reason(""))
					}
					nonMember.kill()
				})
			})
		}
	}
}

// What a rank's own program says ends that rank where it is no handshake, and else the
// others wait for it, by name. No other rank is blamed.
func TestBadInputOfARank(t *testing.T) {
	for _, in := range badInputs() {
		t.Run(in.what, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, d *scenario) {
				is := is.New(t)
				d.start(ref(0))
				d.start(ref(2))
				at, own := d.open(ref(1)), d.nodes[1].network()
				d.nodes[1].spawned(ref(1), own)
				d.reports(own, at, in, 1)
				pass(50 * time.Second)
				is.Equal(d.failure(ref(1)), in.of)
				is.Equal(d.failure(ref(2)), api.Reason(""))
				switch in.of {
				case api.ReasonSideChannelLimit: // rank 0 cannot go on, and it is said why
					is.True(d.failure(ref(0)) == "" || d.failure(ref(0)) == api.ReasonSideChannelLost)
				default:
					is.Equal(d.failure(ref(0)), api.Reason(""))
					is.Equal(d.handshake(ref(0)).Missing, []int{1})
				}
				own.kill()
			})
		})
	}
}

// A connection to rank 0 that is no rank's takes the place of one, and nobody but rank 0
// could send it away: the start ends with the name of the program that made it, whether
// the ranks come before it or after.
func TestBadInputAtRankZero(t *testing.T) {
	for _, in := range badInputs() {
		for _, rest := range []int{0, 1, 2} { // ranks that are there before
			t.Run(fmt.Sprintf("%s, after %d", in.what, rest), func(t *testing.T) {
				bubble(t, 4, func(t *testing.T, d *scenario) {
					is := is.New(t)
					at := d.open(ref(0))
					d.run(ref(0), at, nil)
					for rank := 1; rank <= rest; rank++ {
						d.start(ref(rank))
					}
					pass(tick)
					nonMember := d.nodes[0].network()
					d.work.Go(func() { d.reports(nonMember, at, in, 1) })
					pass(20 * time.Millisecond) // sooner than it is looked by itself
					for rank := rest + 1; rank < 4; rank++ {
						d.start(ref(rank))
					}
					pass(time.Second)
					why := d.failed(ref(0))
					is.True(why != nil)
					is.Equal(why.Data.Reason, api.ReasonStrayConnection)
					if rest+in.calls < 3 || why.Message != "Something connected to rank 0, and is not a rank of the job." {
						// Else rank 0 has read at once that it is none, and ended.
						is.Equal(why.Message, fmt.Sprintf("stranger (process %d of account 501) connected to rank 0, and is not a rank of the job.", nonMember.number))
					}
					nonMember.kill()
				})
			})
		}
	}
}
