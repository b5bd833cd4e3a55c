package readiness

import (
	"fmt"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// sum is the verdict in one sentence for somebody who has never heard of any of the
// checks.
func sum(c *Cable, verdict api.RDMAVerdict, found []finding) string {
	if text := underWay(c); text != "" {
		return text
	}
	var text string
	switch verdict {
	case api.RDMAReady:
		text = fmt.Sprintf("Jobs on %s can use RDMA over this cable at its full speed.", c.Low.Name+" and "+c.High.Name)
	case api.RDMACanEnable:
		if lost := lostAddress(c, found); lost != "" {
			return lost
		}
		text = "Enabling " + listed(work(found)) + ". It can be put back at any time."
	case api.RDMANeedsPerson:
		text = missing(found)
	case api.RDMACannot:
		text = "RDMA is not possible over this cable: " + within(first(found, verdict).text) + "."
	case api.RDMAUnknown:
		what, _, _ := strings.Cut(within(first(found, verdict).text), ";")
		text = "RDMA on this cable cannot be judged now: " + what + "."
	}
	return text + undone(c, verdict)
}

// lostAddress says that RDMA stopped for want of the address that Fulmen gave; empty
// where something else is in the way.
func lostAddress(c *Cable, found []finding) string {
	var one *finding
	for i := range found {
		if f := &found[i]; f.answer == api.AnswerNo && !f.advice {
			if f.reason != api.ReasonRDMANoIPv4GID {
				return ""
			}
			one = f
		}
	}
	for _, e := range c.ends() {
		if one != nil && e.Change != nil && e.Change.State == api.RDMAChangeActive {
			return "RDMA has stopped: " + within(one.text) + ". " + one.remedy
		}
	}
	return ""
}

// first is the first check that stands for the verdict by itself.
func first(found []finding, verdict api.RDMAVerdict) finding {
	for _, follows := range []bool{false, true} {
		for _, f := range found {
			if f.answer != api.AnswerYes && !f.advice && f.verdict == verdict && f.follows == follows {
				return f
			}
		}
	}
	return finding{}
}

// missing says what a person has to do, or how much and what first.
func missing(found []finding) string {
	count := 0
	for _, f := range found {
		if f.answer == api.AnswerNo && !f.advice && !f.follows && f.verdict == api.RDMANeedsPerson {
			count++
		}
	}
	what := within(first(found, api.RDMANeedsPerson).text)
	if count > 1 {
		return fmt.Sprintf("%d things are missing, and the first is that %s.", count, what)
	}
	return "One thing is missing: " + what + "."
}

// work is what enabling would do.
func work(found []finding) []string {
	var out []string
	for _, one := range []struct {
		reasons []api.Reason
		text    string
	}{
		{[]api.Reason{api.ReasonInBridge, api.ReasonBridgeLoop}, "takes the cable out of the Thunderbolt Bridge"},
		{[]api.Reason{api.ReasonRDMANoIPv4GID}, "gives both ends addresses of their own"},
	} {
		if slices.ContainsFunc(found, func(f finding) bool {
			return f.answer == api.AnswerNo && !f.advice && slices.Contains(one.reasons, f.reason)
		}) {
			out = append(out, one.text)
		}
	}
	if len(out) == 1 && strings.HasPrefix(out[0], "takes") {
		out = append(out, "gives both ends addresses of their own")
	}
	return out
}

// underWay says that Fulmen changes the cable just now; empty where it does not.
func underWay(c *Cable) string {
	for _, e := range c.ends() {
		if e.Change == nil {
			continue
		}
		switch e.Change.State {
		case api.RDMAChangePlanned, api.RDMAChangeApplying, api.RDMAChangeProving:
			return "Fulmen is enabling RDMA on this cable just now."
		case api.RDMAChangeUndoing:
			return "Fulmen is putting back what it changed for RDMA on this cable just now."
		case api.RDMAChangeActive, api.RDMAChangeUndone, api.RDMAChangePartial:
		}
	}
	return ""
}

// undone says that the last try to enable RDMA was taken back, and why.
func undone(c *Cable, verdict api.RDMAVerdict) string {
	if verdict == api.RDMAReady {
		return ""
	}
	for _, e := range c.ends() {
		if ch := e.Change; ch != nil && ch.Reason != "" && (ch.State == api.RDMAChangeUndone || ch.State == api.RDMAChangePartial) {
			text := strings.TrimSuffix(ch.Message, ".")
			if text == "" {
				info, _ := api.LookupReason(ch.Reason)
				text = strings.TrimSuffix(info.Text, ".")
			}
			return " The last try was taken back: " + text + "."
		}
	}
	return ""
}
