package event

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// id is the id of a key made of one byte.
func id(of byte) api.NodeID {
	return api.NodeIDFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{of}, ed25519.SeedSize)).Public().(ed25519.PublicKey))
}

func node(id api.NodeID, name string, liveness api.Liveness) api.NodeView {
	return api.NodeView{Node: id, ShortName: name, Liveness: liveness}
}

// scenario is two nodes that answer, with a good cable between them.
func scenario() Moment {
	one, two := id(1), id(2)
	link, err := api.NewLinkID(api.LinkEnd{Node: one, PortNumber: 1}, api.LinkEnd{Node: two, PortNumber: 3})
	if err != nil {
		panic(err)
	}
	return Moment{
		Nodes:  []api.NodeView{node(one, "studio", api.LivenessAlive), node(two, "mini", api.LivenessAlive)},
		Cables: []api.Cable{{Link: link, Ends: []api.CableEnd{{End: link.Low}, {End: link.High}}, Verdict: api.VerdictGood, RDMA: api.RDMACanEnable}},
	}
}

func condition(id api.NodeID, text string) api.NodeCondition {
	return api.NodeCondition{Node: id, Condition: api.Condition{Code: api.ReasonLinkTooSlow, Severity: api.SeverityWarning, Text: text}}
}

func theJob(phase api.JobPhase) Job {
	return Job{PublicName: "python3", JobSummary: api.JobSummary{
		Job: "j00000001", Name: "train", Principal: api.Principal{User: "anna", Node: id(1)}, Phase: phase, Message: "Because.", Reason: api.ReasonHomeLost,
	}}
}

