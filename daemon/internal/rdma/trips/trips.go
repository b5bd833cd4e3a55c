package trips

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native"
)

// keptFor is how long the trips of a daemon that ended are taken up by the next one.
const keptFor = 24 * time.Hour

// Trips follows the trips that people make to Macs whose switch is off: what no
// document holds, that a Mac went away and came back.
type Trips struct {
	clock native.Clock
	save  func([]Kept) // whenever one has changed, under mu

	mu   sync.Mutex
	seen readiness.Trips
	// before are those that the daemon before this one followed, of Macs that have not
	// told of themselves since: their documents come after the first graphs.
	before readiness.Trips
}

// New goes on with the trips that the daemon before this one has followed, and saves
// them whenever one has changed.
func New(clock native.Clock, before []Kept, save func([]Kept)) *Trips {
	return &Trips{clock: clock, save: save, before: tripsOf(before, clock.Now(), clock.Boot())}
}

// See takes the cables as they are now, and gives what is known of the trips.
func (t *Trips) See(cables []readiness.Cable) readiness.Trips {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := readiness.Trips{}
	maps.Copy(last, t.seen)
	for node, trip := range t.before {
		if hasTold(cables, node) {
			last[node] = trip
			delete(t.before, node)
		}
	}
	was := t.seen
	t.seen = last.Next(cables, t.clock.Boot())
	if !reflect.DeepEqual(was, t.seen) {
		all := maps.Clone(t.seen)
		maps.Copy(all, t.before)
		t.save(tripsKept(all, t.clock.Now(), t.clock.Boot()))
	}
	return t.seen
}

// hasTold reports whether a Mac has said all of itself that trips are about.
func hasTold(cables []readiness.Cable, node api.NodeID) bool {
	told := func(e *readiness.End) bool {
		return e != nil && e.End.Node == node && e.Identity != nil && e.RDMA != nil && e.RDMA.SwitchedOn != nil
	}
	return slices.ContainsFunc(cables, func(c readiness.Cable) bool { return told(c.Low) || told(c.High) })
}

// Kept is a trip as it outlives the daemon. Times are those of the wall clock:
// the Mac may be started anew in between.
type Kept struct {
	Node    api.NodeID         `json:"node"`
	Kind    api.RDMAErrandKind `json:"kind"`
	Name    string             `json:"name"`
	Links   []api.LinkID       `json:"links"`
	Boot    api.Time           `json:"boot,omitzero"`
	Left    bool               `json:"left,omitempty"`
	Returns int                `json:"returns,omitempty"`
	// DoneAt is when it was made; absent where it was not.
	DoneAt api.Time `json:"done_at,omitzero"`
	// SeenAt is when this was written.
	SeenAt api.Time `json:"seen_at"`
}

// tripsKept is the form of trips in which they outlive the daemon.
func tripsKept(all readiness.Trips, now time.Time, boot time.Duration) []Kept {
	out := []Kept{}
	for _, node := range slices.Sorted(maps.Keys(all)) {
		t := all[node]
		one := Kept{Node: node, Kind: t.Kind, Name: t.Name, Links: t.Links, Boot: t.Boot, Left: t.Left, Returns: t.Returns, SeenAt: api.TimeOf(now)}
		if t.Done {
			one.DoneAt = api.TimeOf(now.Add(t.DoneAt - boot))
		}
		out = append(out, one)
	}
	return out
}

// tripsOf are the trips that were kept, without those of too long ago.
func tripsOf(kept []Kept, now time.Time, boot time.Duration) readiness.Trips {
	out := readiness.Trips{}
	for _, k := range kept {
		if now.Sub(k.SeenAt.Time).Abs() > keptFor {
			continue
		}
		t := readiness.Trip{Kind: k.Kind, Name: k.Name, Links: k.Links, Boot: k.Boot, Left: k.Left, Returns: k.Returns}
		if !k.DoneAt.IsZero() {
			t.Done, t.DoneAt = true, boot-max(0, now.Sub(k.DoneAt.Time))
		}
		out[k.Node] = t
	}
	return out
}
