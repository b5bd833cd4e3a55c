package facts

import (
	"cmp"
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
	portless  []string
}

// New makes the owner; Run does its work.
func New(platform native.Facts, documents ledger.Publisher, static Static, log *slog.Logger) *Owner {
	return &Owner{
		platform: platform, documents: documents, static: static, log: log,
		hinted: map[native.Area]bool{}, watched: map[api.Kind]bool{}, wake: waker.New(), begun: make(chan struct{}),
		known: knowledge{silent: map[native.Area]api.Reason{}}, published: map[api.Kind][]string{}, portless: []string{},
	}
}

// change changes what is published, and has areas read again.
func (o *Owner) change(f func(), areas ...native.Area) {
	o.mu.Lock()
	f()
	for _, area := range areas {
		o.hinted[area] = true
	}
	o.mu.Unlock()
	o.wake.Wake()
}

// Watched tells whether anybody watches documents of a kind. Kinds that move
// by themselves do so while somebody does.
func (o *Owner) Watched(kind api.Kind, yes bool) { o.change(func() { o.watched[kind] = yes }) }

// Learn tells what MLX is on this machine, or why that cannot be known, and
// publishes it.
func (o *Owner) Learn(mlx *MLX, why api.Reason) {
	o.change(func() { o.static.MLX, o.static.NoMLX = mlx, why }, native.AreaIdentity, native.AreaMemory) // both say what it tells
}

// Rename gives this node another friendly name, and publishes it; empty follows
// the computer's name again.
func (o *Owner) Rename(name string) {
	o.change(func() { o.static.FriendlyName = name }, native.AreaIdentity)
}

// Reread has an area read again soon, as a hint of the platform does.
func (o *Owner) Reread(area native.Area) { o.hint(native.Hint{Area: area}) }

