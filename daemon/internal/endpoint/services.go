package endpoint

import (
	"cmp"
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// service is an instance of a model.
type service struct {
	name, model string
	as          string // what its engine calls the model; empty = as clients do
	of          api.Principal
	since       api.Time
	rank        api.RankRef // rank 0 of the attempt
	node        api.NodeID  // where that is
	port        int
	state       state
}

type state int

const (
	coming   state = iota // it is not ready, and will be
	ready                 // requests go to it
	leaving               // its Mac goes away, and comes back
	replaced              // another takes its place
	stopping              // somebody ends it
)

// serviceOf is what a job serves; false where that is nothing, or nothing any more.
func (e *Endpoint) serviceOf(id api.JobID) (service, bool) {
	known, found := e.cfg.Job(id)
	job, spec := known.Job, known.Spec
	if !found || isOver(known) && !isReplaced(known) || spec.Labels[api.LabelEngine] == "" || len(spec.Publish) == 0 {
		return service{}, false
	}
	name, _, _ := strings.Cut(spec.Name, "/") // a replica has its number behind
	s := service{
		name: name, model: cmp.Or(spec.Model.Model, name), as: spec.Labels[api.LabelEngineModel], of: spec.Principal, since: spec.SubmittedAt,
		rank: api.RankRef{Job: id, Attempt: job.Attempt}, port: spec.Publish[0].Port,
	}
	a := job.OpenAttempt()
	switch {
	case isReplaced(known):
		s.state = replaced
	case job.StopRequested != nil:
		s.state = stopping
	case !job.ReadySince().IsZero() && a.Plan != nil && len(a.Plan.Ranks) > 0:
		if s.state, s.node = ready, a.Plan.Ranks[0].Node; !e.cfg.IsAwake(s.node) {
			s.state = leaving
		}
	}
	return s, true
}

func isOver(known gate.Known) bool { return known.Gone || known.Ended || known.Job.Phase.Ended() }

// isReplaced reports whether another job takes its place, also once it has ended.
func isReplaced(known gate.Known) bool { return !known.Gone && known.Job.StopRequested.IsReplaced() }

// services are those that a person may use. They are whose the jobs are by the map of
// this Mac: what asks for a model is read by whoever serves it.
func (e *Endpoint) services(by api.Principal) (all []service) {
	e.mu.Lock()
	jobs := slices.Sorted(maps.Keys(e.jobs))
	e.mu.Unlock()
	for _, id := range jobs {
		if s, serves := e.serviceOf(id); serves && e.cfg.May(by, s.of) {
			all = append(all, s)
		}
	}
	return all
}

// named are those of them that a model's name means: the person's own before all others.
func (e *Endpoint) named(by api.Principal, model string) []service {
	all := slices.DeleteFunc(e.services(by), func(s service) bool { return model != s.model && model != s.name })
	if slices.ContainsFunc(all, func(s service) bool { return s.of == by }) {
		return slices.DeleteFunc(all, func(s service) bool { return s.of != by })
	}
	return all
}

// Run follows the jobs until ctx ends.
func (e *Endpoint) Run(ctx context.Context, l *ledger.Ledger) error {
	return l.FollowEach(ctx, ledger.WatchOptions{Name: "endpoint", Filter: ledger.Filter{Kinds: []api.Kind{api.KindJob, api.KindNodeState}}, Passive: true}, func(c ledger.Change) {
		var ids []api.JobID
		for _, record := range c.Put {
			if key := record.Key(); key.Kind == api.KindJob {
				ids = append(ids, api.JobID(key.Name))
			}
		}
		for _, key := range c.Del {
			if key.Kind == api.KindJob {
				ids = append(ids, api.JobID(key.Name))
			}
		}
		e.see(ids...)
	})
}

// see takes in that something is new of jobs. Which document of a job counts is another's
// to say, who may read it a moment later. What is over already when it is seen first, as all
// that was before this start, is nothing to wait for.
func (e *Endpoint) see(ids ...api.JobID) {
	ids = slices.DeleteFunc(ids, func(id api.JobID) bool {
		known, found := e.cfg.Job(id)
		return found && isOver(known)
	})
	e.mu.Lock()
	e.hasBegun = true
	for _, id := range ids {
		if _, isKnown := e.jobs[id]; !isKnown {
			e.jobs[id] = 0
		}
	}
	e.mu.Unlock()
	e.look()
	e.cfg.Clock.AfterFunc(lookEvery, e.look)
}

// look wakes who waits, forgets jobs that have ended, and retires what leads to attempts
// that are not there any more.
func (e *Endpoint) look() {
	e.mu.Lock()
	e.wakeLocked()
	jobs, keys := slices.Collect(maps.Keys(e.jobs)), slices.Collect(maps.Keys(e.backends))
	e.mu.Unlock()
	for _, id := range jobs {
		if known, found := e.cfg.Job(id); found && isOver(known) {
			e.mu.Lock()
			e.forgetLocked(id, isReplaced(known))
			e.mu.Unlock()
		}
	}
	for _, key := range keys {
		s, serves := e.serviceOf(key.rank.Job)
		if serves && s.state < leaving && s.rank == key.rank {
			continue
		}
		e.mu.Lock()
		if b := e.backends[key]; b != nil {
			delete(e.backends, key)
			e.retireLocked(b)
		}
		e.mu.Unlock()
	}
}

// forgetLocked forgets a job that has ended: one that is replaced after the time that the
// next may take to be known here.
func (e *Endpoint) forgetLocked(id api.JobID, isReplaced bool) {
	now := e.cfg.Clock.Boot()
	switch until := e.jobs[id]; {
	case isReplaced && until == 0:
		e.jobs[id] = now + successorWithin
		e.cfg.Clock.AfterFunc(successorWithin, e.look)
	case !isReplaced || now >= until:
		delete(e.jobs, id)
	}
}

func (e *Endpoint) wakeLocked() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// backendKey is an attempt of a service, and for whom it is used.
type backendKey struct {
	rank api.RankRef
	by   api.Principal
}

// backend is the way to a service.
type backend struct {
	transport *http.Transport
	open      int             // requests
	ctx       context.Context // ends with those that its service's end cuts
	end       context.CancelCauseFunc
	drain     native.Timer
}

// beginLocked takes one of a service's places, which done gives back.
func (e *Endpoint) beginLocked(s service, by api.Principal) (b *backend, done func()) {
	key := backendKey{s.rank, by}
	if b = e.backends[key]; b == nil {
		b = &backend{transport: e.transport(s, by)}
		b.ctx, b.end = context.WithCancelCause(context.Background())
		e.backends[key] = b
	}
	b.open++
	return b, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if b.open--; b.drain != nil {
			e.retireLocked(b)
		}
	}
}

