package daemon

import (
	"context"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native"
)

// continueWithin is how long a request to enable RDMA is remembered on a cable that
// waits only for a person at a Mac: a trip to each of several Macs fits, the Mac
// among them on which it was asked for.
const continueWithin = time.Hour

// continued are the cables on which somebody asked for RDMA while only a trip to a
// Mac was missing. It is enabled there once that was made, as who asked.
type continued struct {
	clock native.Clock
	// wake has a token whenever cables may have become ready.
	wake chan struct{}
	// keep takes what is remembered whenever that changes; it is called under mu, and
	// nil where nothing outlives the daemon.
	keep func(map[api.LinkID]wanting)

	mu     sync.Mutex
	wanted map[api.LinkID]wanting
}

// wanting is who asked, and until when it counts, on a clock that counts sleep.
type wanting struct {
	by    api.Principal
	until time.Duration
}

func newContinued(clock native.Clock) *continued {
	return &continued{clock: clock, wake: make(chan struct{}, 1), wanted: map[api.LinkID]wanting{}}
}

// nudge has the cables looked at.
func (w *continued) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// want remembers a cable that only waits for a trip; false for another one.
func (w *continued) want(report readiness.Report, by api.Principal) bool {
	if !report.Link.Valid() || !readiness.WaitsForTrip(report) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted[report.Link] = wanting{by, w.clock.Boot() + continueWithin}
	w.changed(true)
	return true
}

// changed keeps what is remembered, where it is not as it was; the caller holds mu.
func (w *continued) changed(is bool) {
	if is && w.keep != nil {
		w.keep(w.wanted)
	}
}

// forget drops the cables that fit, and reports whether there were any.
func (w *continued) forget(fits func(api.LinkID) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	some := false
	for link := range w.wanted {
		if fits(link) {
			delete(w.wanted, link)
			some = true
		}
	}
	w.changed(some)
	return some
}

// waits reports whether a cable is still remembered.
func (w *continued) waits(link api.LinkID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, is := w.wanted[link]
	return is && w.clock.Boot() < one.until
}

// due takes out the cables that can be enabled now, with who asked. Those that are
// ready already, that wait for more than a trip now, or for too long, are dropped.
func (w *continued) due(reports []readiness.Report) map[api.LinkID]api.Principal {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[api.LinkID]api.Principal{}
	now, before := w.clock.Boot(), len(w.wanted)
	for _, r := range reports {
		one, is := w.wanted[r.Link]
		switch {
		case !is:
		case now >= one.until, r.Verdict == api.RDMAReady, r.Verdict == api.RDMACannot:
			delete(w.wanted, r.Link)
		case r.Verdict == api.RDMACanEnable:
			delete(w.wanted, r.Link)
			out[r.Link] = one.by
		}
	}
	w.changed(len(w.wanted) != before)
	return out
}

// runContinued enables RDMA where a trip was made, until ctx ends. What fails is
// said by the change itself, and not tried again.
func (d *daemon) runContinued(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.continued.wake:
		}
		graph, _ := d.graph.Latest()
		for link, by := range d.continued.due(graph.Readiness()) {
			log := d.logs.part("rdma").With("link", link.String(), "by", by.String())
			log.Info("the trip was made; RDMA is enabled as was asked")
			if _, err := d.changes.Enable(ctx, by, link, false, nil); err != nil {
				log.Warn("RDMA could not be enabled after the trip", "error", err)
			}
		}
	}
}

// goesOn adds to a refusal that Fulmen goes on by itself.
func goesOn(fault *api.Error) {
	fault.Message = strings.TrimSuffix(fault.Message, ".") + ". Fulmen enables RDMA on the cable by itself when that is done within the next hour."
}