// hint is the platform's callback.
func (o *Owner) hint(h native.Hint) {
	isMissed := h.Source == native.HintSafetyReread
	o.change(func() {
		if isMissed {
			o.missed++
		}
	}, h.Area)
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
	schedule := schedule{areas: map[native.Area]*times{}}
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
		o.logSilence(area, why, snapshot.Unknown[string(area)].Detail(), err)
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
		o.notePortless(area)
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

// logSilence says in the log that a source fell silent, or speaks again. One that
// never spoke is no news.
func (o *Owner) logSilence(area native.Area, why api.Reason, detail string, err error) {
	switch {
	case why == "":
		o.log.Info("a source speaks again", "area", area)
	case o.known.held.Has(area) || err != nil:
		o.log.Warn("a source has fallen silent; its documents stay", "area", area, "reason", why, "detail", detail, "error", err)
	default:
		o.log.Debug("an area is not told", "area", area, "reason", why, "detail", detail)
	}
}

// notePortless says in the log which RDMA devices belong to no receptacle, once
// whenever that changes.
func (o *Owner) notePortless(area native.Area) {
	if area != native.AreaRDMA && area != native.AreaThunderbolt {
		return
	}
	now := portless(o.known.held.RDMA, o.known.held.Thunderbolt)
	if !slices.Equal(now, o.portless) {
		o.portless = now
		o.log.Info("RDMA devices without a Thunderbolt receptacle", "devices", now)
	}
}

// schedule says which areas are to be read when. It reads no clock.
type schedule struct {
	areas map[native.Area]*times
}

// times are an area's.
type times struct {
	read  time.Time // the last one
	again time.Time // when the reading after the last hint is due; zero = not
	since time.Time // the first hint that is waiting for it
	pace  time.Duration
}

// due gives the areas to read now, in a fixed order, given those that were
// hinted at since the last call and those that move by themselves.
func (s *schedule) due(now time.Time, hinted []native.Area, paced map[native.Area]time.Duration) []native.Area {
	var list []native.Area
	for _, area := range areas() {
		t := s.areas[area]
		if t == nil {
			t = &times{}
			s.areas[area] = t
		}
		if t.dueNow(now, slices.Contains(hinted, area), paced[area]) {
			list = append(list, area)
			t.read = now
		}
	}
	return list
}

// dueNow decides for one area, and plans its next reading.
func (t *times) dueNow(now time.Time, hinted bool, pace time.Duration) bool {
	t.pace = pace
	first := false
	if hinted {
		first = t.again.IsZero() // nothing was waiting: this is the first hint
		if first {
			t.since = now
		}
		t.again = now.Add(Settle)
		if limit := t.since.Add(Longest); t.again.After(limit) {
			t.again = limit
		}
	}
	settled := !t.again.IsZero() && !now.Before(t.again)
	if settled {
		t.again, t.since = time.Time{}, time.Time{}
	}
	return first || settled || (pace > 0 && now.Sub(t.read) >= pace)
}

// next is when something is due without a hint; zero where nothing is.
func (s *schedule) next(now time.Time) time.Time {
	var at time.Time
	earlier := func(candidate time.Time) {
		if at.IsZero() || candidate.Before(at) {
			at = candidate
		}
	}
	for _, t := range s.areas {
		if !t.again.IsZero() {
			earlier(t.again)
		}
		if t.pace > 0 {
			earlier(t.read.Add(t.pace))
		}
	}
	if !at.IsZero() && at.Before(now) {
		return now
	}
	return at
}

// Fact is one document's worth of what a machine says of itself.
type Fact struct {
	Kind api.Kind
	// Name is the receptacle's number for thunderbolt and rdma, else empty.
	Name  string
	Value any
	// Unknown tells, by field, why fields of the value are absent. Under the name
	// of the kind itself it tells that the source has fallen silent, and why: the
	// value is then what it said last.
	Unknown map[string]api.Reason
}

// Convert makes the facts of a whole reading, in the order in which an owner
// would publish them.
func Convert(all native.Snapshot, static Static) []Fact {
	k := knowledge{held: all, silent: map[native.Area]api.Reason{}}
	for _, area := range areas() {
		if !all.Has(area) {
			k.silent[area] = reasonOr(all.Unknown, string(area))
		}
	}
	var out []Fact
	for _, area := range areas() {
		out = append(out, k.facts(api.Kind(area), static)...)
	}
	return out
}

// knowledge is what the areas said last, and which of them have fallen silent.
type knowledge struct {
	held   native.Snapshot
	silent map[native.Area]api.Reason
}

// silence is why an area said nothing in a snapshot, and empty where it spoke. A
// list that was told before and that could not be read now counts as silence:
// taken as it is it would say that everything in it is gone.
func (k *knowledge) silence(area native.Area, s native.Snapshot) api.Reason {
	if !s.Has(area) {
		return reasonOr(s.Unknown, string(area))
	}
	had, _ := listed(area, k.held)
	if has, why := listed(area, s); had && !has && why != "" {
		return api.Reason(why.Key())
	}
	return ""
}

// listed reports whether a snapshot has what an area lists, and why not.
func listed(area native.Area, s native.Snapshot) (has bool, why native.Reason) {
	switch {
	case !s.Has(area):
	case area == native.AreaNetwork:
		return s.Network.Interfaces != nil, s.Network.Unknown["interfaces"]
	case area == native.AreaThunderbolt:
		return s.Thunderbolt.Ports != nil, s.Thunderbolt.Unknown["ports"]
	case area == native.AreaRDMA:
		return s.RDMA.Devices != nil, s.RDMA.Unknown["devices"]
	}
	return false, ""
}

// take notes what was read of one area, or why nothing was.
func (k *knowledge) take(area native.Area, s native.Snapshot, why api.Reason) {
	if why != "" {
		k.silent[area] = why
		return
	}
	delete(k.silent, area)
	held := &k.held
	held.Identity, held.Memory, held.System = cmp.Or(s.Identity, held.Identity), cmp.Or(s.Memory, held.Memory), cmp.Or(s.System, held.System)
	held.Network, held.Thunderbolt, held.RDMA = cmp.Or(s.Network, held.Network), cmp.Or(s.Thunderbolt, held.Thunderbolt), cmp.Or(s.RDMA, held.RDMA)
}

// facts makes the facts of a kind; none where the area has never spoken. Kinds
// are named as areas are.
func (k *knowledge) facts(kind api.Kind, static Static) []Fact {
	area := native.Area(kind)
	silent := k.silent[area]
	if !k.held.Has(area) && (area != native.AreaRDMA || silent == "") {
		return nil
	}
	var out []Fact
	one := func(value any, unknown map[string]api.Reason) {
		out = append(out, Fact{Kind: kind, Value: value, Unknown: unknown})
	}
	switch area {
	case native.AreaIdentity:
		one(identity(*k.held.Identity, static))
	case native.AreaMemory:
		one(memory(*k.held.Memory, static))
	case native.AreaSystem:
		one(system(*k.held.System))
	case native.AreaNetwork:
		value, why := network(*k.held.Network, k.held.Thunderbolt)
		static.claim(value)
		one(value, why)
	case native.AreaThunderbolt:
		for _, port := range k.ports() {
			one(thunderbolt(port))
		}
	case native.AreaRDMA:
		for _, port := range k.ports() {
			value, why := rdma(port, k.held.RDMA, silent)
			if static.Probes != nil && k.held.Identity != nil {
				value.ProbesSinceBoot = static.Probes(k.held.Identity.BootID, value.PortNumber)
			}
			one(value, why)
		}
	}
	for i := range out {
		switch value := out[i].Value.(type) {
		case api.Thunderbolt:
			out[i].Name = value.PortNumber.String()
		case api.RDMA:
			out[i].Name = value.PortNumber.String()
		}
		if silent != "" && k.held.Has(area) {
			out[i].Unknown[string(kind)] = silent
		}
	}
	return out
}

// ports are the receptacles in the order of their numbers, each once.
func (k *knowledge) ports() []native.Port {
	if k.held.Thunderbolt == nil {
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(k.held.Thunderbolt.Ports), func(p native.Port) bool {
		return p.PortNumber < 1 || p.PortNumber > api.MaxPortNumber
	})
	slices.SortStableFunc(all, func(a, b native.Port) int { return a.PortNumber - b.PortNumber })
	return slices.CompactFunc(all, func(a, b native.Port) bool { return a.PortNumber == b.PortNumber })
}

// follow are the kinds to convert again after an area was read: its own, and
// those that take a part of it.
func (k *knowledge) follow(area native.Area) []api.Kind {
	kinds := []api.Kind{api.Kind(area)}
	if area == native.AreaThunderbolt && k.held.Thunderbolt != nil {
		kinds = append(kinds, api.KindRDMA, api.KindNetwork)
	}
	return kinds
}
