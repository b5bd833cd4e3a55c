package profile

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

const (
	// readyWithin is how long who asks for a test of a cable waits for the cable to be
	// seen ready: what a person has just enabled or plugged in is so after a moment.
	// readyAgain is how often it is looked at meanwhile.
	readyWithin = 3 * time.Second
	readyAgain  = 100 * time.Millisecond
)

// isCable reports whether a document is that of a cable over RDMA: it has the name of
// the cable.
func isCable(key api.Key) bool {
	return key.Kind == api.KindLinkProfile && strings.Contains(key.Name, "~")
}

// MeasureCable is rdma.probe: it tests a cable over RDMA, or joins the test that
// runs. It goes on when ctx ends.
func (p *Profiler) MeasureCable(ctx context.Context, by Caller, link api.LinkID) (*Watch, error) {
	key := api.Key{Node: link.Low.Node, Kind: api.KindLinkProfile, Name: link.String()}
	return p.measure(ctx, order{by: by.Principal, asked: true, keys: []api.Key{key}})
}

// measureRDMA tests and measures a cable over RDMA. Once it has begun it goes on to
// its end, also where a job waits for this node: it takes seconds, and workers that
// are killed may leave the device in disorder. What has failed is not tried again.
func (p *Profiler) measureRDMA(t *task) *api.Error {
	path, fault := p.readyCable(t)
	if fault != nil {
		return fault
	}
	recorded, isRecorded := Reading{}, false
	if p.cfg.Recorded != nil {
		if recorded, isRecorded = p.cfg.Recorded().Path(path); isRecorded && !p.isTest(t) {
			return p.inItsTurn(t, func(now conditions) *api.Error { return p.pathMeasured(path, recorded, now, nil) })
		}
	}
	near, _ := path.Link.End(p.cfg.Node)
	var reading Reading
	now, fault, over := p.inTurn(t, func(context.Context) *api.Error {
		var err error
		reading, err = p.cfg.ProbeRDMA(t.ctx, t.id, path, func(step string, done float64) { p.progress(t, step, done) })
		return api.AsError(err)
	}, near.PortNumber)
	if p.cfg.Recorded != nil {
		reading = recorded
	}
	switch {
	case over != nil:
		return over
	case fault == nil:
		return p.pathMeasured(path, reading, now, nil)
	}
	p.cfg.Log.Warn("a cable could not be measured over RDMA", "link", t.key.Name, "reason", string(fault.Data.Reason), "error", fault.Message)
	p.mu.Lock()
	delete(p.seen.changed, t.key.Name)
	p.mu.Unlock()
	p.failed(t.key, path, fault)
	p.judgeAll(p.cfg.Paths())
	return fault
}

// readyCable finds the cable that is to be tested, once it is ready.
func (p *Profiler) readyCable(t *task) (Path, *api.Error) {
	began := p.cfg.Clock.Boot()
	for {
		if path, ok := p.pathOf(t.key.Name); ok {
			return path, nil
		}
		if !t.isAsked.Load() || p.cfg.Clock.Boot()-began >= readyWithin {
			return Path{}, api.Errorf(api.ReasonRDMANotReady, t.key.Name, "RDMA is not ready on this cable.").
				WithRemedy("`fulmen rdma check` names what is missing.")
		}
		// The facts of both ends come by themselves, each at its time.
		if !native.Pause(t.ctx, p.cfg.Clock, readyAgain) {
			return Path{}, t.causeOf(t.ctx.Err())
		}
	}
}

// isTest reports whether a cable of a simulated Mac is really tested. What the
// scenario records of one that was never tested is shown without a test, as
// something that somebody has measured before.
func (p *Profiler) isTest(t *task) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.paths[t.key.Name]
	return t.isAsked.Load() || !known.MeasuredAt.IsZero() || known.Failure != nil
}

