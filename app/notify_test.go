package app

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// told feeds states that follow each other at some seconds and gives the titles
// of what is told at each.
func told(n *Notifier, at time.Duration, change func(*State)) []string {
	s := healthy()
	s.Now = now.Add(at)
	if change != nil {
		change(&s)
	}
	tell, _ := n.See(s)
	var titles []string
	for _, t := range tell {
		titles = append(titles, t.Title)
	}
	return titles
}

func lost(s *State) {
	s.Nodes[1].Liveness, s.Nodes[1].Message = api.LivenessUnreachable, "No path answers."
}

func TestFlapIsNoNews(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	is.Equal(told(n, 0, nil), nil)
	for i := range 20 {
		is.Equal(told(n, time.Duration(i)*2*time.Second, lost), nil)
		is.Equal(told(n, time.Duration(i)*2*time.Second+time.Second, nil), nil)
	}
}

func TestLossIsToldOnceAndSoIsTheReturn(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	told(n, 0, nil)
	s := healthy()
	lost(&s)
	tell, due := n.See(s)
	is.Equal(len(tell), 0)
	is.Equal(due, now.Add(settles)) // to be asked again, though nothing changes
	is.Equal(told(n, settles, lost), []string{"studio-2 is not reached"})
	is.Equal(told(n, 2*settles, lost), nil)
	is.Equal(told(n, 3*settles, nil), []string{"studio-2 is back"})
	is.Equal(told(n, 4*settles, nil), nil)
}

func TestWhatWasSoBeforeIsNoNews(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	before := func(s *State) {
		lost(s)
		s.Conditions = states()["bridge_loop"].Conditions
		s.Pending = states()["pairing_request"].Pending
		s.Jobs = states()["job_ended"].Jobs
	}
	is.Equal(told(n, 0, before), nil)
	is.Equal(told(n, time.Hour, before), nil)
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
			is.Equal(told(n, 0, with(api.JobRunning, nil)), nil)
			is.Equal(told(n, time.Second, test.end), test.want)
			is.Equal(told(n, 2*time.Second, test.end), nil)
		})
	}
	t.Run("shorter than a look", func(t *testing.T) {
		is, n := is.New(t), &Notifier{}
		told(n, 0, nil)
		is.Equal(told(n, time.Second, with(api.JobSucceeded, nil)), []string{"train.py is done"})
	})
}

func TestLongWaitIsToldOnce(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	waits := func(s *State) {
		j := job(1, "train.py", api.JobPlacing)
		j.SubmittedAt = api.TimeOf(now)
		s.Jobs = []api.JobSummary{j}
	}
	told(n, 0, waits)
	is.Equal(told(n, patience-time.Second, waits), nil)
	is.Equal(told(n, patience, waits), []string{"train.py has waited for 10 min"})
	is.Equal(told(n, 2*patience, waits), nil)
}

func TestErrorsThatLastAreTold(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	loop := func(s *State) { s.Conditions = states()["bridge_loop"].Conditions }
	told(n, 0, nil)
	is.Equal(told(n, time.Second, loop), nil)
	is.Equal(len(told(n, time.Second+settles, loop)), 1) // the cause, not what follows from it
	is.Equal(told(n, 3*settles, loop), nil)
	warning := func(s *State) { s.Conditions = states()["builds_differ"].Conditions }
	is.Equal(told(n, 4*settles, warning), nil)
	is.Equal(told(n, 6*settles, warning), nil) // the icon is enough
}

func TestAskingMacIsTold(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	asks := func(s *State) { s.Pending = states()["pairing_request"].Pending[:1] }
	told(n, 0, nil)
	is.Equal(len(told(n, time.Second, asks)), 1)
	is.Equal(told(n, 2*time.Second, asks), nil)
}

func TestDaemonAwayTellsNothing(t *testing.T) {
	is, n := is.New(t), &Notifier{}
	told(n, 0, nil)
	is.Equal(told(n, time.Second, func(s *State) { s.Daemon, s.Nodes = DaemonGone, nil }), nil)
	is.Equal(told(n, time.Minute, nil), nil)
}
