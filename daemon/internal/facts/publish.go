package facts

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

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

// Published reads back what this node has published of itself.
type Published struct{ Ledger *ledger.Ledger }

// read decodes the document of a kind that there is one of; what is not there is zero.
func (p Published) read(kind api.Kind, value any) {
	if record, found := p.Ledger.Get(api.Key{Node: p.Ledger.Node(), Kind: kind}); found {
		_ = record.Decode(value) // what cannot be read is not known
	}
}

// Identity is who this node is.
func (p Published) Identity() (identity api.Identity) {
	p.read(api.KindIdentity, &identity)
	return identity
}

// System is what this node runs.
func (p Published) System() (osBuild, mlx string) {
	identity := p.Identity()
	return identity.OSBuild, identity.MLXVersion
}

// InterfaceOf is this node's interface that has an address.
func (p Published) InterfaceOf(sink netip.Addr) (iface string, ok bool) {
	var network api.Network
	p.read(api.KindNetwork, &network)
	for _, i := range network.Interfaces {
		if slices.ContainsFunc(i.Addresses, func(a api.InterfaceAddress) bool { return a.Address.Addr().WithZone("") == sink.WithZone("") }) {
			return i.Name, true
		}
	}
	return "", false
}

// bootWithin bounds the reading of the id of the system's start.
const bootWithin = 2 * time.Second

// BootID is the id of the system's start; empty where it is not known.
func BootID(ctx context.Context, clock native.Clock, machine native.Facts) string {
	ctx, cancel := native.WithTimeout(ctx, clock, bootWithin, "the id of the system's start")
	defer cancel()
	snapshot, err := machine.Snapshot(ctx, native.AreaIdentity)
	if err != nil || snapshot.Identity == nil {
		return ""
	}
	return snapshot.Identity.BootID
}

// Static is what the platform cannot know of this node: what Fulmen itself
// adds to the identity document.
type Static struct {
	PublicKey     []byte
	FulmenVersion string
	Protocol      int
	StartedAt     api.Time
	// Platform is the machine's family of systems; empty is that of this program.
	Platform api.Platform
	// FriendlyName is what a person called the node instead of the computer's
	// name; empty where nobody did.
	FriendlyName string
	// ShortName makes the short name of a computer name.
	ShortName func(name string) string
	// Probes counts the tests that opened the RDMA device of a receptacle since the
	// system started, which has the id; nil where nobody counts.
	Probes func(bootID string, receptacle api.Receptacle) int
	// Ours reports whether Fulmen made the network service that has an identifier; nil
	// where it makes none.
	Ours func(service string) bool
	// MLX is what the worker found; nil until it has answered, and then
	// NoMLX is why, if it could not.
	MLX   *MLX
	NoMLX api.Reason
}

// MLX is the MLX that Fulmen itself uses.
type MLX struct {
	Version  string
	Backends []api.MLXBackend
	Devices  []api.MLXDevice
	// WorkingSetBytes is how much a program may hold on the GPU that MLX uses, as
	// MLX tells it; 0 where it does not.
	WorkingSetBytes int64
	// UsesCPU says that MLX finds no GPU, so that programs hold the machine's memory.
	UsesCPU bool
}

// noMLX is why MLX is not known.
func (s Static) noMLX() api.Reason { return cmp.Or(s.NoMLX, api.ReasonNotYetRead) }

// claim marks the services of a network that Fulmen made.
func (s Static) claim(n api.Network) {
	for _, i := range n.Interfaces {
		if i.Service != nil && s.Ours != nil {
			i.Service.Ours = s.Ours(i.Service.ID)
		}
	}
}

func (s Static) platform() api.Platform {
	if s.Platform != "" {
		return s.Platform
	}
	return api.Platform(runtime.GOOS)
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

func newSchedule() *schedule { return &schedule{areas: map[native.Area]*times{}} }

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