// retireLocked has a way end that no request takes any more: at once where none has it, else when
// they have ended, or their time is over.
func (e *Endpoint) retireLocked(b *backend) {
	b.transport.CloseIdleConnections()
	if b.drain == nil {
		b.drain = e.cfg.Clock.AfterFunc(api.DrainRequests, func() { b.end(errStopped) })
		e.retired[b] = true
	}
	if b.open == 0 {
		b.drain.Stop()
		b.end(nil)
		delete(e.retired, b)
	}
}

// transport makes the connections to a service.
func (e *Endpoint) transport(s service, by api.Principal) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := e.cfg.Dial(ctx, by, s.rank, s.node, s.port)
			if err != nil {
				return nil, &unreached{err}
			}
			return conn, nil
		},
		DisableCompression: true, // what the client can read is the client's to say
		IdleConnTimeout:    restWithin, MaxIdleConnsPerHost: maxConns, MaxResponseHeaderBytes: maxHead,
	}
}

// choose takes a place at the least busy of the services that a name means, and waits for
// one that is ready. Those of tried could not be reached a moment ago.
func (e *Endpoint) choose(ctx context.Context, by api.Principal, model string, until time.Duration, tried map[api.RankRef]bool) (s service, b *backend, done func(), err error) {
	isWaiting := false
	defer func() {
		if isWaiting {
			e.mu.Lock()
			e.waiting--
			e.mu.Unlock()
		}
	}()
	for {
		e.mu.Lock()
		changed, closing, hasBegun := e.changed, e.closing, e.hasBegun
		e.mu.Unlock()
		all := e.named(by, model)
		e.mu.Lock()
		best := -1
		for i, one := range all {
			if one.state == ready && !tried[one.rank] && (best < 0 || e.openLocked(one.rank) < e.openLocked(all[best].rank)) {
				best = i
			}
		}
		if best >= 0 && !closing {
			b, done = e.beginLocked(all[best], by)
			e.mu.Unlock()
			return all[best], b, done, nil
		}
		isFull := !isWaiting && e.waiting >= maxWaiting
		if !isWaiting && !isFull {
			e.waiting++
			isWaiting = true
		}
		e.mu.Unlock()
		rest := until - e.cfg.Clock.Boot()
		switch {
		case closing:
			return s, nil, nil, errStopping
		case len(all) == 0 && hasBegun:
			return s, nil, nil, noModel(model)
		case hasBegun && !slices.ContainsFunc(all, func(s service) bool { return s.state != stopping }):
			return s, nil, nil, errStopped
		case rest <= 0 || isFull:
			return s, nil, nil, newProblem(http.StatusServiceUnavailable, "service_not_ready", "The service of "+clip(model)+" is not ready. Try again in a moment; `fulmen serve` says why.")
		}
		native.Wait(ctx, e.cfg.Clock, min(rest, lookEvery), changed)
		clear(tried)
		if ctx.Err() != nil {
			return s, nil, nil, context.Cause(ctx)
		}
	}
}

// openLocked is how many requests an attempt has from here.
func (e *Endpoint) openLocked(rank api.RankRef) (n int) {
	for key, b := range e.backends {
		if key.rank == rank {
			n += b.open
		}
	}
	return n
}
