package health

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Who is more than ten minutes off is a condition of its own, which says whose jobs start
// where.
func TestClocks(t *testing.T) {
	is := is.New(t)
	name := func(n api.NodeID) string { return "mac-" + string(n) }
	got := Clocks(map[api.NodeID]time.Duration{
		"a": 2 * time.Minute, "b": -10 * time.Minute, "c": 12 * time.Minute, "d": -time.Hour,
	}, name)
	is.Equal(got, map[api.Reason]string{
		api.ReasonClockSkew:   "mac-a is 2m0s ahead; mac-b is 10m0s behind",
		api.ReasonClockFarOff: "mac-c is 12m0s ahead, and none of its jobs starts on this Mac; mac-d is 1h0m0s behind, and no job of this Mac starts there",
	})
	is.Equal(Clocks(nil, name), map[api.Reason]string{api.ReasonClockSkew: "", api.ReasonClockFarOff: ""})
}
