package readiness

import (
	"fmt"

	"fulmen/daemon/api"
)

// Concerns are what a node should warn of about its own ends of cables: of each a
// cause with the end as subject and a few words as message. Where both ends could
// warn of the cable as a whole, the lower one does.
func Concerns(own api.NodeID, cables []Cable, reports []Report) []api.Cause {
	var out []api.Cause
	for i := range min(len(cables), len(reports)) {
		c := &cables[i]
		if c.High == nil || c.Muted || !isTrue(c.Low.hasTB5()) || !isTrue(c.High.hasTB5()) || c.Low.Stale || c.High.Stale {
			continue
		}
		for _, e := range c.ends() {
			if e.End.Node == own {
				out = append(out, concernsOf(c, e, &reports[i])...)
			}
		}
	}
	return out
}

func concernsOf(c *Cable, own *End, r *Report) []api.Cause {
	var out []api.Cause
	add := func(reason api.Reason, format string, args ...any) {
		out = append(out, api.Cause{Reason: reason, Subject: own.End.String(), Message: fmt.Sprintf(format, args...)})
	}
	other := c.other(own)
	answer := func(key api.RDMACheckKey, end api.LinkEnd) api.Answer {
		for _, check := range r.Checks {
			if check.Check == key && check.End == end {
				return check.Answer
			}
		}
		return api.AnswerUnknown
	}
	between := "the cable from " + own.port() + " to " + other.port()
	switch {
	case !other.works() || isTrue(own.isOn()) && own.device() != nil:
	case isFalse(own.isOn()):
		add(api.ReasonRDMAOneSided, "it is on at %s and off here, for %s", other.Name, between)
	case own.isPending():
		add(api.ReasonRDMAOneSided, "it is on at %s and waits here for a restart, for %s", other.Name, between)
	}
	if own == c.Low && answer(api.CheckSameBuild, api.LinkEnd{}) == api.AnswerNo {
		add(api.ReasonRDMABuildsDiffer, "%s has %s, %s has %s", own.Name, withBuild(own), other.Name, withBuild(other))
	}
	if own.Change != nil && own.Change.State == api.RDMAChangeActive && own.device() != nil && answer(api.CheckIPv4GID, own.End) == api.AnswerNo {
		add(api.ReasonRDMANoIPv4GID, "%s", between)
	}
	return out
}
