package phase

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// The nodes are asked before a job is ended for silence: once whoever has not answered,
// and never is a job ended of which one says that it prints.
func TestNobodyIsSilentUnasked(t *testing.T) {
	is := is.New(t)
	r := rules()
	r.Silence = time.Second
	g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.fire(TimerSilence)
	is.Equal(g.did(), "renew 1 on node0, renew 1 on node1")
	g.next(Renewed{1, nodeID(0)})
	for range 5 {
		g.fire(TimerSilence)
		is.Equal(g.did(), "") // node1 has not answered
	}
	g.next(Renewed{1, nodeID(1)}, Printed{})
	is.Equal(startedTimer(g.last, TimerSilence), time.Second) // it counts anew
	for range listens {
		g.fire(TimerSilence)
		is.Equal(g.did(), "renew 1 on node0, renew 1 on node1")
		is.Equal(startedTimer(g.last, TimerSilence), listenFor)
		is.Equal(g.s.Job.Phase, api.JobRunning)
		g.next(Renewed{1, nodeID(0)}, Renewed{1, nodeID(1)})
	}
	is.Equal(g.fire(TimerSilence).s.Job.Reason, api.ReasonSilentTooLong)
}
