package placement

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// shareUnits are what the shares of a plan add up to, of which each has some: shares have
// six decimals.
const shareUnits = 1_000_000

// leastRoom is what a node must have left for a rank with a share. A program that has
// loaded MLX takes about half of it before it holds anything of the whole.
const leastRoom = 1 << 30

// stopByShare is what keeps a node from having a share: it would swap, or nobody can tell.
func (s *state) stopByShare(n *Node) *api.Cause {
	if s.in.Spec.Placement.ShareBy == "" {
		return nil
	}
	is := func(reason api.Reason, format string, args ...any) *api.Cause {
		return hindrance(reason, string(n.ID), "%s "+format, append([]any{n.name()}, args...)...)
	}
	_, reachable := n.room()
	switch free := n.free(); {
	case !reachable:
		return is(api.ReasonNotEnoughMemory, "does not report how much memory its GPU can use")
	case n.GPUMemory == api.GPUMemoryDedicated && free >= leastRoom: // nothing of it is ever swapped
	case n.AvailableBytes == nil:
		return is(api.ReasonNotEnoughMemory, "does not report how much memory is available")
	case n.Pressure == api.PressureWarning || n.Pressure == api.PressureCritical:
		return is(api.ReasonMemoryPressure, "is short of memory, and would swap with a share (pressure: %s)", n.Pressure)
	case free < leastRoom:
		return is(api.ReasonNotEnoughMemory, "has %s of memory left, less than the 1 GiB that a share takes at least, and would swap", gibibytes(free))
	}
	return nil
}

// unitsOf is how many units of a whole fit into so much memory; all where it is not said
// how much the whole is.
func unitsOf(room, whole int64) int {
	if room >= whole {
		return shareUnits
	}
	high, low := bits.Mul64(uint64(room), shareUnits)
	units, _ := bits.Div64(high, low, uint64(whole)) // fewer than all
	return int(units)
}

// bytesOf is what so many units of a whole are, rounded down.
func bytesOf(units int, whole int64) int64 {
	high, low := bits.Mul64(uint64(units), uint64(whole))
	bytes, _ := bits.Div64(high, low, shareUnits)
	return int64(bytes)
}

// enough reports whether the whole fits into the nodes of a set together.
func (f *field) enough(x set) bool {
	left := f.whole
	for ; x != 0 && left > 0; x &= x - 1 {
		left -= f.free[x.lowest()]
	}
	return left <= 0
}

// tooLarge says that the whole does not fit into a set.
func (m *misses) tooLarge(x set) *api.Cause {
	if m.field.enough(x) {
		return nil
	}
	var names []string
	room := int64(0)
	for _, i := range m.places(x) {
		names = append(names, m.nodes[i].name())
		room += m.nodes[i].free()
	}
	has := "has %s of memory left, and the ranks need %s"
	if len(names) > 1 {
		has = "have %s of memory left together, and the ranks need %s"
	}
	return hindrance(api.ReasonNotEnoughMemory, "memory_bytes", strings.Join(names, ", ")+" "+has, gibibytes(room), gibibytes(m.field.whole))
}

// share gives each rank its share. Where the spec says how much the whole is, it is by the
// speed of the GPUs, so that all take as long, as far as each has the memory; else, and
// where a GPU was not measured, by memory. Ranks on one node divide what it has.
func (w *writer) share() {
	if w.in.Spec.Placement.ShareBy == "" {
		return
	}
	ranks, whole := map[int]int{}, w.demand.whole
	for _, i := range w.order {
		ranks[i]++
	}
	var caps []int
	var rooms, speeds []float64
	var unmeasured []string
	for _, i := range w.order {
		n, on := w.nodes[i], ranks[i]
		room := n.free() / int64(on)
		caps = append(caps, unitsOf(room, whole))
		rooms, speeds = append(rooms, float64(room)), append(speeds, n.tflops()/float64(on))
		if n.tflops() <= 0 && !slices.Contains(unmeasured, n.name()) {
			unmeasured = append(unmeasured, n.name())
		}
	}
	weights, why := rooms, ""
	switch {
	case len(ranks) == 1:
	case whole == 0:
		why = "Shares are by memory alone: --memory, with what all ranks need together, lets speed count too"
	case len(unmeasured) > 0:
		why = "Shares are by memory alone: the GPU of " + strings.Join(unmeasured, ", ") + " was not measured (fulmen measure gpu)"
	default:
		weights = speeds
	}
	if why != "" {
		w.plan.Notes = append(w.plan.Notes, *hindrance(api.ReasonSharesByMemory, "per_node", "%s", why))
	}
	for rank, units := range distribute(caps, weights) {
		r := &w.plan.Ranks[rank]
		r.ShareRatio, r.MemoryBytes = float64(units)/shareUnits, min(bytesOf(units, whole), int64(rooms[rank]))
	}
	for _, stop := range w.stops {
		if len(ranks) > len(w.required) && stop != nil && (stop.Reason == api.ReasonMemoryPressure || stop.Reason == api.ReasonNotEnoughMemory) {
			left := *stop
			left.Message += ", so it is left out"
			w.plan.Notes = append(w.plan.Notes, left)
		}
	}
}

// distribute gives out all units by weight, to each one at least and no more than its cap.
// It takes the highest averages, by which nobody gets less for weighing more, or for a
// higher cap. The caps are enough for all but what was lost by rounding them down: of that
// the first get one unit each.
func distribute(caps []int, weights []float64) []int {
	out := make([]int, len(caps))
	at := func(scale float64) (sum int) {
		for i, weight := range weights {
			out[i] = int(min(float64(caps[i]), max(1, math.Floor(weight*scale))))
			sum += out[i]
		}
		return sum
	}
	// The highest scale that gives out no more than there is.
	low, high := 0.0, 2*shareUnits/slices.Min(weights)
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if at(middle) <= shareUnits {
			low = middle
		} else {
			high = middle
		}
	}
	over := 0
	for left := shareUnits - at(low); left > 0; left-- { // of those that the next scale gives one more alike, the first
		next := -1
		for i := range out {
			if out[i] < caps[i] && (next < 0 || float64(out[i]+1)/weights[i] < float64(out[next]+1)/weights[next]) {
				next = i
			}
		}
		if next < 0 {
			next, over = over, over+1
		}
		out[next]++
	}
	return out
}
