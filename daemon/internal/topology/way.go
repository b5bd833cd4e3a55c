package topology

import (
	"slices"

	"fulmen/daemon/api"
)

// way is a cable with its hubs, put together from what its ends tell, seen
// from the first end.
type way struct {
	hubs []hubOnWay
	// hops are the pieces, one more than hubs, as far as told.
	hops []hop
	// total is the slowest in each direction, with the oldest generation.
	total hop
	// disagree says that the ends of a cable without hubs tell different speeds.
	disagree bool
}

// hubOnWay is a hub between two ends, with its places in their trees.
type hubOnWay struct {
	name   string
	places []hubPlace
}

// hubPlace is where one port has a hub in its tree.
type hubPlace struct {
	end   api.LinkEnd
	route string
}

// wayOf joins the views of the first and of the second end; one may be nil.
func wayOf(first, second *view) way {
	w := way{hubs: mergeHubs(hubsOf(first, false), hubsOf(second, true))}
	w.hops = mergeHops(len(w.hubs)+1, first, second)
	w.total = w.slowest(first, second)
	if first.whole() && second.whole() && len(w.hubs) == 0 {
		a, b := first.hops[0], second.hops[0].turned()
		w.disagree = a.tx != b.tx || a.rx != b.rx
	}
	return w
}

// hubsOf lists a view's hubs from the first end of the cable to the second.
func hubsOf(v *view, fromSecond bool) []hubOnWay {
	if v == nil {
		return nil
	}
	out := make([]hubOnWay, len(v.hubs))
	for i, h := range v.hubs {
		out[i] = hubOnWay{name: hubName(h), places: []hubPlace{{end: v.at.end(), route: h.Route}}}
	}
	if fromSecond {
		slices.Reverse(out)
	}
	return out
}

// mergeHubs puts the two ends' lists together. A hub that both ends see is one
// hub; one that hangs in the tree of one end only is seen by that end only, so
// the lists overlap where the first ends and the second begins, or not at all.
func mergeHubs(a, b []hubOnWay) []hubOnWay {
	if len(a) < len(b) {
		if at := indexOfHubs(b, a); at >= 0 {
			return foldHubs(b, a, at)
		}
	} else if at := indexOfHubs(a, b); at >= 0 {
		return foldHubs(a, b, at)
	}
	for n := min(len(a), len(b)); n > 0; n-- {
		if at := len(a) - n; indexOfHubs(a[at:], b[:n]) == 0 {
			return append(foldHubs(a, b[:n], at), b[n:]...)
		}
	}
	return slices.Concat(a, b)
}

// indexOfHubs finds a run of hubs by name.
func indexOfHubs(in, run []hubOnWay) int {
	for at := 0; at+len(run) <= len(in); at++ {
		if slices.EqualFunc(in[at:at+len(run)], run, func(x, y hubOnWay) bool { return x.name == y.name }) {
			return at
		}
	}
	return -1
}

// foldHubs adds the places of a run to the hubs that it is.
func foldHubs(in, run []hubOnWay, at int) []hubOnWay {
	out := slices.Clone(in)
	for i, h := range run {
		out[at+i].places = slices.Concat(out[at+i].places, h.places)
	}
	return out
}

// mergeHops gives each piece of the way the slower of what the ends tell of it.
func mergeHops(n int, first, second *view) []hop {
	out := make([]hop, n)
	for i := range out {
		out[i] = hop{why: api.ReasonNotYetRead}
		if first != nil && !first.torn && i < len(first.hops) {
			out[i] = first.hops[i]
		}
		if k := n - 1 - i; second != nil && !second.torn && k < len(second.hops) {
			out[i] = slower(out[i], second.hops[k].turned())
		}
	}
	return out
}

// slower takes the slower of two tellings of one piece in each direction; one
// that tells nothing takes nothing away. Where neither tells, the reason is the
// first that says more than that nobody looked.
func slower(a, b hop) hop {
	switch {
	case !a.known() && !b.known() && a.why != api.ReasonNotYetRead:
		return a
	case !a.known():
		return b
	case !b.known():
		return a
	}
	return a.narrowed(b)
}

// narrowed is what is left of a hop where another one is on the same way.
func (h hop) narrowed(o hop) hop {
	return hop{tx: min(h.tx, o.tx), rx: min(h.rx, o.rx), generation: older(h.generation, o.generation)}
}

// older is the older of two generations, the one that is told where only one is.
func older(a, b api.ThunderboltGeneration) api.ThunderboltGeneration {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return min(a, b) // tb3 < tb4 < tb5
}

// slowest is the speed of the whole way: that of the slowest piece in each
// direction, and unknown where a piece is. A view with a hub that is not
// described makes it unknown, whatever the other end tells of its own hops.
func (w *way) slowest(first, second *view) hop {
	for _, v := range []*view{first, second} {
		if v != nil && v.torn {
			return hop{why: api.ReasonSourceMalformed}
		}
	}
	total, generation := hop{}, true
	for i, h := range w.hops {
		if !h.known() {
			return hop{why: h.why}
		}
		generation = generation && h.generation != ""
		if i == 0 {
			total = h
		}
		total = total.narrowed(h)
	}
	if !generation {
		total.generation = ""
	}
	return total
}

// kind is what the slowest piece makes of the way. Only Thunderbolt 5 is faster
// than 40 Gb/s in a direction; 3 and 4 cannot be told apart by their speed.
func (w *way) kind() api.LinkKind {
	switch {
	case !w.total.known():
		return api.LinkUnknown
	case w.total.generation != "":
		return api.LinkKind(w.total.generation)
	case max(w.total.tx, w.total.rx) > thunderbolt4BitsPerS:
		return api.LinkTB5
	}
	return api.LinkUnknown
}

// hubNames are the names for the wire.
func (w *way) hubNames() []string {
	var names []string
	for _, h := range w.hubs {
		names = append(names, h.name)
	}
	return names
}
