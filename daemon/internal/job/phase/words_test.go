package phase

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Whatever ends a job, and with whatever words or none, its document names a Mac or a
// rank, and so does that of the attempt.
func TestNoEndWithoutAName(t *testing.T) {
	for _, row := range api.Reasons() {
		for _, text := range []string{"", "It is over."} {
			why := Cause{Reason: row.Reason, Message: text, Final: true}
			for name, end := range map[string]func(*rig){
				"rank": func(g *rig) {
					g.next(RankEnded{Attempt: 1, Rank: 1, Reason: why.Reason, Message: text, Final: true}).ended(0, nil)
				},
				"node": func(g *rig) { g.next(NodeLost{Node: nodeID(1), Cause: why}).ended(0, nil).ended(1, nil) },
				"link": func(g *rig) { g.next(LinkLost{1, why}).ended(0, nil).ended(1, nil) },
				"stop": func(g *rig) {
					g.next(StopAsked{By: api.Principal{User: "ada", Node: nodeID(1)}}).ended(0, nil).ended(1, nil)
				},
				"gone":  func(g *rig) { g.next(StopAsked{Reason: why.Reason}).ended(0, nil).ended(1, nil) },
				"lease": func(g *rig) { g.fire(TimerLease) },
			} {
				g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
				end(g) // every document is looked at by checkStep
				if !g.s.Job.Phase.Ended() {
					t.Fatalf("%s %s: %s", name, row.Reason, g.s.Job.Phase)
				}
			}
			g := newRig(t, rules())
			g.next(Unplaceable{Cause: why})
			is.New(t).True(strings.HasSuffix(g.s.Job.Message, "node0 keeps the job.") || text == "")
		}
	}
}

// A rank that does not go on is told while that is so, with its Mac; why a group is ended
// counts more.
func TestTroubleIsToldWhileItLasts(t *testing.T) {
	is := is.New(t)
	g := newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	stopped := Cause{Reason: api.ReasonRankStopped, Message: "Rank 1 on node1 is stopped."}
	at := RankAt{Attempt: 1, Rank: 1, Phase: api.RankRunning}
	troubled := at
	troubled.Trouble = stopped
	g.next(troubled)
	is.Equal(g.s.Job.Message, stopped.Message)
	is.Equal(g.s.Job.WaitingFor, "rank 1 on node1")
	g.next(at)
	is.Equal(g.s.Job.Message, "")
	is.Equal(g.s.Job.WaitingFor, "")
	g.next(troubled).ended(0, exit(3))
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
	g.next(troubled)
	is.Equal(g.s.Job.Reason, api.ReasonRankFailed)
	is.Equal(g.s.Job.WaitingFor, "rank 1 on node1")
	g.ended(1, &api.Exit{Signal: 9})
	is.Equal(g.s.Job.WaitingFor, "")

	g = newRig(t, rules()).started(api.BackendRing, nodeIDs(0, 1)...).next(troubled)
	is.Equal(g.s.Job.Message, "") // a job that starts waits for other things
	g.next(RankAt{Attempt: 1, Rank: 0, Phase: api.RankRunning}, troubled)
	is.Equal(g.s.Job.Message, stopped.Message)
	g.next(troubled)
	is.Equal(len(g.last), 0) // it is told
	worse := troubled
	worse.Trouble.Message = "Rank 1 on node1 is stopped, and hidden."
	is.Equal(g.next(worse).s.Job.Message, worse.Trouble.Message)
	other := troubled
	other.Rank, other.Trouble = 0, worse.Trouble
	g.next(other)
	is.Equal(g.s.Job.WaitingFor, "rank 0 on node0, rank 1 on node1")
	g.next(RankAt{Attempt: 1, Rank: 0, Phase: api.RankRunning}, at, at)
	is.Equal(len(g.last), 0) // all is well, and that is told
	g.next(NodeLost{Node: nodeID(1)}, at)
	is.Equal(g.s.Job.WaitingFor, "node node1")
	is.Equal(len(g.last), 0)
	g.next(troubled)
	is.Equal(g.s.Job.WaitingFor, "rank 1 on node1")
	is.Equal(g.s.Job.Message, "node1 no longer answers.")

	g = newRig(t, rules()).started(api.BackendJACCL, nodeIDs(0, 1)...).ranks(api.RankHandshake)
	troubled.Phase = api.RankHandshake
	is.Equal(g.next(troubled).s.Job.Message, stopped.Message)
}

