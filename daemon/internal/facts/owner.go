package facts

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/waker"
)

const (
	// Settle is how long after the last hint an area is read again.
	Settle = 150 * time.Millisecond
	// Longest is how long an area that hints without a pause may go unread.
	Longest = time.Second
	// MemoryEvery is the pace of memory while somebody watches.
	MemoryEvery = 500 * time.Millisecond
	// SystemEvery is the pace of load, power and heat while somebody watches.
	SystemEvery = time.Second
	// readDeadline bounds one reading of one area.
	readDeadline = 5 * time.Second
)

// Owner publishes the facts of this machine.
type Owner struct {
	platform  native.Facts
	documents ledger.Publisher
	static    Static
	log       *slog.Logger

	// hints is where the platform's callback leaves what it was told; the
	// callback must not wait.
	mu      sync.Mutex
	hinted  map[native.Area]bool
	watched map[api.Kind]bool
	wake    waker.Waker
	missed  uint64 // changes that no event announced

	begun chan struct{} // closed when every area was read once

	// What follows is Run's own.
	known     knowledge
	published map[api.Kind][]string // names
	homeless  []string
}

// New makes the owner; Run does its work.
func New(platform native.Facts, documents ledger.Publisher, static Static, log *slog.Logger) *Owner {
	return &Owner{
		platform: platform, documents: documents, static: static, log: log,
		hinted: map[native.Area]bool{}, watched: map[api.Kind]bool{}, wake: waker.New(), begun: make(chan struct{}),
		known: knowledge{silent: map[native.Area]api.Reason{}}, published: map[api.Kind][]string{}, homeless: []string{},
	}
}

// Watched tells whether anybody watches documents of a kind. Kinds that move
// by themselves do so while somebody does.
func (o *Owner) Watched(kind api.Kind, yes bool) {
	o.mu.Lock()
	o.watched[kind] = yes
	o.mu.Unlock()
	o.wake.Wake()
}

// Learn tells what MLX is on this machine, or why that cannot be known, and
// publishes it.
func (o *Owner) Learn(mlx *MLX, why api.Reason) {
	o.mu.Lock()
	o.static.MLX, o.static.NoMLX = mlx, why
	o.hinted[native.AreaIdentity], o.hinted[native.AreaMemory] = true, true // both say what it tells
	o.mu.Unlock()
	o.wake.Wake()
}

// Rename gives this node another friendly name, and publishes it; empty follows
// the computer's name again.
func (o *Owner) Rename(name string) {
	o.mu.Lock()
	o.static.FriendlyName = name
	o.hinted[native.AreaIdentity] = true
	o.mu.Unlock()
	o.wake.Wake()
}

// Reread has an area read again soon, as a hint of the platform does.
func (o *Owner) Reread(area native.Area) { o.hint(native.Hint{Area: area}) }

// hint is the platform's callback.
func (o *Owner) hint(h native.Hint) {
	o.mu.Lock()
	o.hinted[h.Area] = true
	isMissed := h.Source == native.HintSafetyReread
	if isMissed {
		o.missed++
	}
	o.mu.Unlock()
	o.wake.Wake()
	if isMissed {
		o.log.Info("a change that no event announced was found by looking", "area", h.Area)
	}
}

// Missed counts the changes since the start that no event of the system announced
// and a slow look found. Where it grows, facts are up to a minute late.
func (o *Owner) Missed() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.missed
}

// Begun is closed when everything was read once: from then on a fact that changes
// is news.
func (o *Owner) Begun() <-chan struct{} { return o.begun }

// Run publishes until the context ends; it is called once. The first facts, name and
// memory, are published before anything slower is read.
func (o *Owner) Run(ctx context.Context) error {
	stop, err := o.platform.Watch(o.hint)
	if err != nil {
		o.log.Warn("the platform announces no changes", "error", err)
		stop = func() error { return nil }
	}
	defer stop()
	schedule := newSchedule()
	for _, area := range areas() {
		o.read(ctx, area)
	}
	close(o.begun)
	for ctx.Err() == nil {
		hinted, paced := o.take()
		now := time.Now()
		o.readDue(ctx, schedule.due(now, hinted, paced))
		o.wait(ctx, schedule.next(now))
	}
	return ctx.Err()
}

