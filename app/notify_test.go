package app

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// reported feeds states that follow each other at some seconds and gives the titles
// of what is told at each.
func reported(n *Notifier, at time.Duration, change func(*State)) []string {
	s := healthy()
	s.Now = now.Add(at)
	if change != nil {
		change(&s)
	}
	notify, _ := n.See(s)
	var titles []string
	for _, t := range notify {
		titles = append(titles, t.Title)
	}
	return titles
}

func lost(s *State) {
	s.Nodes[1].Liveness, s.Nodes[1].Message = api.LivenessUnreachable, "No path answers."
}

func TestFlapIsNoNews(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	is.Equal(reported(n, 0, nil), nil)
	for i := range 20 {
		is.Equal(reported(n, time.Duration(i)*2*time.Second, lost), nil)
		is.Equal(reported(n, time.Duration(i)*2*time.Second+time.Second, nil), nil)
	}
}

func TestLossIsToldOnceAndSoIsTheReturn(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	reported(n, 0, nil)
	s := healthy()
	lost(&s)
	notify, due := n.See(s)
	is.Equal(len(notify), 0)
	is.Equal(due, now.Add(settles)) // to be asked again, though nothing changes
	is.Equal(reported(n, settles, lost), []string{"studio-2 cannot be reached"})
	is.Equal(reported(n, 2*settles, lost), nil)
	is.Equal(reported(n, 3*settles, nil), []string{"studio-2 is back"})
	is.Equal(reported(n, 4*settles, nil), nil)
}

func TestWhatWasSoBeforeIsNoNews(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	before := func(s *State) {
		lost(s)
		s.Conditions = states()["bridge_loop"].Conditions
		s.Pending = states()["pairing_request"].Pending
		s.Jobs = states()["job_ended"].Jobs
	}
	is.Equal(reported(n, 0, before), nil)
	is.Equal(reported(n, time.Hour, before), nil)
}

func TestEndsOfOnesOwnJobsAreTold(t *testing.T) {
	with := func(phase api.JobPhase, change func(*api.JobSummary)) func(*State) {
		return func(s *State) {
			j := job(1, "train.py", phase)
			if phase.Ended() {
				j.EndedAt = ago(0)
			}
			if change != nil {
				change(&j)
			}
			s.Jobs = []api.JobSummary{j}
		}
	}
	for name, test := range map[string]struct {
		end  func(*State)
		want []string
	}{
		"done":              {with(api.JobSucceeded, nil), []string{"train.py is done"}},
		"failed":            {with(api.JobFailed, nil), []string{"train.py failed"}},
		"stopped by itself": {with(api.JobStopped, func(j *api.JobSummary) { j.Reason = api.ReasonClientGone }), []string{"train.py was stopped"}},
		"stopped by me":     {with(api.JobStopped, func(j *api.JobSummary) { j.Reason = api.ReasonStoppedByPerson }), nil},
		"another's":         {with(api.JobFailed, func(j *api.JobSummary) { j.Mine = false }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			is, n := is.New(t), &Notifier{}
			is.Equal(reported(n, 0, with(api.JobRunning, nil)), nil)
			is.Equal(reported(n, time.Second, test.end), test.want)
			is.Equal(reported(n, 2*time.Second, test.end), nil)
		})
	}
	t.Run("shorter than a look", func(t *testing.T) {
		is, n := is.New(t), &Notifier{}
		reported(n, 0, nil)
		is.Equal(reported(n, time.Second, with(api.JobSucceeded, nil)), []string{"train.py is done"})
	})
}

func TestLongWaitIsToldOnce(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	waits := func(s *State) {
		j := job(1, "train.py", api.JobPlacing)
		j.SubmittedAt = api.TimeOf(now)
		s.Jobs = []api.JobSummary{j}
	}
	reported(n, 0, waits)
	is.Equal(reported(n, longWait-time.Second, waits), nil)
	is.Equal(reported(n, longWait, waits), []string{"train.py has waited for 10 min"})
	is.Equal(reported(n, 2*longWait, waits), nil)
}

func TestErrorsThatLastAreTold(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	loop := func(s *State) { s.Conditions = states()["bridge_loop"].Conditions }
	reported(n, 0, nil)
	is.Equal(reported(n, time.Second, loop), nil)
	is.Equal(len(reported(n, time.Second+settles, loop)), 1) // the cause, not what follows from it
	is.Equal(reported(n, 3*settles, loop), nil)
	warning := func(s *State) { s.Conditions = states()["builds_differ"].Conditions }
	is.Equal(reported(n, 4*settles, warning), nil)
	is.Equal(reported(n, 6*settles, warning), nil) // the icon is enough
}

func TestAskingMacIsTold(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	asks := func(s *State) { s.Pending = states()["pairing_request"].Pending[:1] }
	reported(n, 0, nil)
	is.Equal(len(reported(n, time.Second, asks)), 1)
	is.Equal(reported(n, 2*time.Second, asks), nil)
}

func TestDaemonAwayTellsNothing(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	reported(n, 0, nil)
	is.Equal(reported(n, time.Second, func(s *State) { s.Daemon, s.Nodes = DaemonGone, nil }), nil)
	is.Equal(reported(n, time.Minute, nil), nil)
}
