package sidechannel_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/jaccl"
	"fulmen/native"
)

// isClosed reports whether the other side has closed a connection.
func isClosed(conn net.Conn) bool {
	synctest.Wait()
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !isTimeout(err)
}

func isTimeout(err error) bool {
	late, ok := err.(net.Error)
	return ok && late.Timeout()
}

func number(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// Whatever connects to a rank's port that is not of the rank is dropped, and the
// group never hears of it.
func TestUnprovenAtARanksPort(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		root := d.start(ref(0))
		at := d.open(ref(1))
		// Before the program runs nobody is known to be of the rank.
		early, err := d.nodes[1].network().Dial(t.Context(), at)
		is.NoErr(err)
		_, err = early.Write(number(1))
		is.NoErr(err)
		pass(time.Second)
		is.True(!isClosed(early))
		leaf := d.run(ref(1), at, nil)
		for range 40 { // more than may be about to say who they are
			nonMember, err := d.nodes[1].network().Dial(t.Context(), at)
			is.NoErr(err)
			_, _ = nonMember.Write(number(1)) // it may be closed already
			is.True(isClosed(nonMember))
		}
		pass(tick)
		is.True(isClosed(early))
		root.joins(t)
		leaf.joins(t)

		// A rank connects once.
		second, err := leaf.Dial(t.Context(), at)
		is.NoErr(err)
		_, err = second.Write(number(1))
		is.NoErr(err)
		pass(tick)
		is.True(isClosed(second))
		is.True(root.isOpen(t))
	})
}

// A caller that never says which rank it is does not hold up the rank.
func TestASilentCallerIsDropped(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		at := d.open(ref(1))
		var silent net.Conn
		leaf := d.run(ref(1), at, func(p *program, s jaccl.Step) {
			if s == jaccl.StepBegin {
				silent, _ = p.Dial(context.Background(), at)
			}
		})
		root := d.start(ref(0))
		pass(tick)
		root.joins(t)
		leaf.joins(t)
		is.True(!isClosed(silent))
		pass(11 * time.Second)
		is.True(isClosed(silent))
	})
}

// A program that says the number of another rank ends, and rank 0 hears nothing:
// it would crash or loop for ever.
func TestAWrongNumberEndsItsRank(t *testing.T) {
	for _, reported := range []int{0, 2, 3, -1, 1 << 24} {
		bubble(t, 3, func(t *testing.T, d *scenario) {
			is := is.New(t)
			d.start(ref(0))
			at := d.open(ref(1))
			n := d.nodes[1].network()
			d.nodes[1].spawned(ref(1), n)
			conn, err := n.Dial(t.Context(), at)
			is.NoErr(err)
			_, err = conn.Write(number(reported))
			is.NoErr(err)
			pass(tick)
			is.True(isClosed(conn))
			is.Equal(d.failure(ref(1)), api.ReasonWrongRankNumber)
			is.Equal(d.failure(ref(0)), api.Reason(""))
			is.Equal(d.handshake(ref(0)).Missing, []int{1, 2})
		})
	}
}

