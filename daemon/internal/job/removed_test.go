package job

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// The jobs of a removed node's people end, and those that had ranks there have
// lost them; others go on.
func TestMembersRemoved(t *testing.T) {
	in(t, 4, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b, c, d := w.nodes[0], w.nodes[1], w.nodes[2], w.nodes[3]
		theirs := d.submits(program(words("sleep", "1h"), a))
		through := a.submits(program(words("sleep", "1h"), b))
		other := a.submits(program(words("sleep", "1h"), c))
		for _, id := range []api.JobID{theirs, through, other} {
			a.until(id, api.JobRunning, 5*time.Second)
		}
		for _, n := range []*machine{a, c} {
			n.MembersRemoved([]api.NodeID{b.id, d.id})
		}
		a.until(theirs, api.JobStopped, 30*time.Second)
		is.Equal(a.sees(theirs).Reason, api.ReasonRemoved)
		is.Equal(a.sees(other).Phase, api.JobRunning)
	})
}