// readDue reads what is due. Interfaces and RDMA devices go with their cable, and no
// hint says which of the three is due to the other: cables are read last, so that what
// is missing because of one is never seen without it, and published first, so that
// whoever asks why something is gone finds the cause.
func (o *Owner) readDue(ctx context.Context, due []native.Area) {
	wired := []native.Area{native.AreaRDMA, native.AreaNetwork}
	var read []native.Area
	for _, area := range due {
		if area != native.AreaThunderbolt && !slices.Contains(wired, area) {
			o.read(ctx, area)
		}
	}
	for _, area := range wired {
		if slices.Contains(due, area) && o.learn(ctx, area) {
			read = append(read, area)
		}
	}
	if len(read) > 0 || slices.Contains(due, native.AreaThunderbolt) {
		if o.learn(ctx, native.AreaThunderbolt) {
			read = append([]native.Area{native.AreaThunderbolt}, read...)
		}
		o.publish(read...)
	}
}

// areas are those that this owner reads, quickest first.
func areas() []native.Area {
	return []native.Area{
		native.AreaIdentity, native.AreaMemory, native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA, native.AreaSystem,
	}
}

// take gives the hints since the last time, and the areas that move by
// themselves now, with their pace.
func (o *Owner) take() (hinted []native.Area, paced map[native.Area]time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for area := range o.hinted {
		if slices.Contains(areas(), area) {
			hinted = append(hinted, area)
		}
	}
	clear(o.hinted)
	paced = map[native.Area]time.Duration{}
	if o.watched[api.KindMemory] {
		paced[native.AreaMemory] = MemoryEvery
	}
	if o.watched[api.KindSystem] {
		paced[native.AreaSystem] = SystemEvery
	}
	return hinted, paced
}

// wait sleeps until there is something to do: for ever, where at is zero and
// nothing is hinted.
func (o *Owner) wait(ctx context.Context, at time.Time) {
	var due <-chan time.Time
	if !at.IsZero() {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-o.wake:
	case <-due:
	}
}

// read reads one area and publishes it.
func (o *Owner) read(ctx context.Context, area native.Area) {
	if o.learn(ctx, area) {
		o.publish(area)
	}
}

// learn reads one area. One that cannot be read keeps its documents, which then say
// so; the log has the cause. It reports false where the daemon ends.
func (o *Owner) learn(ctx context.Context, area native.Area) bool {
	within, cancel := context.WithTimeout(ctx, readDeadline)
	defer cancel()
	snapshot, err := o.platform.Snapshot(within, area)
	if ctx.Err() != nil {
		return false
	}
	why := o.known.silence(area, snapshot)
	if err != nil {
		why = api.ReasonReadFailed
	}
	if why != o.known.silent[area] {
		o.noteVoice(area, why, snapshot.Unknown[string(area)].Detail(), err)
	}
	o.known.take(area, snapshot, why)
	return true
}

// publish publishes what the reading of areas may have changed, in their order. A
// document that says nothing new is no news to anybody: the ledger sees to that.
func (o *Owner) publish(areas ...native.Area) {
	var kinds []api.Kind
	for _, area := range areas {
		for _, kind := range o.known.follow(area) {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	for _, kind := range kinds {
		if err := o.publishKind(kind); err != nil {
			o.log.Error("facts could not be published", "kind", kind, "error", err)
		}
	}
	for _, area := range areas {
		o.noteHomeless(area)
	}
}

func (o *Owner) publishKind(kind api.Kind) error {
	o.mu.Lock()
	static := o.static
	o.mu.Unlock()
	var failed error
	names := []string{}
	for _, fact := range o.known.facts(kind, static) {
		names = append(names, fact.Name)
		failed = errors.Join(failed, o.documents.Put(kind, fact.Name, fact.Value, fact.Unknown))
	}
	for _, name := range o.published[kind] {
		if slices.Contains(names, name) {
			continue
		}
		if err := o.documents.Delete(kind, name); err != nil {
			failed = errors.Join(failed, err)
			names = append(names, name) // the next reading tries again
		}
	}
	o.published[kind] = names
	return failed
}

// noteVoice says in the log that a source fell silent, or speaks again. One that
// never spoke is no news.
func (o *Owner) noteVoice(area native.Area, why api.Reason, detail string, err error) {
	switch {
	case why == "":
		o.log.Info("a source speaks again", "area", area)
	case o.known.held.Has(area) || err != nil:
		o.log.Warn("a source has fallen silent; its documents stay", "area", area, "reason", why, "detail", detail, "error", err)
	default:
		o.log.Debug("an area is not told", "area", area, "reason", why, "detail", detail)
	}
}

// noteHomeless says in the log which RDMA devices belong to no receptacle, once
// whenever that changes.
func (o *Owner) noteHomeless(area native.Area) {
	if area != native.AreaRDMA && area != native.AreaThunderbolt {
		return
	}
	now := homeless(o.known.held.RDMA, o.known.held.Thunderbolt)
	if !slices.Equal(now, o.homeless) {
		o.homeless = now
		o.log.Info("RDMA devices without a Thunderbolt receptacle", "devices", now)
	}
}
