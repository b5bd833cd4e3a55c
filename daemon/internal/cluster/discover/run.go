package discover

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"fulmen/native"
)

// retryAfter is when the platform is asked again after it refused.
const retryAfter = 30 * time.Second

// mostOwn is how many of its own instances a finder knows: the good-bye of one
// may be lost, and its announcement be repeated by others.
const mostOwn = 16

// acts is what the goroutine has asked of the platform.
type acts struct {
	reported native.Announcement
	withdraw func() error
	stops    map[search]func() error
	retryAt  time.Duration
	// late is the last refusal of a search that had begun. It counts until a search that
	// began after it, at retryAt, has been let be for lateFor.
	late error
}

// lateFor is how long after its beginning a search may still be refused.
const lateFor = 10 * time.Second

// run follows the plan until the finder is closed.
func (f *Finder) run() {
	a := acts{stops: map[search]func() error{}}
	defer f.follow(&a, plan{})
	clock := f.options.Clock
	for {
		f.mu.Lock()
		boot, now := clock.Boot(), clock.Now()
		plan := f.state.plan(now)
		change := f.state.takeChange(boot)
		due, next := f.state.toResolve(boot)
		next = min(next, f.state.nextIsolation(boot))
		remembered, isDirty := f.state.remembered, f.state.isDirty
		f.state.isDirty = false
		f.mu.Unlock()

		for _, p := range due {
			f.resolve(p)
		}
		if isDirty {
			if err := f.options.Store.SaveDiscovery(remembered); err != nil {
				f.options.Log.Warn("a network where a member was met is not remembered", "error", err)
			}
		}
		err := f.follow(&a, plan)
		f.note(err)
		if len(change.Nodes) > 0 || change.NonMembers || change.Peers || change.Isolation {
			f.options.Changed(change)
		}

		wait := min(untilMidnight(now), next-boot)
		if err != nil {
			wait = min(wait, retryAfter)
		}
		if !native.Wait(f.ctx, clock, wait, f.more) {
			return
		}
	}
}

// note keeps the problem, and logs it when it is another one.
func (f *Finder) note(err error) {
	f.mu.Lock()
	before := f.problem
	f.problem = err
	f.mu.Unlock()
	if err != nil && (before == nil || before.Error() != err.Error()) {
		f.options.Log.Warn("discovery does not work", "error", err)
	}
	if now := deniedBy(err); now != deniedBy(before) {
		f.options.Denied(now)
	}
}

// follow asks the platform for what is different, and returns the first refusal.
// It is not asked again for what it has refused before retryAfter.
func (f *Finder) follow(a *acts, p plan) (refusal error) {
	boot := f.options.Clock.Boot()
	f.takeRefused(a, boot)
	if boot < a.retryAt && f.ctx.Err() == nil {
		refusal = f.Problem()
		if a.late != nil {
			refusal = a.late
		}
	}
	for at, stop := range a.stops {
		if !slices.Contains(p.browse, at) {
			f.end(stop)
			delete(a.stops, at)
		}
	}
	for _, at := range p.browse {
		if a.stops[at] != nil || refusal != nil {
			continue
		}
		f.mu.Lock()
		f.state.disperse(at.iface) // the new search tells all again
		f.mu.Unlock()
		ctx, cancel := context.WithTimeout(f.ctx, within)
		stop, err := f.options.Discovery.Browse(ctx, ServiceType, []string{at.iface}, func(s native.Sighting) { f.found(at, s) })
		cancel()
		if refusal = err; err == nil {
			a.stops[at] = stop
		}
	}
	if refusal == nil || len(p.announcement.Interfaces) == 0 {
		if err := f.announce(a, p.announcement); refusal == nil {
			refusal = err
		}
	}
	if refusal != nil && boot >= a.retryAt {
		a.retryAt = boot + retryAfter
	}
	if boot >= a.retryAt+lateFor {
		a.late = nil
	}
	if refusal == nil {
		refusal = a.late
	}
	return refusal
}

// takeRefused ends the searches that the system has refused after they had begun.
func (f *Finder) takeRefused(a *acts, boot time.Duration) {
	f.mu.Lock()
	refused := f.refused
	f.refused = map[search]native.Reason{}
	f.mu.Unlock()
	for at, why := range refused {
		if stop := a.stops[at]; stop != nil {
			f.end(stop)
			delete(a.stops, at)
			a.late, a.retryAt = &refusedError{why}, boot+retryAfter
		}
	}
}

// refusedError is a search that the system has ended.
type refusedError struct{ why native.Reason }

// Error is the system's reason.
func (e *refusedError) Error() string { return "a search was refused: " + string(e.why) }

// deniedBy is what the system says where it does not let this node search, else "".
func deniedBy(err error) string {
	var refused *refusedError
	if errors.As(err, &refused) && refused.why.Key() == native.ReasonPermission.Key() {
		return refused.why.Detail()
	}
	return ""
}

// announce says the new before it takes back the old, so that nobody misses this
// node in between. Each has a name of its own, by which one cannot be told to
// follow the other.
func (f *Finder) announce(a *acts, want native.Announcement) error {
	if len(want.Interfaces) == 0 {
		want = native.Announcement{}
	}
	if reflect.DeepEqual(a.reported, want) {
		return nil
	}
	old := a.withdraw
	a.reported, a.withdraw = native.Announcement{}, nil
	if len(want.Interfaces) > 0 {
		named := want
		named.Instance = randomID(12)
		f.mu.Lock()
		f.state.own = append(f.state.own, named.Instance)
		f.state.own = slices.Clone(f.state.own[max(0, len(f.state.own)-mostOwn):])
		f.mu.Unlock()
		ctx, cancel := context.WithTimeout(f.ctx, within)
		defer cancel()
		withdraw, err := f.options.Discovery.Announce(ctx, named)
		if err != nil {
			f.end(old)
			return err
		}
		a.reported, a.withdraw = want, withdraw
	}
	f.end(old)
	return nil
}

func (f *Finder) end(stop func() error) {
	if stop == nil {
		return
	}
	if err := stop(); err != nil {
		f.options.Log.Debug("discovery did not end as it should", "error", err)
	}
}
