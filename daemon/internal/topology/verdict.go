package topology

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// thunderbolt4BitsPerS is the most that Thunderbolt 3 and 4 carry each way, and
// thunderbolt5BitsPerS what Thunderbolt 5 does with two lanes each way.
const (
	thunderbolt4BitsPerS = 40_000_000_000
	thunderbolt5BitsPerS = 80_000_000_000
)

// portBitsPerS is what a generation carries each way; 0 for one that is not known.
func portBitsPerS(g api.ThunderboltGeneration) int64 {
	switch g {
	case api.Thunderbolt3, api.Thunderbolt4:
		return thunderbolt4BitsPerS
	case api.Thunderbolt5:
		return thunderbolt5BitsPerS
	}
	return 0
}

// judge gives the cable its verdict and the reasons. reason is why one end is
// not known or silent, empty where both tell of the cable.
func (c *cable) judge(reason api.Reason) {
	verdict, why := c.judgeSpeed()
	if reason == api.ReasonLinkDown || why == api.ReasonLinkDown {
		verdict = api.VerdictDown
	}
	if verdict == api.VerdictGood && (reason != "" || c.way.disagree) {
		verdict = api.VerdictUnknown
	}
	if c.isFlapping() && verdict != api.VerdictDown {
		verdict = api.VerdictBad
		c.addReason(api.ReasonLinkFlapping)
	}
	if silent := c.silence(); silent != "" && verdict != api.VerdictDown {
		verdict = api.VerdictUnknown
		c.addReason(silent)
	}
	if c.way.disagree {
		c.addReason(api.ReasonSourcesDisagree)
	}
	c.addReason(reason)
	c.addReason(why)
	c.Verdict = verdict
}

// isFlapping reports whether an end says that the cable keeps going up and down.
func (c *cable) isFlapping() bool {
	return c.low.has(api.ReasonLinkFlapping) || c.high != nil && c.high.has(api.ReasonLinkFlapping)
}

// silence is why an end tells nothing now; empty where all that are known do.
func (c *cable) silence() api.Reason {
	if c.low.node.Stale {
		return c.low.node.silence()
	}
	if c.high != nil && c.high.node.Stale {
		return c.high.node.silence()
	}
	return ""
}

// silence is why a node that cannot be reached does not answer, as far as it said.
func (n *Node) silence() api.Reason {
	if n.State != nil {
		switch n.State.State {
		case api.SelfAsleep:
			return api.ReasonAsleep
		case api.SelfRestarting:
			return api.ReasonRestarting
		case api.SelfStopping, api.SelfLeft, api.SelfAwake:
		}
	}
	return api.ReasonUnreachable
}

// judgeSpeed compares the speed with what both ports can. Lanes can be shared
// out unevenly, 120 one way and 40 the other, so both directions count together.
func (c *cable) judgeSpeed() (api.LinkVerdict, api.Reason) {
	total := c.way.total
	if !total.known() {
		return api.VerdictUnknown, total.why
	}
	ports := []*port{c.low}
	if c.high != nil {
		ports = append(ports, c.high)
	}
	can, missing := int64(0), c.high == nil
	why := api.Reason("")
	for _, p := range ports {
		most := portBitsPerS(p.Capability)
		if most == 0 {
			missing = true
			why = cmp.Or(why, p.Unknown["capability"], api.ReasonNotYetRead)
			continue
		}
		if can == 0 || most < can {
			can = most
		}
	}
	switch {
	case can > 0 && total.tx+total.rx >= 2*can:
		return api.VerdictGood, ""
	case missing:
		return api.VerdictUnknown, why
	case len(c.way.hubs) > 0:
		return api.VerdictSlow, api.ReasonHubBetween
	}
	return api.VerdictSlow, api.ReasonLinkBelowPorts
}

// addReason adds a reason once.
func (c *cable) addReason(r api.Reason) {
	if r != "" && !slices.Contains(c.Reasons, r) {
		c.Reasons = append(c.Reasons, r)
	}
}

// noteList collects what could not be believed or matched.
type noteList []api.Cause

// add notes one thing. The remedy is the table's.
func (l *noteList) add(reason api.Reason, subject, format string, args ...any) {
	*l = append(*l, api.Errorf(reason, subject, format, args...).Cause())
}

// sorted gives the notes in an order of their own, each once.
func (l noteList) sorted() []api.Cause {
	slices.SortFunc(l, compareCauses)
	return slices.Compact(l)
}

func compareCauses(a, b api.Cause) int {
	return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
}
