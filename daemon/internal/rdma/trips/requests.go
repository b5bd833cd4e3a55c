package trips

import (
	"context"
	"log/slog"
	"maps"
	"slices"
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

// Requests are the cables on which somebody asked for RDMA while only a trip to a
// Mac was missing. It is enabled there once that was made, as who asked.
type Requests struct {
	clock native.Clock
	// wake has a token whenever cables may have become ready.
	wake chan struct{}
	save func([]KeptRequest) // whenever one has changed, under mu

	mu     sync.Mutex
	wanted map[api.LinkID]request
}

// request is who asked, and until when it counts, on a clock that counts sleep.
type request struct {
	by    api.Principal
	until time.Duration
}

// NewRequests goes on with the requests that the daemon before this one has taken, and
// saves them whenever one has changed.
func NewRequests(clock native.Clock, before []KeptRequest, save func([]KeptRequest)) *Requests {
	return &Requests{clock: clock, wake: make(chan struct{}, 1), save: save, wanted: requestsOf(before, clock.Now(), clock.Boot())}
}

// Look has the cables looked at.
func (w *Requests) Look() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Add remembers a cable that only waits for a trip; false for another one.
func (w *Requests) Add(report readiness.Report, by api.Principal) bool {
	if !report.Link.Valid() || !readiness.WaitsForTrip(report) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted[report.Link] = request{by, w.clock.Boot() + continueWithin}
	w.changed(true)
	return true
}

// changed saves what is remembered, where it is not as it was; the caller holds mu.
func (w *Requests) changed(is bool) {
	if is {
		w.save(requestsKept(w.wanted, w.clock.Now(), w.clock.Boot()))
	}
}

// Forget drops the cables that fit, and reports whether there were any.
func (w *Requests) Forget(fits func(api.LinkID) bool) bool {
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

// Waits reports whether a cable is still remembered.
func (w *Requests) Waits(link api.LinkID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, is := w.wanted[link]
	return is && w.clock.Boot() < one.until
}

// due takes out the cables that can be enabled now, with who asked. Those that are
// ready already, that wait for more than a trip now, or for too long, are dropped.
func (w *Requests) due(reports []readiness.Report) map[api.LinkID]api.Principal {
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

// Run enables RDMA where a trip was made, until ctx ends. What fails is said by the
// change itself, and not tried again.
func (w *Requests) Run(ctx context.Context, reports func() []readiness.Report, enable func(context.Context, api.Principal, api.LinkID) error, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		for link, by := range w.due(reports()) {
			log := log.With("link", link.String(), "by", by.String())
			log.Info("the trip was made; RDMA is enabled as was asked")
			if err := enable(ctx, by, link); err != nil {
				log.Warn("RDMA could not be enabled after the trip", "error", err)
			}
		}
	}
}

// GoesOn adds to a refusal that Fulmen goes on by itself.
func GoesOn(fault *api.Error) {
	fault.Message = strings.TrimSuffix(fault.Message, ".") + ". Fulmen enables RDMA on the cable by itself when that is done within the next hour."
}

// KeptRequest is a request for RDMA that waits for trips, as it outlives the daemon.
type KeptRequest struct {
	Link  api.LinkID    `json:"link"`
	By    api.Principal `json:"by"`
	Until api.Time      `json:"until"`
}

// requestsKept is the form of requests in which they outlive the daemon.
func requestsKept(all map[api.LinkID]request, now time.Time, boot time.Duration) []KeptRequest {
	out := []KeptRequest{}
	for _, link := range slices.SortedFunc(maps.Keys(all), api.LinkID.Compare) {
		out = append(out, KeptRequest{Link: link, By: all[link].by, Until: api.TimeOf(now.Add(all[link].until - boot))})
	}
	return out
}

// requestsOf are the requests that were kept and still count. None counts for longer
// than it may, whatever became of the wall clock.
func requestsOf(kept []KeptRequest, now time.Time, boot time.Duration) map[api.LinkID]request {
	out := map[api.LinkID]request{}
	for _, k := range kept {
		if left := k.Until.Sub(now); left > 0 {
			out[k.Link] = request{k.By, boot + min(left, continueWithin)}
		}
	}
	return out
}
