package attach_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestFollowingAJobOverItsAttempts(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		o := r.logs(api.JobLogsParams{Follow: true}) // before there is an attempt
		got := map[string]string{}
		terminal := make(chan bool, 1)
		go func() { terminal <- r.readAll(o, got) }()

		r.begin(api.RankPreparing)
		r.far[1].print(ref(1, 0), api.StreamOut, "zero ")
		r.rank(1, 0, api.RankRunning)
		r.rank(1, 1, api.RankRunning)
		synctest.Wait()
		r.far[2].print(ref(1, 1), api.StreamErr, "one ")
		r.far[1].print(ref(1, 0), api.StreamOut, strings.Repeat("x", 200_000))
		synctest.Wait()
		r.end(api.JobBackoff)
		synctest.Wait()
		is.Equal(len(terminal), 0) // the job lives
		r.begin(api.RankRunning)
		r.far[2].print(ref(2, 1), api.StreamOut, "again")
		r.end(api.JobSucceeded)
		is.True(<-terminal)
		is.Equal(got, map[string]string{"1/0/out": "zero " + strings.Repeat("x", 200_000), "1/1/err": "one ", "2/1/out": "again"})
		is.Equal(len(r.whole), 4) // two ranks of two attempts
		_, err := o.Next(t.Context())
		is.True(errors.Is(err, io.EOF)) // exactly one
	})
}

// What prepares a rank is there before its program is, and is no output.
func TestLookingAtAPreparation(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankPreparing)
		r.far[1].print(ref(1, 0), api.StreamOut, "output")
		got := map[string]string{}
		is.True(r.readAll(r.logs(api.JobLogsParams{Prepare: true, Ranks: []int{0}}), got))
		is.Equal(got, map[string]string{"1/0/err": "what prepares j4k2m9xq7/1/0"})
		got = map[string]string{}
		is.True(r.readAll(r.logs(api.JobLogsParams{Ranks: []int{0}}), got))
		is.Equal(len(got), 0)
	})
}

func TestLookingAtAJob(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		got := map[string]string{}
		is.True(r.readAll(r.logs(api.JobLogsParams{}), got)) // there is no attempt
		r.begin(api.RankRunning)
		r.far[1].print(ref(1, 0), api.StreamOut, "first of zero")
		r.far[2].print(ref(1, 1), api.StreamOut, "first of one")
		r.end(api.JobBackoff)
		r.begin(api.RankRunning)
		r.far[1].print(ref(2, 0), api.StreamOut, "second")

		is.True(r.readAll(r.logs(api.JobLogsParams{}), got)) // runs, and does not keep the reader
		is.Equal(got, map[string]string{"2/0/out": "second"})
		got = map[string]string{}
		is.True(r.readAll(r.logs(api.JobLogsParams{Attempt: 1, Ranks: []int{1}, TailBytes: 3}), got))
		is.Equal(got, map[string]string{"1/1/out": "one"})
		got = map[string]string{}
		o := r.logs(api.JobLogsParams{Attempt: 1, Follow: true, TailBytes: 2})
		go func() { r.end(api.JobFailed) }()
		is.True(r.readAll(o, got))
		is.Equal(got, map[string]string{"1/0/out": "ro", "1/1/out": "ne", "2/0/out": "nd"})
	})
}

// TestAJobThatEndedBeforeItsRanksWereHeardOf has the job's document come before
// those of its ranks, which other nodes write.
func TestAJobThatEndedBeforeItsRanksWereHeardOf(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.plan()
		r.far[1].add(ref(1, 0)) // and the other one was given up before it ran
		r.far[1].print(ref(1, 0), api.StreamOut, "short")
		r.far[1].end(ref(1, 0))
		r.job.Attempts[0].EndedAt, r.job.Phase = api.TimeOf(time.Now()), api.JobFailed
		r.put()
		got := map[string]string{}
		is.True(r.readAll(r.logs(api.JobLogsParams{Follow: true}), got))
		is.Equal(got, map[string]string{"1/0/out": "short"})
	})
}

func TestANodeThatComesBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		o := r.logs(api.JobLogsParams{Follow: true, Ranks: []int{1}})
		got := map[string]string{}
		terminal := make(chan bool, 1)
		go func() { terminal <- r.readAll(o, got) }()
		r.far[2].print(ref(1, 1), api.StreamOut, "before ")
		synctest.Wait()
		is.Equal(got["1/1/out"], "before ")

		r.scenario.Cut(r.nodes[0], r.nodes[2])
		r.far[2].print(ref(1, 1), api.StreamOut, "meanwhile ")
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(got["1/1"], "output_waits ") // once
		r.scenario.Join(r.nodes[0], r.nodes[2])
		time.Sleep(30 * time.Second)
		r.far[2].print(ref(1, 1), api.StreamOut, "after")
		r.end(api.JobSucceeded)
		is.True(<-terminal)
		is.Equal(got["1/1/out"], "before meanwhile after") // nothing twice, nothing lost
	})
}

func TestANodeThatStaysAway(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		o := r.logs(api.JobLogsParams{Follow: true})
		got := map[string]string{}
		terminal := make(chan bool, 1)
		go func() { terminal <- r.readAll(o, got) }()
		r.far[1].print(ref(1, 0), api.StreamOut, "alive")
		r.far[2].print(ref(1, 1), api.StreamOut, "alive")
		synctest.Wait()
		r.scenario.Cut(r.nodes[0], r.nodes[2])
		r.far[1].end(ref(1, 0))
		r.job.Phase, r.job.Attempts[0].EndedAt = api.JobFailed, api.TimeOf(time.Now())
		r.put()
		began := time.Now()
		is.True(<-terminal) // a node that is gone keeps nobody for long
		is.True(time.Since(began) < 80*time.Second)
		is.Equal(got["1/0/out"], "alive")
		is.Equal(got["1/1"], "output_waits output_unreachable ")
		is.Equal(r.whole, []api.RankRef{ref(1, 0)})
	})
}

// TestTheRestAfterAnAbsence has a node come back after the job's end: whoever follows
// is given the rest, and nothing says that any is missing.
func TestTheRestAfterAnAbsence(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		o := r.logs(api.JobLogsParams{Follow: true})
		got := map[string]string{}
		terminal := make(chan bool, 1)
		go func() { terminal <- r.readAll(o, got) }()
		r.far[2].print(ref(1, 1), api.StreamOut, "before ")
		synctest.Wait()
		r.scenario.Cut(r.nodes[0], r.nodes[2])
		r.far[2].print(ref(1, 1), api.StreamOut, "the rest")
		r.end(api.JobSucceeded)
		time.Sleep(40 * time.Second)
		r.scenario.Join(r.nodes[0], r.nodes[2])
		joined := time.Now()
		is.True(<-terminal)
		is.True(time.Since(joined) <= 2*time.Second)
		is.Equal(got["1/1/out"], "before the rest")
		is.Equal(got["1/1"], "output_waits ")
		is.Equal(len(r.whole), 2)
	})
}

// TestADeletedJobIsNotTriedAnyMore: what it printed is gone with it.
func TestADeletedJobIsNotTriedAnyMore(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		o := r.logs(api.JobLogsParams{Follow: true, Ranks: []int{1}})
		got := map[string]string{}
		terminal := make(chan bool, 1)
		go func() { terminal <- r.readAll(o, got) }()
		synctest.Wait()
		r.scenario.Cut(r.nodes[0], r.nodes[2])
		r.end(api.JobSucceeded)
		time.Sleep(8 * time.Second)
		synctest.Wait()
		is.Equal(len(terminal), 0)
		deleted := time.Now()
		is.NoErr(r.docs[0].Delete(api.KindJob, string(jobID)))
		is.True(<-terminal)
		is.True(time.Since(deleted) <= 10*time.Second)
		is.Equal(got["1/1"], "output_waits output_unreachable ")
	})
}

// TestAnOldDocumentOfARank is that of a daemon that was killed and is back about when
// the job ends: what it has of a rank is from before the rank ran.
func TestAnOldDocumentOfARank(t *testing.T) {
	for name, phase := range map[string]api.RankPhase{"granted": api.RankGranted, "preparing": api.RankPreparing} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				is := is.New(t)
				r.plan()
				for rank := range 2 {
					r.far[rank+1].add(ref(1, rank))
					r.rank(1, rank, phase)
					r.far[rank+1].print(ref(1, rank), api.StreamOut, "all of it")
					r.far[rank+1].end(ref(1, rank))
				}
				r.job.Attempts[0].EndedAt, r.job.Phase = api.TimeOf(time.Now()), api.JobSucceeded
				r.put()
				r.scenario.Cut(r.nodes[0], r.nodes[2]) // and not everybody is found again at once
				o := r.logs(api.JobLogsParams{Follow: true})
				time.AfterFunc(3*time.Second, func() { r.scenario.Join(r.nodes[0], r.nodes[2]) })
				got := map[string]string{}
				is.True(r.readAll(o, got))
				is.Equal(got["1/0/out"], "all of it")
				is.Equal(got["1/1/out"], "all of it")
				is.Equal(len(r.whole), 2)
			})
		})
	}
}

