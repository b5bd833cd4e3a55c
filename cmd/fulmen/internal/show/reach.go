package show

import (
	"fmt"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// reach is a way to a peer.
func (c *Changes) reach(r api.Reach) string {
	at := fmt.Sprintf("%s at %s over %s", c.Name(r.Peer), r.Address, orNone(r.Interface))
	if r.Kind != "" {
		at += " (" + kindWord(r.Kind) + ")"
	}
	switch r.State {
	case api.PathActive:
		return "reaches " + at
	case api.PathFailed:
		return "no longer reaches " + at + prefixed(": ", becauseAll(reasonsOf(r.Reason)))
	}
	return "can reach " + at + ", " + string(r.State)
}

func reasonsOf(r api.Reason) []api.Reason {
	if r == "" {
		return nil
	}
	return []api.Reason{r}
}

// profile is a measurement of a path.
func (c *Changes) profile(p api.LinkProfile) string {
	out := fmt.Sprintf("%s over %s: ", c.Name(p.Peer), kindWord(p.LinkKind))
	if p.MeasuredAt.IsZero() {
		out += "not measured"
	} else {
		out += fmt.Sprintf("up %s, down %s, RTT/2 %s, measured %s", rate(p.UpBitsPerS), rate(p.DownBitsPerS), half(p.RTTUS), text.Ago(c.Now, p.MeasuredAt.Time))
	}
	if p.Failure != nil {
		out += "; the last try failed: " + p.Failure.Message
	}
	return out
}
