package grant

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestWhoComesFirstIsServedFirst(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		is.Equal(d.now(wants(1, 0)).State, api.GrantHeld)
		is.Equal(d.doc(rank(1)).LeaseS, 30.0)
		second, third := d.ask(wants(2, time.Minute)), d.ask(wants(3, time.Minute))
		is.Equal(d.doc(rank(2)).Reason, api.ReasonGPUBusy)
		is.Equal(d.doc(rank(3)).WaitingFor, rank(1).String())
		is.NoErr(d.Release(rank(1), 1))
		is.Equal((<-second).State, api.GrantHeld)
		synctest.Wait()
		is.True(!answered(third))
		is.Equal(d.doc(rank(3)).WaitingFor, rank(2).String())
		is.Equal(names(d), []string{"j00000002/1/0 held", "j00000003/1/0 waiting"})
	})
}

func TestAnAnswerAtOnceSaysWhatIsInTheWay(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.now(wants(1, 0))
		g := d.now(wants(2, 0))
		is.Equal(g.State, api.GrantWaiting)
		is.Equal(g.Reason, api.ReasonGPUBusy)
		is.Equal(g.WaitingFor, rank(1).String())
		is.Equal(len(d.docs), 1) // nobody stands in line
	})
}

func TestDeadlinesAnswerAndKeepThePlaceForAMoment(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.now(wants(1, 0))
		is.True(d.Occupy(rank(1).Rank, 1))
		second, third := d.ask(wants(2, 10*time.Second)), d.ask(wants(3, time.Minute))
		got := <-second
		is.Equal(got.at, 10*time.Second)
		is.Equal(got.State, api.GrantWaiting)
		again := d.ask(wants(2, 10*time.Second))
		is.NoErr(d.Release(rank(1), 1))
		d.Vacate(rank(1).Rank)
		is.Equal((<-again).State, api.GrantHeld) // before who came later
		is.True(!answered(third))
	})
}

func TestLeasesEndGrantsButNotProcesses(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.now(wants(1, 0))
		pass(20 * time.Second)
		n, err := d.Renew(job(1), 1, 1, 0)
		is.NoErr(err)
		is.Equal(n, 1)
		waiting := d.ask(wants(2, time.Hour))
		is.Equal((<-waiting).at, 50*time.Second) // renewed at 20 s, for 30 s

		is.True(d.Occupy(rank(2).Rank, 1))
		waiting = d.ask(wants(3, time.Hour))
		pass(time.Minute)
		is.True(!answered(waiting)) // its lease is long over, its process is there
		is.NoErr(d.Release(rank(2), 1))
		synctest.Wait()
		is.True(!answered(waiting))
		is.True(!d.Occupy(rank(2).Rank, 1)) // given back: nothing more starts in it
		d.Vacate(rank(2).Rank)
		is.Equal((<-waiting).State, api.GrantHeld)
		is.True(!d.Occupy(rank(7).Rank, 1)) // without a grant nothing starts
	})
}

func TestEpochsFence(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.now(wants(1, 0))
		r := wants(2, time.Hour)
		old := d.ask(r)
		r.Epoch = 2
		is.Equal(d.now(r).State, api.GrantWaiting)
		is.True(errors.Is((<-old).err, api.ReasonStaleEpoch)) // the former home waits in vain
		_, err := d.Ask(context.Background(), wants(2, 0))
		is.True(errors.Is(err, api.ReasonStaleEpoch))
		_, err = d.Renew(job(2), 1, 1, 0)
		is.True(errors.Is(err, api.ReasonStaleEpoch))
		is.True(errors.Is(d.Release(rank(2), 1), api.ReasonStaleEpoch))
		is.Equal(d.Epoch(job(2)), uint64(2))

		r = wants(1, 0)
		r.Epoch = 5
		is.Equal(d.now(r).State, api.GrantHeld) // the new home takes it over
		is.Equal(d.doc(rank(1)).Epoch, uint64(5))
		is.True(!d.Occupy(rank(1).Rank, 1))
	})
}

func TestMemory(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		of := func(i int, n int64, node api.NodeID) Request {
			r := wants(i, 0)
			r.GPU, r.MemoryBytes, r.Principal.Node = api.GPUShared, n*gb, node
			return r
		}
		is.Equal(d.now(of(1, 60, me)).State, api.GrantHeld)
		g := d.now(of(2, 60, me))
		is.Equal(g.Reason, api.ReasonNotEnoughMemory)
		is.Equal(g.WaitingFor, rank(1).String())
		is.Equal(d.now(of(2, 101, me)).State, api.GrantRefused) // never
		others := 20 * gb
		d.change(func() { d.others = &others })
		is.Equal(d.now(of(2, 21, "node9")).State, api.GrantRefused)
		is.Equal(d.now(of(2, 15, "node9")).State, api.GrantHeld)
		is.Equal(d.now(of(3, 15, "node9")).State, api.GrantWaiting) // others together
		is.Equal(d.now(of(4, 25, me)).State, api.GrantHeld)         // this node's people are not bounded
		d.change(func() { d.set = nil })
		is.Equal(d.now(of(5, 1, me)).State, api.GrantWaiting) // unknown is not enough
	})
}

