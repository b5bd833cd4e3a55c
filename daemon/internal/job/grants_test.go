package job

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A job whose rank gets no grant says why, and on whom it waits: in the node's words, and
// where it has none, by its name.
func TestWhyThereIsNoGrant(t *testing.T) {
	for name, c := range map[string]struct {
		grant   api.Grant
		err     error
		reason  api.Reason
		waiting string // empty: the node
	}{
		"the node says why":         {api.Grant{State: api.GrantRefused, Reason: api.ReasonOnBattery, WaitingFor: "power"}, nil, api.ReasonOnBattery, "power"},
		"it does not":               {api.Grant{State: api.GrantRefused}, nil, api.ReasonGrantRefused, ""},
		"it says why, not for whom": {api.Grant{State: api.GrantRefused, Reason: api.ReasonOnBattery}, nil, api.ReasonOnBattery, ""},
		"it is shut down":           {api.Grant{}, api.NewError(api.ReasonUnreachable, ""), api.ReasonNodeUnreachable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, 2, func(t *testing.T, w *world) {
				is := is.New(t)
				a, b := w.nodes[0], w.nodes[1]
				b.mu.Lock()
				b.denies = func() (api.Grant, error) { return c.grant, c.err }
				b.mu.Unlock()
				id := a.submits(program(words("sleep", "1s"), a, b))
				job := a.until(id, api.JobBackoff, 5*time.Second)
				is.Equal(job.Reason, c.reason)
				if c.waiting == "" {
					c.waiting = "node " + a.nameOf(b.id)
				}
				is.Equal(job.WaitingFor, c.waiting)
				b.mu.Lock()
				b.denies = nil
				b.mu.Unlock()
				a.until(id, api.JobSucceeded, time.Minute) // it is asked again
			})
		})
	}
}
