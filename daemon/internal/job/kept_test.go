package job

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// Kept jobs that are deleted at any moment, twice, while daemons die and Macs stand still, leave
// nothing behind, and hurt no Mac.
func TestDeletionsAtRandom(t *testing.T) {
	rounds := 10
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 500
	}
	r := testkit.Fixed(t, 31).Source(1)
	in(t, 3, func(t *testing.T, w *world) {
		is := is.New(t)
		a := w.nodes[0]
		for round := range rounds {
			on := w.nodes[r.IntN(3):]
			request := program(words("sleep", fmt.Sprintf("%dms", 1+r.IntN(30_000))), on...)
			request.Name, request.Kept = "service", true
			declared, err := a.Apply(t.Context(), a.person(), api.JobApplyParams{Request: request, Replace: true})
			is.NoErr(err)
			pass(time.Duration(r.IntN(40_000)) * time.Millisecond)
			other := w.nodes[1+r.IntN(2)]
			fault := r.IntN(4)
			switch fault {
			case 0:
				other.kill()
				other.start()
			case 1:
				other.freeze(time.Duration(r.IntN(10)) * time.Second)
			}
			ended := make(chan struct{})
			for _, wait := range []time.Duration{0, time.Duration(r.IntN(1000)) * time.Millisecond} {
				go func() {
					<-time.After(wait)
					for { // a Mac that stands still takes its time
						err := a.Undeclare(t.Context(), a.person(), "service")
						if err == nil || errors.Is(err, api.ReasonNoSuchJob) {
							ended <- struct{}{}
							return
						}
						<-time.After(time.Second)
					}
				}()
			}
			<-ended
			<-ended
			pass(time.Minute)
			if n := w.living(declared.Job); n > 0 {
				t.Fatalf("round %d, fault %d: %d ranks live", round, fault, n)
			}
			for _, m := range w.nodes {
				if _, err := m.Get(t.Context(), Caller{Principal: a.person().Principal, Admin: true}, api.JobSelect{Job: declared.Job}); err == nil {
					t.Fatalf("round %d, fault %d: %s still knows it", round, fault, w.nameOf(m.id))
				}
			}
		}
		a.until(a.submits(program(words("sleep", "1s"), w.nodes...)), api.JobSucceeded, time.Minute)
	})
}

// The ranks of a job that a person stops are ended once its requests have, or had their time;
// those that are killed, or fail, at once.
func TestRequestsEndBeforeTheRanks(t *testing.T) {
	for name, test := range map[string]struct {
		takes, ends time.Duration
		kill        bool
	}{
		"none":     {0, 0, false},
		"short":    {3 * time.Second, 3 * time.Second, false},
		"too long": {time.Hour, api.DrainRequests + drainMargin, false},
		"killed":   {time.Hour, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, 2, func(t *testing.T, w *world) {
				is := is.New(t)
				a := w.nodes[0]
				request := program(words("sleep", "1h"), w.nodes...)
				request.Deadlines.GraceS = new(0.0)
				id := a.submits(request)
				a.until(id, api.JobRunning, time.Minute)
				for _, m := range w.nodes {
					m.busy.Store(int64(test.takes))
				}
				is.NoErr(a.Stop(t.Context(), a.person(), api.JobStopParams{Job: id, Kill: test.kill}))
				if test.ends > 0 {
					pass(test.ends - 100*time.Millisecond)
					is.Equal(w.living(id), 2)
				}
				pass(time.Second)
				is.Equal(w.living(id), 0)
			})
		})
	}
}
