package sidechannel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/jaccl"
)

// A caller that dies while it is held never reaches rank 0; the one that takes its
// place does.
func TestAHeldCallerThatDiesIsDropped(t *testing.T) {
	bubble(t, 3, func(t *testing.T, d *scenario) {
		is := is.New(t)
		at := d.open(ref(1))
		other := d.start(ref(2))
		for range 2 {
			held := d.run(ref(1), at, nil)
			pass(tick)
			is.Equal(d.handshake(ref(1)).State, api.HandshakeHeld)
			held.kill()
			is.True(held.result(t).err != nil)
			pass(tick)
			is.Equal(d.handshake(ref(1)).State, api.HandshakeNone)
		}

		root := d.start(ref(0))
		pass(time.Second)
		is.Equal(d.handshake(ref(0)).Missing, []int{1})
		is.Equal(d.handshake(ref(0)).State, api.HandshakeListening)
		again := d.run(ref(1), at, nil)
		pass(tick)
		for _, p := range []*program{root, other, again} {
			p.joins(t)
		}
		is.Equal(d.failure(ref(0)), api.Reason(""))
	})
}

// Wherever a rank dies: no other one is taken for joined that is not, and what the
// others complain of is known to have come from elsewhere.
func TestDeathsAtEachStep(t *testing.T) {
	for _, step := range jaccl.Steps() {
		for victim := range 3 {
			t.Run(fmt.Sprintf("rank %d at %s", victim, step), func(t *testing.T) {
				bubble(t, 3, func(t *testing.T, d *scenario) {
					is := is.New(t)
					programs := make([]*program, 3)
					for rank := range programs {
						at := func(p *program, s jaccl.Step) {
							if s == step && rank == victim {
								p.kill()
							}
						}
						programs[rank] = d.run(ref(rank), d.open(ref(rank)), at)
					}
					pass(time.Minute)
					// That a program has ended is not told here. A listener of rank 0's that was
					// seen and is gone for a second looks like a stray's work then.
					isStray := victim == 0 && d.failure(ref(0)) == api.ReasonStrayConnection
					for rank, p := range programs {
						h := d.handshake(ref(rank))
						failure := d.failure(ref(rank))
						if isStray {
							is.True(h.State != api.HandshakeJoined)
							is.True(failure == "" || failure == api.ReasonSideChannelLost || rank == 0)
							continue
						}
						is.Equal(failure, api.Reason(""))
						switch {
						case rank == victim:
							is.True(!h.Severed)
						case step == jaccl.StepJoined:
							is.Equal(h.State, api.HandshakeJoined)
						case len(p.ended) == 0:
							// It hangs, and the job's home ends it: the dead one was never let through.
							is.True(d.handshake(ref(victim)).State == api.HandshakeNone)
							is.True(h.State != api.HandshakeJoined && !h.Severed)
						default:
							is.True((<-p.ended).err != nil)
							is.True(h.Severed)
							is.True(h.State != api.HandshakeJoined)
						}
					}
				})
			})
		}
	}
}

// Once a group is joined its side channel stays open and idle, and its end at one
// rank is its end at rank 0, for a JACCL that looks.
func TestTheChannelLivesAsLongAsTheGroup(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		root, other := d.start(ref(0)), d.start(ref(1))
		pass(24 * time.Hour)
		root.joins(t)
		other.joins(t)
		is.True(root.isOpen(t) && other.isOpen(t))
		other.kill()
		d.nodes[1].channels.Close(ref(1))
		pass(tick)
		is.Equal(len(d.nodes[1].ports), 0) // all that it had said was on its way
		is.True(!root.isOpen(t))
		is.Equal(d.handshake(ref(0)).State, api.HandshakeJoined)
		is.Equal(d.failure(ref(0)), api.Reason(""))
	})
}

// A node whose daemon is gone takes nothing from a group that has joined.
func TestAJoinedGroupOutlivesTheDaemonOfARank(t *testing.T) {
	bubble(t, 2, func(t *testing.T, d *scenario) {
		is := is.New(t)
		root, other := d.start(ref(0)), d.start(ref(1))
		pass(tick)
		root.joins(t)
		other.joins(t)
		d.nodes[1].channels.Shut()
		pass(time.Minute)
		is.True(root.isOpen(t))
		is.Equal(d.failure(ref(0)), api.Reason(""))
	})
}

// A daemon that ends while a rank waits for the others once more ends the ranks whose wait
// it carried: they would hang.
func TestADaemonThatEndsBetweenTheWaits(t *testing.T) {
	for _, gone := range []int{0, 1} {
		bubble(t, 2, func(t *testing.T, d *scenario) {
			is := is.New(t)
			goesOn, waited := make(chan struct{}), false
			root := d.start(ref(0))
			d.run(ref(1), d.open(ref(1)), func(_ *program, s jaccl.Step) {
				if s == jaccl.StepWaited && !waited {
					waited = true
					<-goesOn
				}
			})
			pass(tick)
			is.True(waited && len(root.ended) == 0)
			d.nodes[gone].channels.Shut()
			close(goesOn)
			pass(time.Minute)
			is.Equal(d.failure(ref(1-gone)), api.ReasonSideChannelLost)
		})
	}
}