func TestDevicesAndSharing(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		of := func(i int, gpu api.GPUShare, ports ...api.PortNumber) Request {
			r := wants(i, 0)
			r.GPU, r.PortNumbers = gpu, ports
			return r
		}
		is.Equal(d.now(of(1, api.GPUShared, 1, 2)).State, api.GrantHeld)
		is.Equal(d.now(of(2, api.GPUShared, 2, 3)).Reason, api.ReasonRDMADeviceBusy)
		is.Equal(d.now(of(2, api.GPUExclusive)).Reason, api.ReasonGPUBusy)
		is.Equal(d.now(of(2, api.GPUShared, 3)).State, api.GrantHeld)
		is.Equal(d.now(of(3, api.GPUNone)).State, api.GrantHeld)
		_, err := d.Ask(context.Background(), of(4, api.GPUNone, 0))
		is.True(err != nil)
	})
}

func TestNobodyPassesWhoWantsTheSame(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		of := func(i int, gpu api.GPUShare, memory int64, ports ...api.PortNumber) Request {
			r := wants(i, 0)
			r.GPU, r.MemoryBytes, r.PortNumbers = gpu, memory*gb, ports
			return r
		}
		is.Equal(d.now(of(1, api.GPUShared, 10)).State, api.GrantHeld)
		first := of(2, api.GPUExclusive, 80, 1)
		first.Wait = time.Hour
		waiting := d.ask(first)
		for _, c := range []struct {
			r    Request
			want api.Reason
		}{
			{of(3, api.GPUShared, 0), api.ReasonGPUBusy},
			{of(3, api.GPUNone, 15), api.ReasonNotEnoughMemory},
			{of(3, api.GPUNone, 0, 1), api.ReasonRDMADeviceBusy},
		} {
			g := d.now(c.r)
			is.Equal(g.Reason, c.want)
		}
		is.Equal(d.now(of(3, api.GPUNone, 5, 2)).State, api.GrantHeld) // what nobody before it wants
		is.NoErr(d.Release(rank(1), 1))
		is.Equal((<-waiting).State, api.GrantHeld)
	})
}

func TestMeasurementsAreLastAndAlone(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		is.Equal(d.now(measures(1, 0)).State, api.GrantHeld)
		is.Equal(d.now(measures(2, 0)).Reason, api.ReasonMeasurementRunning)
		m := d.ask(measures(2, time.Hour))
		r := d.ask(wants(1, time.Hour))
		is.Equal(d.doc(rank(1)).Reason, api.ReasonMeasurementRunning)
		is.NoErr(d.Release(measure(1), 0))
		is.Equal((<-r).State, api.GrantHeld) // though it came later
		is.Equal(d.doc(measure(2)).Reason, api.ReasonJobHasNode)
		is.Equal((<-m).at, lease) // nobody renewed the rank
	})
}

func TestOtherProgramsAreWaitedFor(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.change(func() { d.use = 0.41 }) // an ordinary screen
		is.Equal(d.now(wants(9, 0)).State, api.GrantHeld)
		is.NoErr(d.Release(rank(9), 1))
		d.change(func() { d.use = 0.51 })
		r := d.ask(wants(1, time.Hour))
		is.Equal(d.doc(rank(1)).Reason, api.ReasonGPUUsedByOtherProgram)
		is.Equal(d.watched, []bool{true})
		without := wants(2, 0)
		without.GPU = api.GPUNone
		is.Equal(d.now(without).State, api.GrantHeld)
		d.change(func() { d.use = 0.5 })
		is.Equal((<-r).State, api.GrantHeld)
		is.Equal(d.watched, []bool{true, false})
		d.change(func() { d.use = 1 }) // what is lent uses it
		is.Equal(d.now(wants(3, 0)).Reason, api.ReasonGPUBusy)
		is.NoErr(d.Release(rank(1), 1))
		d.change(func() { d.use = 0 })
		shared := wants(4, 0)
		shared.GPU = api.GPUShared
		is.Equal(d.now(shared).State, api.GrantHeld)
		d.change(func() { d.use = 1 })
		shared.Holder = rank(5)
		is.Equal(d.now(shared).State, api.GrantHeld)
	})
}