// A node may bring the ranks that the plan puts on it, under the job's epoch, and
// with their numbers; anything else is closed before it reaches rank 0.
func TestUnprovenAmongTheNodes(t *testing.T) {
	frame := func(kind byte, data []byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{kind}, uint16(len(data))), data...)
	}
	good := append(frame('h', nil), frame('d', number(1))...)
	for name, c := range map[string]struct {
		from   int
		first  api.PeerConn
		report []byte
	}{
		"another node":          {2, api.PeerConn{Rank: ref(1), Epoch: 1}, good},
		"another epoch":         {1, api.PeerConn{Rank: ref(1), Epoch: 2}, good},
		"a rank that is none":   {1, api.PeerConn{Rank: ref(7), Epoch: 1}, good},
		"rank 0":                {1, api.PeerConn{Rank: ref(0), Epoch: 1}, good},
		"no rank at all":        {1, api.PeerConn{Epoch: 1}, good},
		"another number":        {1, api.PeerConn{Rank: ref(1), Epoch: 1}, frame('d', number(2))},
		"a part of a number":    {1, api.PeerConn{Rank: ref(1), Epoch: 1}, frame('d', number(1)[:3])},
		"what is no frame":      {1, api.PeerConn{Rank: ref(1), Epoch: 1}, []byte("GET / HTTP/1.1\r\n\r\n")},
		"a frame without limit": {1, api.PeerConn{Rank: ref(1), Epoch: 1}, []byte{'d', 0xff, 0xff}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, d *scenario) {
				is := is.New(t)
				root := d.start(ref(0))
				pass(tick)
				c.first.Carries = api.ConnSideChannel
				conn, err := d.nodes[0].stream(t.Context(), d.plan[c.from], d.plan[0], c.first)
				is.NoErr(err)
				_, _ = conn.Write(c.report)
				pass(tick)
				var received bytes.Buffer
				_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
				_, err = received.ReadFrom(conn)
				is.True(err == nil || !isTimeout(err)) // closed
				is.True(!bytes.Contains(received.Bytes(), []byte{'c'}))
				// And the group is none the worse.
				one, two := d.start(ref(1)), d.start(ref(2))
				pass(tick)
				for _, p := range []*program{root, one, two} {
					p.joins(t)
				}
			})
		})
	}
}

// A node whose rank says more than any handshake takes ends rank 0, which cannot go on,
// with the name of that rank: it is never the cause itself.
func TestANodeThatSaysTooMuch(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		at, zero := d.open(ref(0)), d.nodes[0].network()
		_, err := zero.Listen(at)
		is.NoErr(err)
		d.nodes[0].spawned(ref(0), zero)
		conn, err := d.nodes[0].stream(t.Context(), d.plan[1], d.plan[0], api.PeerConn{Carries: api.ConnSideChannel, Rank: ref(1), Epoch: 1})
		is.NoErr(err)
		part := binary.BigEndian.AppendUint16([]byte{'d'}, 16<<10)
		part = append(part, append(number(1), make([]byte, 16<<10-4)...)...)
		d.work.Go(func() {
			for range 80 {
				_, _ = conn.Write(part)
			}
		})
		pass(5 * time.Second)
		is.Equal(d.failure(ref(0)), api.ReasonSideChannelLost)
		is.Equal(d.failed(ref(0)).Message, "Rank 1 sent more than 1024 KiB before it had joined its group.")
		conn.Close()
	})
}

// A node that opens streams of jobs that nobody knows gets so many, and no more.
func TestStreamsThatNobodyWaitsForAreBounded(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		var all []net.Conn
		for i := range 70 {
			first := api.PeerConn{Carries: api.ConnSideChannel, Rank: api.RankRef{Job: job, Attempt: i + 1, Rank: 1}, Epoch: 1}
			conn, err := d.nodes[0].stream(t.Context(), d.plan[1], d.plan[0], first)
			is.NoErr(err)
			all = append(all, conn)
		}
		open := func() (n int) {
			for _, c := range all {
				if !isClosed(c) {
					n++
				}
			}
			return n
		}
		is.Equal(open(), 64)
		pass(6 * time.Minute)
		is.Equal(open(), 0)
	})
}

// Two groups on the same nodes at once never mix, in whatever order they come.
func TestTwoGroupsNeverMix(t *testing.T) {
	for _, order := range permutations(4) {
		bubble(t, 4, func(t *testing.T, d *scenario) {
			other := func(rank int) api.RankRef { return api.RankRef{Job: "j00000001", Attempt: 1, Rank: rank} }
			var programs []*program
			for i, rank := range order {
				programs = append(programs, d.start(ref(rank)))
				programs = append(programs, d.start(other(order[len(order)-1-i])))
				pass(time.Second)
			}
			for _, p := range programs {
				p.joins(t) // the marks of all ranks agree, or Join fails
			}
		})
	}
}

