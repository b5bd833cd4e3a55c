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
		r.scenario.Cut(r.nodes[0], r.nodes[1])
		r.begin(api.RankRunning)
		is.Equal(r.give(0, "typed", true), api.Reason(""))
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(r.program(1, 0).input, "")
		r.scenario.Join(r.nodes[0], r.nodes[1])
		time.Sleep(time.Minute)
		is.Equal(r.program(1, 0).input, "typed")
		is.True(r.program(1, 0).over)
	})
}

// What a rank's node refuses for good is said to whoever gives, and the job's home is told
// of input that is lost; what may pass is tried again.
func TestARankThatRefusesInput(t *testing.T) {
	for _, c := range []struct {
		reason api.Reason
		want   api.Reason // of what is given after
		lost   int
	}{
		{api.ReasonInputLost, api.ReasonInputLost, 1},
		{api.ReasonInputElsewhere, api.ReasonInputElsewhere, 0},
		{api.ReasonNoSuchRank, "", 0},
		{api.ReasonUnreachable, "", 0},
	} {
		t.Run(string(c.reason), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				is := is.New(t)
				r.begin(api.RankPreparing)
				r.far[1].do(ref(1, 0), func(p *program) { p.refuses = api.NewError(c.reason, "") })
				is.Equal(r.give(0, "one ", false), api.Reason(""))
				r.rank(1, 0, api.RankRunning)
				synctest.Wait()
				is.Equal(r.give(4, "two", false), c.want)
				is.Equal(len(r.lost), c.lost)
				if c.want == "" {
					r.far[1].do(ref(1, 0), func(p *program) { p.refuses = nil })
					time.Sleep(time.Minute)
					is.Equal(r.program(1, 0).input, "one two")
				}
			})
		})
	}
	inBubble(t, func(t *testing.T, r *rig) { // of anything else the feed ends: it begins anew with what is given next
		is := is.New(t)
		given := r.waits()
		r.end(api.JobBackoff)
		r.plan()
		r.far[1].add(ref(2, 0))
		r.far[1].do(ref(2, 0), func(p *program) { p.refuses = api.NewError(api.ReasonNotYourJob, string(jobID)) })
		r.put()
		r.rank(2, 0, api.RankRunning)
		synctest.Wait()
		is.Equal(len(given), 1)
		is.Equal(<-given, api.ReasonNotYourJob)
	})
}

// What a node says of a rank is told with its name, and is the end of what comes of that
// rank; that it does not answer is told each time, and is not.
func TestANodeThatRefusesToShow(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		r.far[1].do(ref(1, 0), func(p *program) { p.refuses = api.Errorf(api.ReasonNotYourJob, "", "Not for you.") })
		r.scenario.Cut(r.nodes[0], r.nodes[2])
		o := r.logs(api.JobLogsParams{Follow: true})
		var reported []string
		got := map[string]string{}
		terminal := make(chan bool, 1)
		go func() {
			for {
				p, err := o.Next(t.Context())
				if err != nil || p.Terminal {
					terminal <- p.Terminal
					return
				}
				if p.Notice != nil && p.Rank == 0 {
					reported = append(reported, p.Notice.Message)
				}
				take(got, p)
			}
		}()
		synctest.Wait()
		r.scenario.Join(r.nodes[0], r.nodes[2])
		r.far[2].print(ref(1, 1), api.StreamErr, "one ")
		time.Sleep(10 * time.Second)
		r.scenario.Cut(r.nodes[0], r.nodes[2])
		time.Sleep(10 * time.Second)
		r.scenario.Join(r.nodes[0], r.nodes[2])
		r.far[2].print(ref(1, 1), api.StreamErr, "two")
		time.Sleep(10 * time.Second)
		r.end(api.JobSucceeded)
		is.True(<-terminal)
		is.Equal(reported, []string{"mac-1: Not for you."})
		is.Equal(got["1/1"], "output_waits output_waits ")
		is.Equal(got["1/1/err"], "one two") // and nothing of it twice
	})
}

// Of an attempt whose plan is not kept any more nobody knows which ranks it had.
func TestRanksOfAnAttemptWithoutPlan(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		r.end(api.JobBackoff)
		r.job.Attempts[0].Plan = nil
		r.plan()
		r.put()
		got := map[string]string{}
		is.True(r.readAll(r.logs(api.JobLogsParams{Attempt: 1, Ranks: []int{7}}), got))
		_, err := r.attach.Logs(t.Context(), r.ada, api.JobLogsParams{Job: jobID, Ranks: []int{7}})
		is.Equal(api.AsError(err).Data.Reason, api.ReasonNoSuchRank)
	})
}