// A job waits for other programs a stated time at most, all of its ranks and attempts
// together; a measurement waits on.
func TestOtherProgramsAreNotWaitedForForEver(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.change(func() { d.use, d.wait = 1, 2*time.Minute })
		other := wants(1, 0)
		other.Holder.Rank.Rank = 1
		is.Equal(d.now(other).State, api.GrantWaiting) // the time of the job begins here
		pass(time.Minute)
		first := d.ask(wants(1, time.Hour))
		m := d.ask(measures(1, 24*time.Hour))
		got := <-first
		is.Equal(got.at, 2*time.Minute)
		is.Equal(got.State, api.GrantHeld)
		is.Equal(got.Reason, api.ReasonGPUUsedByOtherProgram) // the warning
		is.Equal(d.doc(rank(1)).Reason, api.ReasonGPUUsedByOtherProgram)
		is.NoErr(d.Release(rank(1), 1))

		again := wants(1, 0)
		again.Holder.Rank.Attempt = 2
		is.Equal(d.now(again).Reason, api.ReasonGPUUsedByOtherProgram)
		is.NoErr(d.Release(again.Holder, 1))
		next := d.ask(wants(2, time.Hour))
		is.Equal((<-next).at, 4*time.Minute) // another job waits its own time
		is.NoErr(d.Release(rank(2), 1))

		pass(forgetWait + 2*time.Minute)
		is.True(!answered(m))
		is.Equal(d.now(again).State, api.GrantWaiting)
		d.change(func() { d.use = 0.2 })
		is.Equal((<-m).State, api.GrantHeld)
		is.Equal(d.Holders()[measure(1).String()].Reason, api.Reason(""))
	})
}

func TestTheOwnerDecides(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.change(func() { d.deny["node9"] = api.ReasonPrincipalUnmapped })
		g := d.now(wants(1, 0))
		is.Equal(g.State, api.GrantRefused)
		is.Equal(g.Reason, api.ReasonPrincipalUnmapped)
		d.change(func() { d.deny["node9"] = api.ReasonOnBattery })
		waiting := d.ask(wants(1, time.Hour))
		is.Equal(d.doc(rank(1)).Reason, api.ReasonOnBattery)
		mine := wants(2, 0)
		mine.Principal.Node = me
		is.Equal(d.now(mine).State, api.GrantHeld) // is not held up by it
		is.NoErr(d.Release(rank(2), 1))
		d.change(func() { delete(d.deny, "node9") })
		is.Equal((<-waiting).State, api.GrantHeld)
	})
}

// What several processes live in is free after the last of them, before and after a restart
// of the daemon.
func TestSeveralProcessesLiveInOneGrant(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.now(wants(1, 0))
		is.True(d.Occupy(rank(1).Rank, 1))
		is.True(d.Occupy(rank(1).Rank, 1))
		is.NoErr(d.Restore(wants(2, 0)))
		is.NoErr(d.Restore(wants(2, 0)))
		waiting := d.ask(wants(3, time.Hour))
		for i := range 4 {
			is.True(!answered(waiting))
			if i < 2 {
				is.NoErr(d.Release(rank(i+1), 1))
			}
			d.Vacate(rank(i/2 + 1).Rank)
			synctest.Wait()
		}
		is.Equal((<-waiting).State, api.GrantHeld)
	})
}

func TestARestartRestoresWhatRunsOn(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		is.NoErr(d.Restore(wants(1, 0)))
		waiting := d.ask(wants(2, time.Hour))
		pass(time.Minute)
		is.True(!answered(waiting))
		n, err := d.Renew(job(1), 1, 1, 0)
		is.NoErr(err)
		is.Equal(n, 1)
		d.Vacate(rank(1).Rank)
		is.Equal((<-waiting).at, time.Minute+lease) // its home may still want it until then
	})
}

func TestLeavingTheLine(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.now(wants(1, 0))
		ctx, cancel := context.WithCancelCause(context.Background())
		gone := errors.New("the home is gone")
		go func() { cancel(gone) }()
		_, err := d.Ask(ctx, wants(2, time.Hour))
		is.True(errors.Is(err, gone))
		waiting := d.ask(wants(3, time.Hour))
		is.NoErr(d.Release(rank(3), 1))
		is.True((<-waiting).err != nil)
		is.Equal(len(d.docs), 1)
		waiting = d.ask(wants(4, time.Hour))
		d.Close()
		is.True((<-waiting).err != nil)
		_, err = d.Ask(context.Background(), wants(5, 0))
		is.True(err != nil)
	})
}
