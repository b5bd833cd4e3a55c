package profile

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/history"
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
	key    api.Key
	pace   pacing
	isFull bool // where it is due: that it takes the long measurement
}

// Run measures what is due, one after the other, until ctx ends.
func (p *Profiler) Run(ctx context.Context) error {
	defer p.dropUnwanted(func(api.Key) bool { return false })
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
	for _, s := range subjects {
		v := judge(s.pace)
		switch {
		case v.IsDue:
			s.isFull = v.IsFull
			due = append(due, s)
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
			p.notifyWaiting(key, nil)
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
			p.notifyWaiting(s.key, &api.MeasureWait{Reason: why.Data.Reason, Message: why.Message})
		}
		return again
	}
	if next, ok := p.choose(due); ok {
		p.mu.Lock()
		if !p.closed {
			p.beginLocked(order{id: api.NewMeasureID(), full: next.isFull, keys: []api.Key{next.key}})
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
	if p.cfg.Recorded != nil {
		_, _, hasGPU = p.cfg.Recorded().GPU()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.lookLocked(paths)
	key := p.gpuKey()
	gpu := p.paceOfLocked(key, p.last.MeasuredAt, p.last.Failure)
	gpu.IsWanted, gpu.TTL = wantsGPU, gpuTTL
	if p.madeWith == (madeWith{}) { // by a daemon before this one
		p.madeWith = madeWith{p.last.Conditions.OSBuild, p.last.Conditions.MLXVersion}
	}
	gpu.IsChanged = isOther(p.madeWith.osBuild, build) || isOther(p.madeWith.mlx, mlx)
	var all []subject
	if hasGPU {
		all = append(all, subject{key: key, pace: gpu})
	}
	for _, path := range paths {
		if !path.IsUnasked {
			continue
		}
		key, known := p.pathKey(path.Name()), p.paths[path.Name()]
		if path.Transport == api.TransportRDMA {
			all = append(all, subject{key: key, pace: p.paceOfRDMALocked(key, known, wantsPaths)})
			continue
		}
		s := p.paceOfLocked(key, known.MeasuredAt, known.Failure)
		s.IsWanted, s.TTL = wantsPaths, socketTTL
		s.IsChanged = isAnother(path, known) || p.seen.changed[path.Name()]
		s.IsLow = history.IsLow(known) && !p.long[path.Name()] // a long one has settled whether it was chance
		all = append(all, subject{key: key, pace: s})
	}
	return all
}

// madeWith is the system and the MLX that a result of the GPU stands for, as this
// node tells of itself.
type madeWith struct{ osBuild, mlx string }

func isOther(then, now string) bool { return then != "" && now != "" && then != now }

// paceOfLocked is what a document says of a subject's past.
func (p *Profiler) paceOfLocked(key api.Key, measuredAt api.Time, failure *api.MeasureFailure) pacing {
	s := pacing{IsMeasured: !measuredAt.IsZero()}
	if s.IsMeasured {
		s.Age = p.agoLocked(key, measuredAt)
	}
	if failure != nil {
		key.Name = failedPrefix + key.Name
		s.Failures, s.FailedAgo = failure.Retries, p.agoLocked(key, failure.At)
	}
	return s
}

// choose takes the next of what is due: what was never measured, then what was
// measured longest ago. What waits lets the others go first for a while.
func (p *Profiler) choose(due []subject) (next subject, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Clock.Boot()
	due = slices.DeleteFunc(slices.Clone(due), func(s subject) bool { return p.tasks[s.key] != nil || p.held[s.key] > now })
	if len(due) == 0 {
		return subject{}, false
	}
	next = slices.MinFunc(due, func(a, b subject) int {
		if a.pace.IsMeasured != b.pace.IsMeasured {
			if b.pace.IsMeasured {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.pace.Age, a.pace.Age), a.key.Compare(b.key))
	})
	return next, true
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
			p.abandonLocked(r, api.NewError(api.ReasonCancelled, ""))
		}
	}
	return isRunning
}

// pacing is a GPU or a path, as far as it matters here.
type pacing struct {
	// IsWanted says that somebody watches it, or that a job is to be placed.
	IsWanted bool
	// IsMeasured says that there is a result; Age is how old it is, negative where
	// it is dated in the future.
	IsMeasured bool
	Age        time.Duration
	// IsChanged says that the result is of something that has become another: the
	// cable, the address, the system or MLX.
	IsChanged bool
	// IsLow says that the last result was clearly below what is usual.
	IsLow bool
	// TTL is from which age on a result is old.
	TTL time.Duration
	// Failures counts the failures in a row since, FailedAgo is how long ago the
	// last one was.
	Failures  int
	FailedAgo time.Duration
}

// pacingVerdict is what to do.
type pacingVerdict struct {
	// IsDue says that it is to be measured now.
	IsDue bool
	// In is after how long it may be due without anything else happening; 0 where
	// only something else makes it due.
	In time.Duration
	// IsFull says that it takes the long measurement: at first sight, after a
	// change, and to see whether a low result was chance.
	IsFull bool
}

// judge says whether a subject is to be measured now. Nothing is measured that
// nobody watches, but for what was measured and has become another.
func judge(s pacing) pacingVerdict {
	v := pacingVerdict{IsFull: !s.IsMeasured || s.IsChanged || s.IsLow}
	isStale := !s.IsMeasured || s.Age < 0 || s.Age >= s.TTL || s.IsChanged
	isNew := s.IsMeasured && s.Age >= 0 && s.Age < leastPause
	switch wait := backOff(s.Failures) - max(s.FailedAgo, 0); {
	case !s.IsWanted && !(s.IsMeasured && s.IsChanged):
	case s.Failures > 0 && wait > 0:
		v.In = wait
		if !isStale {
			v.In = max(wait, s.TTL-s.Age)
		}
	case isStale && isNew:
		v.In = leastPause - s.Age
	case isStale:
		v.IsDue = true
	default:
		v.In = s.TTL - s.Age
	}
	return v
}

// leastPause is the least time between two measurements of one subject, however often
// it becomes another.
const leastPause = 10 * time.Second

const (
	// backOffFirst is how long after a failure the next try comes; each one doubles
	// it, up to backOffMost.
	backOffFirst = 15 * time.Second
	backOffMost  = time.Hour
)

// backOff is how long after so many failures in a row the next try comes.
func backOff(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	return min(backOffFirst<<min(failures-1, 10), backOffMost)
}

// plugged is what was seen of this node's cables: one that was gone and is back
// may be another one in the same ports, which no document tells.
type plugged struct {
	links   map[api.LinkID]cableSeen
	changed map[string]bool // paths to measure anew, by name
}

// cableSeen is a cable as it was seen last.
type cableSeen struct {
	isThere bool // now
	speed   api.ThunderboltSpeed
}

// lookLocked takes over which cables there are. Over RDMA a cable is to be tested
// anew also where it only has another speed, and before it is ready.
func (s *plugged) lookLocked(paths []Path) {
	if s.links == nil {
		s.links, s.changed = map[api.LinkID]cableSeen{}, map[string]bool{}
	}
	now := map[api.LinkID]api.ThunderboltSpeed{}
	for _, path := range paths {
		if path.Link.Valid() && path.Negotiated != nil {
			now[path.Link] = *path.Negotiated
		}
	}
	for link, was := range s.links {
		speed, isThere := now[link]
		if !isThere {
			s.links[link] = cableSeen{false, was.speed}
			continue
		}
		if !was.isThere || was.speed.TxBitsPerS != speed.TxBitsPerS || was.speed.RxBitsPerS != speed.RxBitsPerS {
			s.changed[link.String()] = true
		}
		if was.isThere {
			continue
		}
		for _, path := range paths {
			if path.Link == link {
				s.changed[path.Name()] = true
			}
		}
	}
	for link, speed := range now {
		s.links[link] = cableSeen{true, speed}
	}
}
