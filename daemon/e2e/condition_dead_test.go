package e2e

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// reportedWithin is by when the others tell that a daemon was killed.
const reportedWithin = 5 * time.Second

// A Mac that loses its network says so, also to those who reach it over a cable. One
// whose daemon is killed is wrong everywhere, within seconds and in the same
// numbers, from the first moment until it is back.
func TestADeadMacIsTold(t *testing.T) {
	needJobs(t)
	is := is.New(t)
	j := newJobs(t, 3, "")
	dead, others := j.Nodes[2], j.Nodes[:2]
	ask := func(at int, args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		out, _ := j.fulmen(ctx, others[at], args...).CombinedOutput() // doctor ends with 1
		return string(out)
	}
	of := func(at int) (found []api.NodeCondition) {
		result, err := client.Call[api.NodeConditionsResult](t.Context(), others[at].Client, "node.conditions", nil)
		is.NoErr(err)
		for _, c := range result.Conditions {
			if c.Node == dead.ID {
				found = append(found, c)
			}
		}
		return found
	}
	events := func() []api.Event {
		result, err := client.Call[api.EventListResult](t.Context(), others[0].Client, "event.list", nil)
		is.NoErr(err)
		return result.Events
	}
	is.Equal(len(of(0)), 0)
	eventually(t, "it is told that the Mac joined", timeout, func() bool {
		return slices.ContainsFunc(events(), func(e api.Event) bool { return e.Node == dead.ID && e.Kind == api.EventNodeJoined })
	})
	change(t, dead.Client, "set "+dead.Mac+".en0.link down") // its cables stay
	lostNetwork := "The Mac lost its network: " + dead.Mac + " on Ethernet (en0)."
	for at := range others {
		eventually(t, "a condition of the lost network", reportedWithin, func() bool { return len(of(at)) == 1 })
		is.Equal(of(at)[0].Code, api.ReasonNetworkLost)
		is.Equal(of(at)[0].Text, lostNetwork)
		is.True(strings.Contains(ask(at, "status"), lostNetwork))
	}
	eventually(t, "an event of the lost network", reportedWithin, func() bool {
		return slices.ContainsFunc(events(), func(e api.Event) bool { return e.Node == dead.ID && e.Text == lostNetwork })
	})
	change(t, dead.Client, "set "+dead.Mac+".en0.link up")
	for at := range others {
		eventually(t, "the network is back", reportedWithin, func() bool { return len(of(at)) == 0 })
	}
	lost := func() []api.Event {
		return slices.DeleteFunc(events(), func(e api.Event) bool {
			return e.Node != dead.ID || e.Reason != api.ReasonSuspect && e.Reason != api.ReasonUnreachable
		})
	}
	before := len(lost()) // on a busy machine
	dead.End(os.Kill)
	for at := range others {
		eventually(t, "a condition of the dead Mac", reportedWithin, func() bool { return len(of(at)) == 1 })
		c := of(at)[0]
		is.Equal(c.Severity, api.SeverityWarning)
		is.True(strings.HasPrefix(c.Text, dead.Mac+" "))                          // by its name
		is.True(strings.Contains(c.Remedy, "sees it over a cable, so it is not")) // its world goes on without its daemon
	}
	for at := range others {
		for command, wants := range map[string][]string{
			"status": {"2 of 3 nodes", dead.Mac + " "}, "nodes": {"2 of 3 nodes", "stale"},
			"doctor": {dead.Mac + " ", "fulmen start"}, "links": {"unknown: The node does not answer"},
		} {
			out := ask(at, command)
			for _, want := range wants {
				if !strings.Contains(out, want) {
					t.Errorf("fulmen %s at %s does not say %q:\n%s", command, others[at].Mac, want, out)
				}
			}
			if strings.Contains(out, "Healthy") || strings.Contains(out, "Nothing is wrong") || command == "links" && strings.Count(out, " good") > 1 {
				t.Errorf("fulmen %s at %s says that all is well:\n%s", command, others[at].Mac, out)
			}
		}
	}
	eventually(t, "the event", soon, func() bool { return len(lost()) > before })
	reported := lost()
	is.Equal(len(reported), before+1) // once, and not as a condition again
	for _, e := range reported {
		is.Equal(e.Kind, api.EventNodeLost)
	}

	must(t, "the Mac is back", dead.Boot(t.Context()))
	for at := range others {
		eventually(t, "nothing is wrong any more", timeout, func() bool { return len(of(at)) == 0 })
	}
}