// TestANodeThatDoesNotKnowItsRankYet was restarted itself: a rank that ran is asked
// for again.
func TestANodeThatDoesNotKnowItsRankYet(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.plan()
		code := 0
		r.publish(1, api.KindRank, ref(1, 0).String(), api.Rank{Job: jobID, Attempt: 1, Epoch: 1, Phase: api.RankExited, Exit: &api.Exit{Code: &code}})
		r.job.Attempts[0].EndedAt, r.job.Phase = api.TimeOf(time.Now()), api.JobSucceeded
		r.put()
		time.AfterFunc(3*time.Second, func() {
			r.far[1].add(ref(1, 0))
			r.far[1].print(ref(1, 0), api.StreamOut, "all of it")
			r.far[1].end(ref(1, 0))
		})
		got := map[string]string{}
		is.True(r.readAll(r.logs(api.JobLogsParams{Follow: true, Ranks: []int{0}}), got))
		is.Equal(got, map[string]string{"1/0/out": "all of it"})
	})
}

// TestASilentNode holds a connection open and says nothing, not even that it is
// there, as behind a cable that was pulled.
func TestASilentNode(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		o := r.logs(api.JobLogsParams{Follow: true, Ranks: []int{0}})
		got := map[string]string{}
		terminal := make(chan bool, 1)
		go func() { terminal <- r.readAll(o, got) }()
		synctest.Wait()
		time.Sleep(16 * time.Second) // the machine of this test beats not at all
		synctest.Wait()
		is.Equal(got["1/0"], "output_waits ")
		r.far[1].print(ref(1, 0), api.StreamOut, "there")
		r.end(api.JobSucceeded)
		is.True(<-terminal)
		is.Equal(got["1/0/out"], "there")
	})
}

func TestASlowClientHoldsUpOnlyItself(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		slow := r.logs(api.JobLogsParams{Follow: true})
		r.far[1].print(ref(1, 0), api.StreamOut, strings.Repeat("y", 1<<20))
		fast, got := r.logs(api.JobLogsParams{Follow: true}), map[string]string{}
		r.end(api.JobSucceeded)
		is.True(r.readAll(fast, got))
		is.Equal(len(got["1/0/out"]), 1<<20)
		time.Sleep(time.Hour) // the end of the job gives the ranks' nodes little time, and the client all he wants
		synctest.Wait()
		got = map[string]string{}
		is.True(r.readAll(slow, got))
		is.Equal(len(got["1/0/out"]), 1<<20)
	})
}

func TestWhoMaySeeWhat(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		reason := func(by api.Principal, p api.JobLogsParams) api.Reason {
			o, err := r.attach.Logs(t.Context(), by, p)
			if err != nil {
				return api.AsError(err).Data.Reason
			}
			o.Close()
			return ""
		}
		eve, root := api.Principal{User: "eve", Node: r.nodes[0]}, api.Principal{User: "root", Node: r.nodes[0]}
		is.Equal(reason(r.ada, api.JobLogsParams{Job: jobID}), api.Reason(""))
		is.Equal(reason(root, api.JobLogsParams{Job: jobID}), api.Reason(""))
		is.Equal(reason(eve, api.JobLogsParams{Job: jobID}), api.ReasonNotYourJob)
		is.Equal(reason(r.ada, api.JobLogsParams{Job: "j00000000"}), api.ReasonNoSuchJob)
		is.Equal(reason(r.ada, api.JobLogsParams{Job: jobID, Attempt: 2}), api.ReasonNoSuchRank)
		is.Equal(reason(r.ada, api.JobLogsParams{Job: jobID, Ranks: []int{2}}), api.ReasonNoSuchRank)
	})
}

func TestAReaderThatLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		o := r.logs(api.JobLogsParams{Follow: true})
		synctest.Wait()
		o.Close()
		synctest.Wait()
		_, err := o.Next(t.Context())
		is.True(err != nil && !errors.Is(err, io.EOF)) // it has not ended, he has left
	})
}