func TestBetween(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(m *Moment)
		before func(m *Moment)
		want   []string
	}{
		{name: "nothing"},
		{name: "lost", change: func(m *Moment) { m.Nodes[1].Liveness = api.LivenessUnreachable }, want: []string{"node_lost error mini no longer answers."}},
		{name: "has just stopped answering", change: func(m *Moment) { m.Nodes[1].Liveness = api.LivenessSuspect }, want: []string{"node_lost error mini no longer answers."}},
		{name: "given up", before: func(m *Moment) { m.Nodes[1].Liveness = api.LivenessSuspect }, change: func(m *Moment) { m.Nodes[1].Liveness = api.LivenessUnreachable }},
		{name: "asleep", change: func(m *Moment) { m.Nodes[1].Liveness = api.LivenessAsleep }, want: []string{"node_lost warning mini went to sleep."}},
		{
			name: "back", before: func(m *Moment) { m.Nodes[1].Liveness = api.LivenessUnreachable },
			want: []string{"node_reached info mini is connected."},
		},
		{
			name: "joined", change: func(m *Moment) { m.Nodes = append(m.Nodes, node(id(3), "book", api.LivenessAlive)) },
			want: []string{"node_joined info book has joined the cluster."},
		},
		{name: "removed", change: func(m *Moment) { m.Nodes[1].Liveness = api.LivenessRemoved }, want: []string{"node_left warning mini was removed from the cluster."}},
		{
			name: "no longer listed", before: func(m *Moment) { m.Nodes[1].Liveness = api.LivenessRemoved }, change: func(m *Moment) { m.Nodes = m.Nodes[:1] },
		},
		{name: "pulled", change: func(m *Moment) { m.Cables = nil }, want: []string{"cable_pulled warning Cable pulled: mini:3 to studio:1."}},
		{name: "plugged", before: func(m *Moment) { m.Cables = nil }, want: []string{"cable_plugged info Cable plugged: mini:3 to studio:1."}},
		{
			name: "cables of Macs that are only known now", before: func(m *Moment) { m.Cables, m.Nodes = nil, nil },
			want: []string{"node_joined info studio has joined the cluster.", "node_joined info mini has joined the cluster."},
		},
		{
			name: "the other end is known now", before: func(m *Moment) {
				m.Cables = []api.Cable{{Ends: m.Cables[0].Ends[:1], PeerName: "Mini"}}
			},
		},
		{name: "slow", change: func(m *Moment) { m.Cables[0].Verdict = api.VerdictSlow }, want: []string{"cable_changed warning Cable mini:3 to studio:1 is slow."}},
		{name: "measured for the first time", before: func(m *Moment) { m.Cables[0].Verdict = api.VerdictUnknown }},
		{
			name: "slow as one end alone tells", change: func(m *Moment) { m.Cables[0].Verdict, m.Cables[0].Stale = api.VerdictSlow, true },
		},
		{name: "ready for RDMA", change: func(m *Moment) { m.Cables[0].RDMA = api.RDMAReady }, want: []string{"rdma_changed info RDMA over mini:3 to studio:1 is ready."}},
		{
			name: "a condition", change: func(m *Moment) { m.Conditions = []api.NodeCondition{condition(id(2), "It is hot.")} },
			want: []string{"condition_raised warning It is hot."},
		},
		{
			name: "a condition is over", before: func(m *Moment) { m.Conditions = []api.NodeCondition{condition(id(2), "It is hot.")} },
			want: []string{"condition_cleared info Resolved: It is hot."},
		},
		{
			name: "a condition of a node that is not reached any more", before: func(m *Moment) { m.Conditions = []api.NodeCondition{condition(id(2), "It is hot.")} },
			change: func(m *Moment) { m.Nodes[1].Liveness = api.LivenessUnreachable }, want: []string{"node_lost error mini no longer answers."},
		},
		{
			name: "a condition that both say", change: func(m *Moment) {
				m.Conditions = []api.NodeCondition{condition(id(1), "It is slow."), condition(id(2), "It is slow.")}
			},
			want: []string{"condition_raised warning It is slow."},
		},
		{
			name: "a condition that one still says", before: func(m *Moment) {
				m.Conditions = []api.NodeCondition{condition(id(1), "It is slow."), condition(id(2), "It is slow.")}
			},
			change: func(m *Moment) { m.Conditions = []api.NodeCondition{condition(id(1), "It is slow.")} },
		},
		{
			name: "a muted condition", change: func(m *Moment) {
				c := condition(id(2), "It is hot.")
				c.Muted = true
				m.Conditions = []api.NodeCondition{c}
			},
		},
		{name: "a job", change: func(m *Moment) { m.Jobs = []Job{theJob(api.JobQueued)} }, want: []string{"job_changed info python3 (j00000001) was submitted."}},
		{name: "a job that is on its way", before: func(m *Moment) { m.Jobs = []Job{theJob(api.JobQueued)} }, change: func(m *Moment) { m.Jobs = []Job{theJob(api.JobStarting)} }},
		{
			name: "a job that is already on its way", change: func(m *Moment) { m.Jobs = []Job{theJob(api.JobPlacing)} },
			want: []string{"job_changed info python3 (j00000001) was submitted."},
		},
		{name: "a job of another time", change: func(m *Moment) { m.Jobs = []Job{theJob(api.JobSucceeded)} }},
		{
			name: "a job that fails", before: func(m *Moment) { m.Jobs = []Job{theJob(api.JobRunning)} }, change: func(m *Moment) { m.Jobs = []Job{theJob(api.JobFailed)} },
			want: []string{"job_changed error python3 (j00000001) failed."},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			before, after := scenario(), scenario()
			if test.before != nil {
				test.before(&before)
			}
			if test.change != nil {
				test.change(&after)
			}
			var got []string
			for _, e := range Between(before, after.After(before)) {
				got = append(got, string(e.Kind)+" "+string(e.Severity)+" "+e.Text)
				is.True(e.Kind.Valid() && e.Severity.Valid())
			}
			is.Equal(got, test.want)
		})
	}
}

// What a job is called and why it failed is for whoever may act for its owner.
func TestForOwners(t *testing.T) {
	is := is.New(t)
	before, after := scenario(), scenario()
	after.Jobs = []Job{theJob(api.JobHomeLost)}
	all := Between(before, after)
	is.Equal(len(all), 1)
	own := all[0].For(func(p api.Principal) bool { return p.User == "anna" })
	is.Equal(own.Text, "train (j00000001) is in doubt: the Mac that leads it does not answer. Because.")
	is.Equal(own.Reason, api.ReasonHomeLost)
	others := all[0].For(func(api.Principal) bool { return false })
	is.Equal(others.Text, "python3 (j00000001) is in doubt: the Mac that leads it does not answer.")
	is.Equal(others.Reason, api.Reason(""))
}

// TestTheEndOfAJobIsSaidOnce: also where an older document of it comes back for a
// moment, by a home that was away.
func TestTheEndOfAJobIsSaidOnce(t *testing.T) {
	is := is.New(t)
	var reported []string
	last := scenario()
	for _, phase := range []api.JobPhase{api.JobRunning, api.JobStopped, api.JobEnding, api.JobStopped} {
		now := scenario()
		now.Jobs = []Job{theJob(phase)}
		now = now.After(last)
		for _, e := range Between(last, now) {
			reported = append(reported, e.Text)
		}
		last = now
	}
	is.Equal(reported, []string{"python3 (j00000001) runs.", "python3 (j00000001) was stopped."})
}