// What names nobody is put beside a name: the rank that failed, who wanted it, the Macs of
// the ranks, or the one that keeps the job.
func TestWhomASentenceNames(t *testing.T) {
	plan, none := planOn(api.BackendRing, nodeIDs(1, 2, 1)...), api.Plan{}
	mac := api.NodeIDFromKey(make([]byte, 32))
	ada := &api.StopRequest{By: api.Principal{User: "ada", Node: mac}}
	linkGone, _ := api.LookupReason(api.ReasonLinkGone)
	for name, c := range map[string]struct {
		plan *api.Plan
		stop *api.StopRequest
		why  api.Reason
		text string
		rank int
		want string
	}{
		"the first rank":        {&plan, nil, api.ReasonRankFailed, "It is over.", 0, "Rank 0 on node1: it is over."},
		"the last rank":         {&plan, ada, api.ReasonRankFailed, "MLX is over.", 2, "Rank 2 on node1: MLX is over."},
		"an earlier rank":       {&plan, nil, api.ReasonRankFailed, "It is over.", 3, "It is over. Its ranks were placed on node1, node2."},
		"no rank":               {&plan, nil, api.ReasonLinkGone, "It is over.", -1, "It is over. Its ranks were placed on node1, node2."},
		"no rank was placed":    {&none, nil, api.ReasonLinkGone, "It is over.", -1, "It is over. node0 keeps the job."},
		"a plan is not kept":    {nil, nil, api.ReasonLinkGone, "It is over.", -1, "It is over. node0 keeps the job."},
		"who stopped it":        {&plan, ada, api.ReasonStoppedByPerson, "It is over.", -1, "ada on " + string(mac) + " stopped the job."},
		"who went":              {&plan, ada, api.ReasonClientGone, "It is over.", -1, "It is over. Its ranks were placed on node1, node2."},
		"nobody knows who":      {nil, &api.StopRequest{}, api.ReasonStoppedByPerson, "It is over.", -1, "It is over. node0 keeps the job."},
		"a reason of later on":  {nil, nil, "of_later_on", "", -1, "The job was ended. node0 keeps the job."},
		"no words but a reason": {nil, nil, api.ReasonLinkGone, "", -1, linkGone.Text + " node0 keeps the job."},
	} {
		m := &step{State: State{Self: nodeID(0), Job: api.Job{StopRequested: c.stop, Attempts: []api.Attempt{{Plan: c.plan}}}}}
		if c.plan != nil {
			m.setPlan(*c.plan)
		}
		if got := m.sentence(c.why, c.text, c.rank); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A rank is named by its number, a Mac by its name: those of the cluster and of the attempt.
func TestWhatIsAName(t *testing.T) {
	m := &step{State: State{Self: "mini", members: []api.NodeID{"studio", ""}, Nodes: []Node{{ID: "laptop"}}}}
	for text, want := range map[string]bool{
		"": false, "It is over.": false, "Every rank of it": false, "The last rank ": false, "rank /": false, "rank :": false,
		"of rank 0": true, "Rank 9 is": true, "on mini": true, "the studio": true, "a laptop": true, "a tower": false,
	} {
		if m.isNamed(text) != want {
			t.Errorf("%q", text)
		}
	}
}

// Who failed first is named in what is told of the attempt and of the job; but a job that
// was stopped names who wanted it.
func TestTheRankIsNamedInTheEnd(t *testing.T) {
	is := is.New(t)
	mac := api.NodeIDFromKey(make([]byte, 32))
	r := rules()
	r.Name = func(n api.NodeID) string { return strings.Replace(string(n), string(mac), "node7", 1) }
	g := newRig(t, r).started(api.BackendRing, nodeIDs(0, 1)...).ranks(api.RankRunning)
	g.next(RankEnded{Attempt: 1, Rank: 1, Exit: exit(3), Message: "It is over."})
	stopped := *g
	g.ended(0, nil)
	is.Equal(g.s.Job.Message, "Rank 1 on node1: it is over.")
	is.Equal(g.s.Job.Attempts[0].Message, "Rank 1 on node1: it is over.")
	stopped.next(StopAsked{By: api.Principal{User: "ada", Node: mac}}).ended(0, nil)
	is.Equal(stopped.s.Job.Message, "ada on node7 stopped the job.")
	is.Equal(stopped.s.Job.Attempts[0].Message, "Rank 1 on node1: it is over.")
}
