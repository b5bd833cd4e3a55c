package profile

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

const otherNode api.NodeID = "y1m2wb3jdk61ktcs"

// scenario is a node in a bubble, with a GPU and paths that do as the test says.
type scenario struct {
	*rig
	t     *testing.T
	began time.Time

	mu       sync.Mutex
	step     time.Duration // that the wall clock was set by
	paths    []Path
	wanted   map[api.Kind]bool
	obstacle *api.Error
	fault    map[string]error // of measuring, by path
	reading  Reading
	// togetherFault is that of measuring several paths at once.
	togetherFault error
	probes        []probed
	gpus          []time.Duration
	held          context.CancelCauseFunc // of the measurement that holds the node
	build         string
}

// probed is a path that was measured.
type probed struct {
	name string
	full bool
	at   time.Duration
	// beside counts those that were measured with it.
	beside int
}

// onScenario runs a test with the reconciler at work.
func onScenario(t *testing.T, test func(d *scenario), change ...func(*scenario, *Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &scenario{t: t, began: time.Now(), wanted: map[api.Kind]bool{}, fault: map[string]error{}}
		d.reading = Reading{UpBitsPerS: new(int64(50e9)), DownBitsPerS: new(int64(40e9)), RTTUS: new(340.0), JitterUS: new(20.0), Streams: 4}
		d.rig = newRig(t, func(c *Config) { d.configure(c, change) })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			_ = d.Run(ctx)
			close(done)
		}()
		synctest.Wait()
		test(d)
		cancel()
		<-done
		d.Close()
	})
}

func (d *scenario) configure(c *Config, change []func(*scenario, *Config)) {
	c.Clock = native.ClockFrom(func() time.Time {
		d.mu.Lock()
		defer d.mu.Unlock()
		return time.Now().Add(d.step)
	}, func() time.Duration { return time.Since(d.began) + time.Hour })
	c.Launch = func(context.Context, proc.Command) proc.Record {
		d.mu.Lock()
		d.gpus = append(d.gpus, time.Since(d.began))
		d.mu.Unlock()
		return recordOf(d.t, sampleGPU())
	}
	c.Probe = d.probe
	c.Paths = func() []Path {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.paths
	}
	c.Wanted = func(kind api.Kind) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.wanted[kind]
	}
	c.Obstacle = func(context.Context) *api.Error {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.obstacle
	}
	c.System = func() (string, string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.build, ""
	}
	c.Name = func(id api.NodeID) string {
		return map[api.NodeID]string{testNode: "studio", otherNode: "book"}[id]
	}
	for _, f := range change {
		f(d, c)
	}
}

func (d *scenario) probe(ctx context.Context, _ api.MeasureID, path Path, full bool, progress func(string, float64)) (Reading, error) {
	progress("bandwidth", 0.5)
	if !native.Pause(ctx, d.cfg.Clock, 2*time.Second) {
		return Reading{}, api.AsError(context.Cause(ctx))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.probes = append(d.probes, probed{path.Name(), full, time.Since(d.began), len(path.Beside)})
	if err := d.fault[path.Name()]; err != nil {
		return Reading{}, err
	}
	if n := int64(1 + len(path.Beside)); n > 1 {
		if d.togetherFault != nil {
			return Reading{}, d.togetherFault
		}
		return Reading{UpBitsPerS: new(n * *d.reading.UpBitsPerS), DownBitsPerS: new(n * *d.reading.DownBitsPerS)}, nil
	}
	return d.reading, nil
}

// set changes something of the desk, and has the profiler hear of it.
func (d *scenario) set(f func()) {
	d.mu.Lock()
	f()
	d.mu.Unlock()
	d.Recheck()
	synctest.Wait()
}

func (d *scenario) watch(kinds ...api.Kind) {
	d.set(func() {
		clear(d.wanted)
		for _, k := range kinds {
			d.wanted[k] = true
		}
	})
}

func (d *scenario) wait(how time.Duration) {
	time.Sleep(how)
	synctest.Wait()
}

// took is what was measured since the last question.
func (d *scenario) took() (paths []probed, gpus int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	paths, gpus = d.probes, len(d.gpus)
	d.probes, d.gpus = nil, nil
	return paths, gpus
}

// profile is a path's document.
func (d *scenario) profile(path Path) api.LinkProfile {
	d.rig.mu.Lock()
	defer d.rig.mu.Unlock()
	return d.rig.paths[path.Name()]
}

// cable is a path over a cable of the desk.
func cable(port api.PortNumber) Path {
	link, err := api.NewLinkID(api.LinkEnd{Node: testNode, PortNumber: port}, api.LinkEnd{Node: otherNode, PortNumber: port})
	if err != nil {
		panic(err)
	}
	return Path{
		Transport: api.TransportSocket, Peer: otherNode, Interface: "en5", Source: netip.AddrFrom4([4]byte{169, 254, byte(port), 1}),
		Sink: netip.AddrFrom4([4]byte{169, 254, byte(port), 2}), Kind: api.LinkTB5, Link: link,
		Negotiated: &api.ThunderboltSpeed{TxBitsPerS: 80e9, RxBitsPerS: 80e9}, IsUnasked: true,
	}
}

// withTurn gives a measurement the node at once; desk.held ends it.
func withTurn(d *scenario, c *Config) {
	c.Turn = func(_, hold context.Context, _ api.MeasureID, _ []api.PortNumber, _ func(api.Reason, string)) (context.Context, func(), error) {
		held, cancel := context.WithCancelCause(hold)
		d.mu.Lock()
		d.held = cancel
		d.mu.Unlock()
		return held, func() { cancel(nil) }, nil
	}
}

func verdict(s subject) pacingVerdict { return judge(s.pace) }
