package health

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// four are four Macs with a cable between each two, all well, changed.
func four(change func(*Seen)) Seen {
	var s Seen
	for i, name := range []string{"ada", "bob", "cyd", "dan"} {
		s.Nodes = append(s.Nodes, api.NodeView{Node: api.NodeIDFromKey([]byte{byte(i)}), ShortName: name, Self: i == 0, Liveness: api.LivenessAlive})
	}
	for i, a := range s.Nodes {
		for _, b := range s.Nodes[i+1:] {
			s.Cables = append(s.Cables, api.Cable{Ends: []api.CableEnd{{End: api.LinkEnd{Node: a.Node, PortNumber: api.PortNumber(1 + len(s.Cables))}},
				{End: api.LinkEnd{Node: b.Node, PortNumber: api.PortNumber(1 + len(s.Cables))}}}, Verdict: api.VerdictGood, RDMA: api.RDMAReady})
			c := &s.Cables[len(s.Cables)-1]
			c.Link, _ = api.NewLinkID(c.Ends[0].End, c.Ends[1].End)
		}
	}
	change(&s)
	return s
}

// report has a node say what is wrong.
func (s *Seen) report(node int, code api.Reason, severity api.Severity, subject, text string) *api.NodeCondition {
	s.Reported = append(s.Reported, api.NodeCondition{Node: s.Nodes[node].Node, Condition: api.Condition{Code: code, Severity: severity, Subject: subject, Text: text,
		Remedy: "Do something about it.", Action: command("Show the Macs", "fulmen peers"), Since: api.TimeOf(time.Unix(int64(len(s.Reported)), 0))}})
	return &s.Reported[len(s.Reported)-1]
}

// down has a node not answer.
func (s *Seen) down(node int) {
	n := &s.Nodes[node]
	n.Liveness, n.Reason, n.Message, n.Since = api.LivenessUnreachable, api.ReasonUnreachable, "The node does not answer on any path.", api.TimeOf(time.Unix(5, 0))
}

// rdma gives the first cables another readiness.
func (s *Seen) rdma(n int, verdict api.RDMAVerdict) {
	for i := range s.Cables[:n] {
		s.Cables[i].RDMA = verdict
	}
}

