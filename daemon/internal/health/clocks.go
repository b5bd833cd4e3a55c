package health

import (
	"maps"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// Clocks are the conditions of this node about clocks that differ from its own, each
// with its detail; empty is a condition that does not hold. ahead is by how much those
// of other nodes are ahead, and name what people call a node.
func Clocks(ahead map[api.NodeID]time.Duration, name func(api.NodeID) string) map[api.Reason]string {
	var near, far []string
	for _, node := range slices.Sorted(maps.Keys(ahead)) {
		by := ahead[node]
		text := name(node) + " is " + by.Abs().Round(time.Second).String()
		switch {
		case by > api.ClockTolerance:
			far = append(far, text+" ahead, and none of its jobs starts on this Mac")
		case by < -api.ClockTolerance:
			far = append(far, text+" behind, and no job of this Mac starts there")
		case by > 0:
			near = append(near, text+" ahead")
		default:
			near = append(near, text+" behind")
		}
	}
	return map[api.Reason]string{api.ReasonClockSkew: strings.Join(near, "; "), api.ReasonClockFarOff: strings.Join(far, "; ")}
}
