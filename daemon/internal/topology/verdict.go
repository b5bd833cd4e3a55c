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

// judge gives the cable its verdict and the reasons by what its ends tell. reason is
// why one end is not known or silent, empty where both tell of the cable.
func (c *cable) judge(reason api.Reason) {
	c.Verdict = api.VerdictGood
	verdict, why := c.judgeSpeed()
	isDown := reason == api.ReasonLinkDown || why == api.ReasonLinkDown
	if isDown {
		c.worsen(api.VerdictDown, api.ReasonLinkDown)
	}
	if c.way.disagree {
		c.worsen(api.VerdictUnknown, api.ReasonSourcesDisagree)
	}
	if reason != "" {
		c.worsen(api.VerdictUnknown, reason)
	}
	c.worsen(verdict, why)
	if c.isFlapping() && !isDown {
		c.worsen(api.VerdictBad, api.ReasonLinkFlapping)
	}
	if silent := c.silence(); silent != "" && !isDown {
		c.worsen(api.VerdictUnknown, silent)
	}
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
			if n.State.Reason == api.ReasonShuttingDown {
				return api.ReasonShuttingDown
			}
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

// worsen adds a reason, and takes the verdict if it settles more than the one there is.
// An end that is silent now may know better of everything but that the cable is down.
func (c *cable) worsen(v api.LinkVerdict, reason api.Reason) {
	decides := verdictRank(v) > verdictRank(c.Verdict)
	switch silent := c.silence(); {
	case silent == "":
	case reason == silent:
		decides = c.Verdict != api.VerdictDown
	case slices.Contains(c.Reasons, silent):
		decides = false
	}
	if decides {
		c.Verdict = v
	}
	c.Reasons = addReason(c.Reasons, reason, decides)
}

// addReason adds a reason once, in front where it decides.
func addReason(reasons []api.Reason, reason api.Reason, decides bool) []api.Reason {
	switch {
	case reason == "":
		return reasons
	case decides:
		return slices.Insert(slices.DeleteFunc(reasons, func(r api.Reason) bool { return r == reason }), 0, reason)
	case !slices.Contains(reasons, reason):
		return append(reasons, reason)
	}
	return reasons
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
