package profile

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

// overRDMA is the cable of a path, over RDMA.
func overRDMA(socket Path) Path {
	return Path{Transport: api.TransportRDMA, Peer: socket.Peer, Link: socket.Link, Kind: api.LinkRDMA, Negotiated: socket.Negotiated, IsUnasked: true}
}

// rdmaScenario is a desk with a cable that is ready for RDMA.
func rdmaScenario(t *testing.T, test func(d *scenario, cable Path)) {
	t.Helper()
	path := cable(1)
	onScenario(t, func(d *scenario) {
		d.set(func() { d.paths = []Path{overRDMA(path)} })
		test(d, overRDMA(path))
	}, func(d *scenario, c *Config) {
		c.ProbeRDMA = func(ctx context.Context, _ api.MeasureID, path Path, progress func(string, float64)) (Reading, error) {
			progress("sending", 0.5)
			if !native.Pause(ctx, d.cfg.Clock, 3*time.Second) {
				return Reading{}, api.AsError(context.Cause(ctx))
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.probes = append(d.probes, probed{name: path.Name(), at: time.Since(d.began)})
			r := d.reading
			r.Sizes = []api.SizeResult{{MessageBytes: 64, RTTUS: r.RTTUS}}
			return r, d.fault[path.Name()]
		}
	}, withTurn)
}

// ask asks for a test of a cable and waits for its end.
func (d *scenario) ask(cable Path) *api.Error {
	d.t.Helper()
	w, err := d.MeasureCable(d.t.Context(), caller("ada"), cable.Link)
	if err != nil {
		return api.AsError(err)
	}
	m := last(d.t, w)
	d.wait(0)
	return m.Items[0].Error
}

// replug takes the cable out and puts it in again, with what is ready by then.
func (d *scenario) replug(socket, rdma Path) {
	d.set(func() { d.paths = nil })
	d.wait(time.Minute)
	d.set(func() { d.paths = []Path{socket} }) // RDMA takes a moment
	d.wait(2 * time.Second)
	d.set(func() { d.paths = []Path{socket, rdma} })
}

func TestRDMAIsMeasuredOnRequest(t *testing.T) {
	rdmaScenario(t, func(d *scenario, cable Path) {
		is := is.New(d.t)
		d.watch(api.KindLinkProfile)
		d.wait(10 * time.Minute)
		got, _ := d.took()
		is.Equal(len(got), 0) // that somebody watches is no reason
		is.Equal(d.ask(cable), nil)
		got, _ = d.took()
		is.Equal(len(got), 1)
		p := d.profile(cable)
		is.Equal(*p.UpBitsPerS, int64(50e9))
		is.Equal(len(p.Sizes), 1)
		is.Equal(p.LinkKind, api.LinkRDMA)
		d.wait(48 * time.Hour)
		got, _ = d.took()
		is.Equal(len(got), 0) // what is old stays so
		is.Equal(d.profile(cable).MeasuredAt, p.MeasuredAt)
	})
}

func TestRDMAIsMeasuredOnceAfterAReplug(t *testing.T) {
	rdmaScenario(t, func(d *scenario, rdma Path) {
		is := is.New(d.t)
		socket := cable(1)
		socket.IsUnasked = false
		d.replug(socket, rdma)
		d.wait(time.Hour)
		got, _ := d.took()
		is.Equal(len(got), 0) // it was never tested
		is.Equal(d.ask(rdma), nil)
		d.took()
		d.replug(socket, rdma)
		d.wait(time.Hour)
		got, _ = d.took()
		is.Equal(len(got), 1)
		slower := rdma
		slower.Negotiated = &api.ThunderboltSpeed{TxBitsPerS: 120e9, RxBitsPerS: 40e9}
		d.set(func() { d.paths = []Path{slower} })
		d.wait(time.Hour)
		got, _ = d.took()
		is.Equal(len(got), 1) // another speed is another cable
		is.Equal(len(d.profile(rdma).History), 0)
		spent := slower
		spent.IsUnasked = false // so many tests were made that none is unasked
		d.replug(socket, spent)
		d.wait(time.Hour)
		got, _ = d.took()
		is.Equal(len(got), 0)
		is.Equal(d.ask(spent), nil) // who asks gets it
	})
}

// What has failed is not tried again, until somebody asks or replugs the cable, as
// the condition says.
func TestRDMAFailureIsNotRepeated(t *testing.T) {
	rdmaScenario(t, func(d *scenario, rdma Path) {
		is := is.New(d.t)
		socket := cable(1)
		socket.IsUnasked = false
		failure := api.Errorf(api.ReasonRDMAProbeFailed, "", "The worker crashed.")
		d.set(func() { d.fault[rdma.Name()] = failure })
		is.Equal(d.ask(rdma).Data.Reason, api.ReasonRDMAProbeFailed)
		is.Equal(d.codes(), []api.Reason{api.ReasonRDMAProbeFailed})
		is.Equal(d.profile(rdma).Failure.Reason, api.ReasonRDMAProbeFailed)
		d.watch(api.KindLinkProfile)
		d.took()
		d.wait(48 * time.Hour)
		got, _ := d.took()
		is.Equal(len(got), 0)
		d.replug(socket, rdma)
		d.wait(48 * time.Hour)
		got, _ = d.took()
		is.Equal(len(got), 1) // once, and it failed again
		is.Equal(d.codes(), []api.Reason{api.ReasonRDMAProbeFailed})
		d.set(func() { delete(d.fault, rdma.Name()) })
		d.replug(socket, rdma)
		is.Equal(d.codes(), []api.Reason{api.ReasonRDMAProbeFailed})
		d.wait(time.Minute)
		is.Equal(d.codes(), nil)
		is.Equal(d.profile(rdma).Failure, nil)
	})
}

// A build of MLX without JACCL says nothing of the cable: the row says it, and no
// condition does. Nor does an end that has no time now.
func TestRDMAFailuresThatSayNothingOfTheCable(t *testing.T) {
	rdmaScenario(t, func(d *scenario, rdma Path) {
		is := is.New(d.t)
		d.set(func() { d.fault[rdma.Name()] = api.NewError(api.ReasonJACCLMissing, "") })
		is.Equal(d.ask(rdma).Data.Reason, api.ReasonJACCLMissing)
		is.Equal(d.codes(), nil)
		is.Equal(d.profile(rdma).Failure.Reason, api.ReasonJACCLMissing)

		d.set(func() { d.fault[rdma.Name()] = api.NewError(api.ReasonJobHasNode, "") })
		d.took()
		w, err := d.MeasureCable(d.t.Context(), caller("ada"), rdma.Link)
		is.NoErr(err)
		d.wait(time.Minute)
		is.True(!isOver(w.run.state.State)) // it stands in line
		d.set(func() { delete(d.fault, rdma.Name()) })
		is.Equal(last(d.t, w).Items[0].Error, nil)
	})
}

// A job that waits for the node lets a test come to its end: it takes seconds, and
// what is killed may leave the device in disorder.
func TestRDMAIsNotInterrupted(t *testing.T) {
	rdmaScenario(t, func(d *scenario, rdma Path) {
		is := is.New(d.t)
		w, err := d.MeasureCable(d.t.Context(), caller("ada"), rdma.Link)
		is.NoErr(err)
		d.wait(time.Second)
		d.held(api.NewError(api.ReasonJobHasNode, ""))
		is.Equal(last(d.t, w).Items[0].Error, nil)
		got, _ := d.took()
		is.Equal(len(got), 1)
	})
}

func TestRDMANotReady(t *testing.T) {
	rdmaScenario(t, func(d *scenario, rdma Path) {
		is := is.New(d.t)
		d.set(func() { d.paths = nil })
		before := time.Now()
		is.Equal(d.ask(rdma).Data.Reason, api.ReasonRDMANotReady)
		is.Equal(time.Since(before), readyWithin)
		time.AfterFunc(time.Second, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.paths = []Path{rdma} // it was just being enabled
		})
		is.Equal(d.ask(rdma), nil)
	})
}

// A cable whose path over sockets is as ever and that is worse over RDMA is told of,
// and both of them in one condition.
func TestRDMAWorseThanItsHistory(t *testing.T) {
	rdmaScenario(t, func(d *scenario, rdma Path) {
		is := is.New(d.t)
		socket := cable(1)
		d.set(func() { d.paths = []Path{rdma, socket} })
		gave := func(gb float64, times int) {
			for range times {
				d.set(func() { d.reading.UpBitsPerS = new(int64(gb * 1e9)) })
				is.Equal(d.ask(rdma), nil)
			}
		}
		gave(75, 5)
		gave(40, 2)
		is.Equal(d.codes(), nil)
		gave(40, 1)
		is.Equal(d.codes(), []api.Reason{api.ReasonLinkBelowHistory})
		is.Equal(d.holds[api.ReasonLinkBelowHistory], "the cable between studio:1 and book:1 over RDMA: 40 Gb/s to book where it gave 75")
		d.wait(time.Minute)
		is.Equal(d.codes(), []api.Reason{api.ReasonLinkBelowHistory}) // the path over sockets does not clear it
		gave(74, 1)
		is.Equal(d.codes(), nil)
	})
}