// paceOfRDMALocked is when a cable is tested unasked: once each time that it was
// plugged in anew or has another speed, if it was tested before. A result that is
// old stays so, and a failure.
func (p *Profiler) paceOfRDMALocked(key api.Key, known api.LinkProfile, isWatched bool) pacing {
	at := known.MeasuredAt
	if known.Failure != nil && known.Failure.At.After(at.Time) {
		at = known.Failure.At
	}
	switch {
	case at.IsZero() && p.cfg.Recorded != nil:
		return pacing{IsWanted: isWatched}
	case !at.IsZero() && p.seen.changed[key.Name]:
		return pacing{IsMeasured: true, IsChanged: true, Age: max(0, p.cfg.Clock.Now().Sub(at.Time))}
	}
	return pacing{}
}

// Prove tests a cable of this node over RDMA and says whether it works. The
// error is an *api.Error.
func (p *Profiler) Prove(ctx context.Context, link api.LinkID) error {
	watch, err := p.MeasureCable(ctx, Caller{}, link)
	if err != nil {
		return err
	}
	for {
		m, terminal, err := watch.Next(ctx)
		switch {
		case err != nil:
			_, _ = p.Cancel(context.WithoutCancel(ctx), Caller{Admin: true}, api.MeasureSelect{Measurement: watch.Measurement.ID}) // nobody waits for it any more
			return api.AsError(context.Cause(ctx))
		case !terminal:
		case m.Items[0].Error != nil:
			return m.Items[0].Error
		case m.Items[0].State != api.MeasureDone:
			return api.NewError(api.ReasonCancelled, link.String())
		default:
			return nil
		}
	}
}

// ProbesOf counts the tests of an end since its Mac started, as its node says.
func ProbesOf(l *ledger.Ledger, end api.LinkEnd) int {
	r, known := ledger.Read[api.RDMA](l, api.Key{Node: end.Node, Kind: api.KindRDMA, Name: end.PortNumber.String()})
	if !known {
		return 0
	}
	return r.ProbesSinceBoot
}

// ManyProbes is from how many tests of one device on nothing is tested unasked, and
// people are told. The driver is reported to have room for 11 until a restart, each
// run leaving one protection domain behind.
const ManyProbes = 8

// Probes counts the tests over RDMA since the system started.
type Probes struct {
	// BootID is that start's.
	BootID string `json:"boot_id"`
	// Runs are the tests that opened the device, by receptacle.
	Runs map[api.PortNumber]int `json:"runs"`
}

// ProbeCount counts tests over restarts of the daemon, and begins anew with the
// system.
type ProbeCount struct {
	node       api.NodeID
	conditions Conditions
	keep       func(Probes) error
	log        *slog.Logger

	mu  sync.Mutex
	run Probes
}

// CountProbes goes on from what was counted before.
func CountProbes(node api.NodeID, before Probes, keep func(Probes) error, conditions Conditions, log *slog.Logger) *ProbeCount {
	return &ProbeCount{node: node, conditions: conditions, keep: keep, log: log, run: before}
}

// Add counts one more, and tells of it.
func (c *ProbeCount) Add(bootID string, r api.PortNumber) {
	defer c.Notify(bootID)
	c.mu.Lock()
	defer c.mu.Unlock()
	next := Probes{BootID: bootID, Runs: map[api.PortNumber]int{}}
	if c.run.BootID == bootID {
		maps.Copy(next.Runs, c.run.Runs)
	}
	next.Runs[r]++
	c.run = next
	if err := c.keep(next); err != nil {
		c.log.Error("that a cable was tested could not be kept", "receptacle", r, "error", err)
	}
}

// Since counts the tests since the start that has an id.
func (c *ProbeCount) Since(bootID string, r api.PortNumber) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run.BootID != bootID {
		return 0
	}
	return c.run.Runs[r]
}

// Notify raises or clears what there is to say of each receptacle.
func (c *ProbeCount) Notify(bootID string) {
	for r := api.PortNumber(1); r <= api.MaxPortNumber; r++ {
		n := c.Since(bootID, r)
		c.conditions.Hold(api.ReasonRDMAProbesSpent, api.LinkEnd{Node: c.node, PortNumber: r}.String(), n >= ManyProbes, fmt.Sprintf("port %s: %d tests", r, n))
	}
}