// Somebody else who listens at rank 0's port, or connects to it, is found out: the
// rank ends with the reason, where JACCL would hang.
func TestUnprovenAtRank0sPort(t *testing.T) {
	t.Run("a listener that was there", func(t *testing.T) {
		bubble(t, 2, func(t *testing.T, d *scenario) {
			is := is.New(t)
			at := d.open(ref(0))
			_, err := d.nodes[0].listen(99, portOf(at), true)
			is.NoErr(err)
			d.run(ref(0), at, nil)
			leaf := d.start(ref(1))
			pass(tick)
			is.Equal(d.failure(ref(0)), api.ReasonPortTaken)
			is.Equal(d.handshake(ref(1)).State, api.HandshakeHeld)
			leaf.kill()
		})
	})
	t.Run("a listener that is seen once and nobody who has it", func(t *testing.T) {
		bubble(t, 2, func(t *testing.T, d *scenario) {
			d.nodes[0].machine.torn = 1
			all := []*program{d.start(ref(0)), d.start(ref(1))}
			pass(time.Second)
			for _, p := range all {
				p.joins(t)
				is.New(t).Equal(d.failure(p.ref), api.Reason(""))
			}
		})
	})
	t.Run("a caller", func(t *testing.T) {
		bubble(t, 2, func(t *testing.T, d *scenario) {
			is := is.New(t)
			at := d.open(ref(0))
			d.run(ref(0), at, nil)
			pass(tick) // for it to be seen that rank 0 listens
			_, err := d.nodes[0].network().Dial(t.Context(), at)
			is.NoErr(err)
			pass(tick)
			d.start(ref(1))
			pass(5 * time.Second)
			is.Equal(d.failure(ref(0)), api.ReasonStrayConnection)
		})
	})
	t.Run("a caller, right after it was seen that there is room", func(t *testing.T) {
		bubble(t, 3, func(t *testing.T, d *scenario) {
			is := is.New(t)
			d.nodes[0].machine.room = 8
			at := d.open(ref(0))
			d.run(ref(0), at, nil)
			pass(tick)
			d.start(ref(1))
			synctest.Wait()
			_, err := d.nodes[0].network().Dial(t.Context(), at)
			is.NoErr(err)
			synctest.Wait() // rank 0 has as many as there are other ranks
			d.start(ref(2))
			pass(5 * time.Second)
			is.Equal(d.handshake(ref(0)).State, api.HandshakeConnected)
			is.Equal(d.failed(ref(0)).Message, "stranger (process 2 of account 501) connected to rank 0, and is not a rank of the job.")
		})
	})
	for name, tt := range map[string]struct {
		blind error
		want  api.Reason
	}{
		"nobody can tell":        {net.ErrClosed, api.ReasonInternal},
		"nobody can tell at all": {native.Unsupported(native.FeatureProcesses, native.ReasonNoPlatform.With("not a part")), api.ReasonNotSupportedByPlatform},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, d *scenario) {
				is := is.New(t)
				d.nodes[0].blind = tt.blind
				d.start(ref(0))
				pass(tick)
				is.Equal(d.failure(ref(0)), tt.want)
			})
		})
	}
}

// A channel is of a rank of a group.
func TestWhatIsNoGroupIsRefused(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		for _, of := range []struct {
			rank  api.RankRef
			nodes []api.NodeID
		}{{ref(0), d.plan[:1]}, {ref(2), d.plan}, {nodes: d.plan}} {
			_, err := d.nodes[0].channels.Open(of.rank, 0, of.nodes, 0)
			is.True(err != nil)
		}
		is.Equal(d.open(ref(0)), d.open(ref(0))) // asked again, the same
		is.Equal(d.open(ref(1)), d.open(ref(1)))
	})
}
