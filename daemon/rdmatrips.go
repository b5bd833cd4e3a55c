package daemon

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/store"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native"
)

// tripsFor is how long the trips of a daemon that ended are taken up by the next one.
const tripsFor = 24 * time.Hour

// trips follows the trips that people make to Macs whose switch is off: what no
// document holds, that a Mac went away and came back.
type trips struct {
	clock native.Clock
	// keep takes the trips whenever one has changed; it is called under mu, and nil
	// where nothing outlives the daemon.
	keep func(readiness.Trips)

	mu   sync.Mutex
	seen readiness.Trips
	// before are those that the daemon before this one followed, of Macs that have not
	// told of themselves since: their documents come after the first graphs.
	before readiness.Trips
}

// see takes the cables as they are now, and gives what is known of the trips.
func (t *trips) see(cables []readiness.Cable) readiness.Trips {
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
	if t.keep != nil && !reflect.DeepEqual(was, t.seen) {
		all := maps.Clone(t.seen)
		maps.Copy(all, t.before)
		t.keep(all)
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

// keptTrip is a trip as it outlives the daemon. Times are those of the wall clock:
// the Mac may be started anew in between.
type keptTrip struct {
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

// keptWish is a request for RDMA that waits for trips, as it outlives the daemon.
type keptWish struct {
	Link  api.LinkID    `json:"link"`
	By    api.Principal `json:"by"`
	Until api.Time      `json:"until"`
}

// openTrips takes over the trips and the requests that the daemon before this one
// has followed, and keeps what changes from here on.
func (d *daemon) openTrips() error {
	kept := storage{d.database}
	clock := d.platform.Clock
	var former []keptTrip
	if _, err := kept.read(bucketNode, keyTrips, &former); err != nil {
		return err
	}
	var wishes []keptWish
	if _, err := kept.read(bucketNode, keyWanted, &wishes); err != nil {
		return err
	}
	d.trips.before = tripsOf(former, clock.Now(), clock.Boot())
	d.continued.wanted = wantedOf(wishes, clock.Now(), clock.Boot())
	save := func(key string, value any) {
		if err := kept.db.Update(func(w store.Writer) error { return write(w, bucketNode, key, value) }); err != nil {
			d.logs.part("rdma").Error("what people do for RDMA at Macs could not be kept", "error", err)
		}
	}
	d.trips.keep = func(all readiness.Trips) { save(keyTrips, tripsKept(all, clock.Now(), clock.Boot())) }
	d.continued.keep = func(all map[api.LinkID]wanting) { save(keyWanted, wishesKept(all, clock.Now(), clock.Boot())) }
	return nil
}

// tripsKept is the form of trips in which they outlive the daemon.
func tripsKept(all readiness.Trips, now time.Time, boot time.Duration) []keptTrip {
	out := []keptTrip{}
	for _, node := range slices.Sorted(maps.Keys(all)) {
		t := all[node]
		one := keptTrip{Node: node, Kind: t.Kind, Name: t.Name, Links: t.Links, Boot: t.Boot, Left: t.Left, Returns: t.Returns, SeenAt: api.TimeOf(now)}
		if t.Done {
			one.DoneAt = api.TimeOf(now.Add(t.DoneAt - boot))
		}
		out = append(out, one)
	}
	return out
}

// tripsOf are the trips that were kept, without those of too long ago.
func tripsOf(kept []keptTrip, now time.Time, boot time.Duration) readiness.Trips {
	out := readiness.Trips{}
	for _, k := range kept {
		if now.Sub(k.SeenAt.Time).Abs() > tripsFor {
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

// wishesKept is the form of requests in which they outlive the daemon.
func wishesKept(all map[api.LinkID]wanting, now time.Time, boot time.Duration) []keptWish {
	out := []keptWish{}
	for _, link := range slices.SortedFunc(maps.Keys(all), api.LinkID.Compare) {
		out = append(out, keptWish{Link: link, By: all[link].by, Until: api.TimeOf(now.Add(all[link].until - boot))})
	}
	return out
}

// wantedOf are the requests that were kept and still count. None counts for longer
// than it may, whatever became of the wall clock.
func wantedOf(kept []keptWish, now time.Time, boot time.Duration) map[api.LinkID]wanting {
	out := map[api.LinkID]wanting{}
	for _, k := range kept {
		if left := k.Until.Sub(now); left > 0 {
			out[k.Link] = wanting{k.By, boot + min(left, continueWithin)}
		}
	}
	return out
}
