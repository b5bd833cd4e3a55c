package useractions

import (
	"context"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native"
	"fulmen/native/waker"
)

// keptFor is how long the user actions of a daemon that ended are taken up by the next one.
const keptFor = 24 * time.Hour

// UserActions follows the user actions that people do at Macs whose switch is off: what no
// document holds, that a Mac went away and came back.
type UserActions struct {
	clock native.Clock
	save  func([]Kept) // whenever one has changed, under mu

	mu   sync.Mutex
	seen readiness.ActionsProgress
	// before are those that the daemon before this one followed, of Macs that have not
	// told of themselves since: their documents come after the first graphs.
	before readiness.ActionsProgress
}

// New goes on with the user actions that the daemon before this one has followed, and saves
// them whenever one has changed.
func New(clock native.Clock, before []Kept, save func([]Kept)) *UserActions {
	return &UserActions{clock: clock, save: save, before: userActionsOf(before, clock.Now(), clock.Boot())}
}

// See takes the cables as they are now, and gives what is known of the user actions.
func (t *UserActions) See(cables []readiness.Cable) readiness.ActionsProgress {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := readiness.ActionsProgress{}
	maps.Copy(last, t.seen)
	for node, action := range t.before {
		if hasReported(cables, node) {
			last[node] = action
			delete(t.before, node)
		}
	}
	was := t.seen
	t.seen = last.Next(cables, t.clock.Boot())
	if !reflect.DeepEqual(was, t.seen) {
		all := maps.Clone(t.seen)
		maps.Copy(all, t.before)
		t.save(userActionsKept(all, t.clock.Now(), t.clock.Boot()))
	}
	return t.seen
}

// hasReported reports whether a Mac has said all of itself that user actions are about.
func hasReported(cables []readiness.Cable, node api.NodeID) bool {
	reported := func(e *readiness.End) bool {
		return e != nil && e.End.Node == node && e.Identity != nil && e.RDMA != nil && e.RDMA.SwitchedOn != nil
	}
	return slices.ContainsFunc(cables, func(c readiness.Cable) bool { return reported(c.Low) || reported(c.High) })
}

// Kept is a user action as it outlives the daemon. Times are those of the wall clock:
// the Mac may be started anew in between.
type Kept struct {
	Node api.NodeID `json:"node"`
	readiness.ActionProgress
	// MadeAt is when it was made; absent where it was not.
	MadeAt api.Time `json:"done_at,omitzero"`
	// SeenAt is when this was written.
	SeenAt api.Time `json:"seen_at"`
}

// userActionsKept is the form of user actions in which they outlive the daemon.
func userActionsKept(all readiness.ActionsProgress, now time.Time, boot time.Duration) []Kept {
	out := []Kept{}
	for _, node := range slices.Sorted(maps.Keys(all)) {
		t := all[node]
		one := Kept{Node: node, ActionProgress: t, SeenAt: api.TimeOf(now)}
		if t.Done {
			one.MadeAt = api.TimeOf(now.Add(t.DoneAt - boot))
		}
		out = append(out, one)
	}
	return out
}

// userActionsOf are the user actions that were kept, without those of too long ago.
func userActionsOf(kept []Kept, now time.Time, boot time.Duration) readiness.ActionsProgress {
	out := readiness.ActionsProgress{}
	for _, k := range kept {
		if now.Sub(k.SeenAt.Time).Abs() > keptFor {
			continue
		}
		t := k.ActionProgress
		if !k.MadeAt.IsZero() {
			t.Done, t.DoneAt = true, boot-max(0, now.Sub(k.MadeAt.Time))
		}
		out[k.Node] = t
	}
	return out
}

// continueWithin is how long a request to enable RDMA is remembered on a cable that
// waits only for a person at a Mac: a user action at each of several Macs fits, the Mac
// among them on which it was asked for.
const continueWithin = time.Hour

// Requests are the cables on which somebody asked for RDMA while only a user action to a
// Mac was missing. It is enabled there once that was made, as who asked.
type Requests struct {
	clock native.Clock
	wake  waker.Waker         // whenever cables may have become ready
	save  func([]KeptRequest) // whenever one has changed, under mu

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
	return &Requests{clock: clock, wake: waker.New(), save: save, wanted: requestsOf(before, clock.Now(), clock.Boot())}
}

// Look has the cables looked at.
func (w *Requests) Look() { w.wake.Wake() }

// Add remembers a cable that only waits for a user action; false for another one.
func (w *Requests) Add(report readiness.Report, by api.Principal) bool {
	if !report.Link.Valid() || !readiness.WaitsForUserAction(report) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted[report.Link] = request{by, w.clock.Boot() + continueWithin}
	w.changedLocked(true)
	return true
}

// changedLocked saves what is remembered, where it is not as it was.
func (w *Requests) changedLocked(is bool) {
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
	w.changedLocked(some)
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
// ready already, that wait for more than a user action now, or for too long, are dropped.
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
	w.changedLocked(len(w.wanted) != before)
	return out
}

// Run enables RDMA where a user action was made, until ctx ends. What fails is said by the
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

// KeptRequest is a request for RDMA that waits for user actions, as it outlives the daemon.
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
