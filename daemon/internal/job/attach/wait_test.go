package attach_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/attach"
)

// waits gives more than there is room for, as rank 1 reads nothing more, and returns what
// comes of it.
func (r *rig) waits() <-chan api.Reason {
	r.t.Helper()
	r.begin(api.RankRunning)
	r.far[2].do(ref(1, 1), func(p *program) { p.reads = 100 })
	big := strings.Repeat("z", attach.MaxKept)
	if reason := r.give(0, big, false); reason != "" {
		r.t.Fatal(reason)
	}
	given := make(chan api.Reason, 1)
	go func() { given <- r.give(attach.MaxKept, big, false) }()
	synctest.Wait()
	if len(given) > 0 {
		r.t.Fatal("there is room")
	}
	return given
}

// Whoever waits to give a job more is told when that can be no more.
func TestWhoeverWaitsToGiveIsTold(t *testing.T) {
	for want, change := range map[api.Reason]func(r *rig) error{
		api.ReasonJobEnded:   func(r *rig) error { r.end(api.JobFailed); return nil },
		api.ReasonJobDeleted: func(r *rig) error { return r.docs[0].Delete(api.KindJob, string(jobID)) },
		api.ReasonCancelled:  func(r *rig) error { r.attach.Close(); return nil },
		api.ReasonInputElsewhere: func(r *rig) error {
			r.far[1].do(ref(1, 0), func(p *program) { p.displaced = true })
			return nil
		},
	} {
		t.Run(string(want), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				is := is.New(t)
				given := r.waits()
				is.NoErr(change(r))
				synctest.Wait()
				is.Equal(len(given), 1)
				is.Equal(<-given, want)
			})
		})
	}
}

// A rank that has ended reads no more, and the others are not kept by it.
func TestARankThatEndedKeepsNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		given := r.waits()
		r.far[2].end(ref(1, 1))
		r.rank(1, 1, api.RankExited)
		synctest.Wait()
		is.Equal(len(given), 1)
		is.Equal(<-given, api.Reason(""))
		is.Equal(len(r.program(1, 0).input), 2*attach.MaxKept)
	})
}

// A node that cannot be reached is tried again and again, at ever longer intervals.
func TestANodeThatComesBackIsGivenAll(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.desk.Cut(r.nodes[0], r.nodes[1])
		r.begin(api.RankRunning)
		is.Equal(r.give(0, "typed", true), api.Reason(""))
		time.Sleep(time.Hour)
		is.Equal(r.program(1, 0).input, "")
		r.desk.Join(r.nodes[0], r.nodes[1])
		time.Sleep(time.Minute)
		is.Equal(r.program(1, 0).input, "typed")
		is.True(r.program(1, 0).over)
	})
}
