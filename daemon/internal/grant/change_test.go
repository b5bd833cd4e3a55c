package grant

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A rank that asks while a cable of the node is changed for RDMA waits for those
// seconds, and says on what; a measurement is what proves the change, and does not.
func TestRanksWaitForAChangeOfACable(t *testing.T) {
	on(t, func(t *testing.T, d *scenario) {
		is := is.New(t)
		d.change(func() { d.deny["node9"] = api.ReasonRDMAChangeRunning })
		is.Equal(d.now(wants(2, 0)).State, api.GrantWaiting) // not refused for good
		waiting := d.ask(wants(1, time.Hour))
		is.Equal(d.doc(rank(1)).Reason, api.ReasonRDMAChangeRunning)
		pass(time.Minute)
		is.True(!answered(waiting))
		d.change(func() { delete(d.deny, "node9") })
		is.Equal((<-waiting).State, api.GrantHeld)
	})
}