// The headline of clusters of every sort; the file has them for the tests of page, menu and
// command line, which say the same.
func TestHeadline(t *testing.T) {
	is := is.New(t)
	type headline struct {
		Name string `json:"name"`
		api.NodeConditionsResult
	}
	var all []headline
	for _, test := range []struct {
		name, text string
		problems   int
		worst      api.Reason
		change     func(*Seen)
	}{
		{"all is well", "Healthy: 4 Macs, 6 of 6 cables at full speed, RDMA ready", 0, "", func(*Seen) {}},
		{"RDMA on some", "Healthy: 4 Macs, 6 of 6 cables at full speed, RDMA ready on 2 of 6 cables", 0, "", func(s *Seen) { s.rdma(4, api.RDMACanEnable) }},
		{"RDMA can be enabled on some", "Healthy: 4 Macs, 6 of 6 cables at full speed, RDMA can be enabled on 4 of 6 cables", 0, "", func(s *Seen) {
			s.rdma(6, api.RDMACanEnable)
			s.rdma(2, api.RDMANeedsPerson)
		}},
		{"RDMA needs a person", "Healthy: 4 Macs, 6 of 6 cables at full speed, RDMA needs a person", 0, "", func(s *Seen) { s.rdma(6, api.RDMANeedsPerson) }},
		{"no RDMA", "Healthy: 4 Macs, 6 of 6 cables at full speed, no RDMA on these Macs", 0, "", func(s *Seen) { s.rdma(6, api.RDMACannot) }},
		{"RDMA is not known", "Healthy: 4 Macs, 6 of 6 cables at full speed, RDMA unknown", 0, "", func(s *Seen) {
			s.rdma(6, api.RDMAUnknown)
			s.rdma(5, api.RDMACannot)
		}},
		{"not all at full speed", "Healthy: 4 Macs, 4 of 6 cables at full speed, 1 unknown, RDMA ready", 0, "", func(s *Seen) {
			s.Cables[0].Verdict, s.Cables[1].Verdict = api.VerdictSlow, api.VerdictUnknown
		}},
		{"one cable", "Healthy: 2 Macs, 1 of 1 cable at full speed, RDMA ready", 0, "", func(s *Seen) { s.Nodes, s.Cables = s.Nodes[:2], s.Cables[:1] }},
		{"cables of others", "Healthy: 2 Macs, no Thunderbolt cables", 0, "", func(s *Seen) {
			s.Nodes[2].Liveness, s.Nodes[3].Liveness, s.Cables = api.LivenessRemoved, api.LivenessLeft, s.Cables[1:]
			s.Cables[0].Ends = s.Cables[0].Ends[:1]
			s.Cables = append(s.Cables, api.Cable{Ends: []api.CableEnd{s.Cables[1].Ends[0], s.Cables[1].Ends[0]}})
		}},
		{"alone", "Healthy: this Mac alone", 0, "", func(s *Seen) { s.Nodes, s.Cables = s.Nodes[:1], nil }},
		{"alone on Linux", "Healthy: this machine alone", 0, "", func(s *Seen) { s.Nodes, s.Cables, s.NotMacs = s.Nodes[:1], nil, true }},
		{"on Linux", "Healthy: 4 machines, no Thunderbolt cables", 0, "", func(s *Seen) { s.Cables, s.NotMacs = nil, true }},
		{"asleep by choice", "Healthy: 3 of 4 Macs connected, 6 of 6 cables at full speed, RDMA ready", 0, "", func(s *Seen) { s.Nodes[1].Liveness = api.LivenessAsleep }},
		{"simulated", "Healthy: 4 Macs, 6 of 6 cables at full speed, RDMA ready (SIMULATED)", 0, "", func(s *Seen) { s.Nodes[3].Simulated = true }},
		{"muted, or only to be known", "Healthy: 4 Macs, 6 of 6 cables at full speed, RDMA ready", 0, "", func(s *Seen) {
			s.report(0, api.ReasonLinkFlapping, api.SeverityError, s.Cables[0].Ends[0].End.String(), "It flaps.").Muted = true
			s.report(1, api.ReasonNeedsRestart, api.SeverityInfo, "", "A change waits.")
		}},
		{"the worst", "cyd: The disk is full.", 2, api.ReasonDiskFull, func(s *Seen) {
			s.report(0, api.ReasonLowPowerMode, api.SeverityWarning, "", "ada is slow.")
			s.report(2, api.ReasonDiskFull, api.SeverityError, "", "The disk is full.")
		}},
		{"its name in the text", "The clock of bob is 2m ahead. (SIMULATED)", 1, api.ReasonClockSkew, func(s *Seen) {
			s.report(1, api.ReasonClockSkew, api.SeverityWarning, "", "The clock of bob is 2m ahead.")
			s.Nodes[0].Simulated = true
		}},
		{"alone and not well", "The disk is full.", 1, api.ReasonDiskFull, func(s *Seen) {
			s.Nodes, s.Cables = s.Nodes[:1], nil
			s.report(0, api.ReasonDiskFull, api.SeverityError, "", "The disk is full.")
		}},
		{"both ends of a cable, and of another", "ada: The link is down.", 2, api.ReasonLinkDown, func(s *Seen) {
			for _, cable := range []int{5, 0} {
				for _, end := range s.Cables[cable].Ends {
					for node, n := range s.Nodes {
						if n.Node == end.End.Node {
							s.report(node, api.ReasonLinkDown, api.SeverityWarning, end.End.String(), "The link is down.")
						}
					}
				}
			}
		}},
		{"the cable's name", "The link is slower: the cable between ada:1 and bob:2.", 1, api.ReasonLinkBelowHistory, func(s *Seen) {
			s.report(1, api.ReasonLinkBelowHistory, api.SeverityWarning, s.Cables[0].Link.String(), "The link is slower: the cable between ada:1 and bob:2.")
			s.report(0, api.ReasonLinkBelowHistory, api.SeverityWarning, s.Cables[0].Link.String(), "The link is slower: the cable between bob:2 and ada:1.")
		}},
		{"one does not answer", "dan does not answer on any path.", 2, api.ReasonUnreachable, func(s *Seen) {
			s.report(0, api.ReasonDiskFull, api.SeverityError, "", "The disk is full.")
			s.down(3)
		}},
		{"two do not answer", "2 of 4 Macs do not answer: bob, dan.", 2, api.ReasonUnreachable, func(s *Seen) {
			s.down(1)
			s.down(3)
		}},
		{"long", "bob: " + strings.Repeat("ä", 282) + "… (SIMULATED)", 1, api.ReasonConfigInvalid, func(s *Seen) {
			s.report(1, api.ReasonConfigInvalid, api.SeverityWarning, "", strings.Repeat("ä", 400))
			s.Nodes[0].Simulated = true
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			s := four(test.change)
			found := Derived(s)
			got := s.Headline(found)
			is.Equal(got.Text, test.text)
			is.Equal(got.Problems, test.problems)
			is.Equal(got.Worst != nil, test.worst != "")
			is.True(len([]rune(got.Text)) <= maxHeadline)
			about := 0
			for _, c := range found {
				if got.IsAbout(c) {
					about++
					is.Equal(c.Code, test.worst)
				}
			}
			is.Equal(about, min(1, test.problems))
			all = append(all, headline{test.name, api.NodeConditionsResult{Conditions: found, Headline: got}})
		})
	}
	got, err := json.MarshalIndent(all, "", " ")
	is.NoErr(err)
	const file = "testdata/headlines.json"
	if *update {
		is.NoErr(os.WriteFile(file, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(file)
	is.NoErr(err)
	is.Equal(string(got)+"\n", string(want))
}
