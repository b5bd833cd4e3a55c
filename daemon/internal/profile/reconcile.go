package profile

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile/history"
)

const (
	// lookAgain is how soon it is looked again whether what speaks against measuring
	// is over, while somebody watches: heat, batteries and budgets of peers are not
	// announced. lookSeldom is the same while nobody does.
	lookAgain  = 15 * time.Second
	lookSeldom = 5 * time.Minute
)

// subject is something that may be due.
type subject struct {
	key  api.Key
	pace pacing
}

// Run measures what is due, one after the other, until ctx ends.
func (p *Profiler) Run(ctx context.Context) error {
	defer p.stopUnasked()
	for ctx.Err() == nil {
		in := p.pass(ctx)
		timer := p.cfg.Clock.AfterFunc(max(in, time.Millisecond), p.Recheck)
		if in <= 0 {
			timer.Stop() // nothing becomes due by the passing of time
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return ctx.Err()
}

// pass looks at everything once: it begins what is due, and gives after how long
// to look again; 0 where only an event makes something due.
func (p *Profiler) pass(ctx context.Context) (again time.Duration) {
	paths := p.cfg.Paths()
	subjects := p.subjects(paths)
	p.prune(paths)
	p.judgeAll(paths)
	var due []subject
	full := map[api.Key]bool{}
	for _, s := range subjects {
		v := judge(s.pace)
		switch {
		case v.IsDue:
			due = append(due, s)
			full[s.key] = v.IsFull
		case v.In > 0 && (again == 0 || v.In < again):
			again = v.In
		}
	}
	isDue := func(key api.Key) bool {
		return slices.ContainsFunc(due, func(s subject) bool { return s.key == key })
	}
	isRunning := p.dropUnwanted(isDue)
	for _, key := range p.waiting() {
		if !isDue(key) {
			p.tellWaiting(key, nil)
		}
	}
	if len(due) == 0 || isRunning {
		return again // its end wakes
	}
	pause := lookSeldom
	if slices.ContainsFunc(due, func(s subject) bool { return s.pace.IsWanted }) {
		pause = lookAgain
	}
	if again == 0 || pause < again {
		again = pause
	}
	if why := p.cfg.Obstacle(ctx); why != nil {
		for _, s := range due {
			p.tellWaiting(s.key, &api.MeasureWait{Reason: why.Data.Reason, Message: why.Message})
		}
		return again
	}
	if next, ok := p.choose(due); ok {
		p.mu.Lock()
		if !p.closed {
			p.begin(order{id: api.NewMeasureID(), full: full[next], keys: []api.Key{next}})
		}
		p.mu.Unlock()
	}
	return again
}

// subjects is what this node may measure by itself, as it is now.
func (p *Profiler) subjects(paths []Path) []subject {
	gpuTTL, socketTTL := p.cfg.TTL()
	build, mlx := p.cfg.System()
	wantsGPU, wantsPaths := p.cfg.Wanted(api.KindGPUProfile), p.cfg.Wanted(api.KindLinkProfile)
	hasGPU := true
	if p.cfg.Scenario != nil {
		_, _, hasGPU = p.cfg.Scenario.GPU()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.look(paths)
	key := p.gpuKey()
	gpu := p.paceOf(key, p.last.MeasuredAt, p.last.Failure)
	gpu.IsWanted, gpu.TTL = wantsGPU, gpuTTL
	if p.madeWith == (madeWith{}) { // by a daemon before this one
		p.madeWith = madeWith{p.last.Conditions.OSBuild, p.last.Conditions.MLXVersion}
	}
	gpu.IsChanged = isOther(p.madeWith.osBuild, build) || isOther(p.madeWith.mlx, mlx)
	var all []subject
	if hasGPU {
		all = append(all, subject{key, gpu})
	}
	for _, path := range paths {
		if !path.IsUnasked {
			continue
		}
		key, known := p.pathKey(path.Name()), p.paths[path.Name()]
		if path.Transport == api.TransportRDMA {
			all = append(all, subject{key, p.paceOfRDMA(key, known, wantsPaths)})
			continue
		}
		s := p.paceOf(key, known.MeasuredAt, known.Failure)
		s.IsWanted, s.TTL = wantsPaths, socketTTL
		s.IsChanged = isAnother(path, known) || p.seen.changed[path.Name()]
		s.IsLow = history.IsLow(known) && !p.long[path.Name()] // a long one has settled whether it was chance
		all = append(all, subject{key, s})
	}
	return all
}

// madeWith is the system and the MLX that a result of the GPU stands for, as this
// node tells of itself.
type madeWith struct{ osBuild, mlx string }

func isOther(then, now string) bool { return then != "" && now != "" && then != now }

// paceOf is what a document says of a subject's past; the caller holds mu.
func (p *Profiler) paceOf(key api.Key, measuredAt api.Time, failure *api.MeasureFailure) pacing {
	s := pacing{IsMeasured: !measuredAt.IsZero()}
	if s.IsMeasured {
		s.Age = p.ago(key, measuredAt)
	}
	if failure != nil {
		key.Name = failedPrefix + key.Name
		s.Failures, s.FailedAgo = failure.Retries, p.ago(key, failure.At)
	}
	return s
}

// choose takes the next of what is due: what was never measured, then what was
// measured longest ago. What waits lets the others go first for a while.
func (p *Profiler) choose(due []subject) (api.Key, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Clock.Boot()
	due = slices.DeleteFunc(slices.Clone(due), func(s subject) bool { return p.tasks[s.key] != nil || p.held[s.key] > now })
	if len(due) == 0 {
		return api.Key{}, false
	}
	next := slices.MinFunc(due, func(a, b subject) int {
		if a.pace.IsMeasured != b.pace.IsMeasured {
			if b.pace.IsMeasured {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.pace.Age, a.pace.Age), a.key.Compare(b.key))
	})
	return next.key, true
}

// dropUnwanted cancels what was begun unasked and is not due any more, and reports
// whether something unasked still runs.
func (p *Profiler) dropUnwanted(isDue func(api.Key) bool) (isRunning bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.all {
		if r.asked || r.over() {
			continue
		}
		isRunning = true
		if !isDue(r.state.Items[0].Document) && r.why == nil {
			p.abandon(r, api.NewError(api.ReasonCancelled, ""))
		}
	}
	return isRunning
}

// stopUnasked ends what was begun unasked.
func (p *Profiler) stopUnasked() { p.dropUnwanted(func(api.Key) bool { return false }) }
