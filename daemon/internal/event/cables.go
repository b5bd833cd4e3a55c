package event

import (
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// cableKey tells the cables at one end apart: a hub gives a receptacle several.
func cableKey(c api.Cable) key {
	if c.Link.Valid() {
		return key{c.Ends[0].End.String(), c.Link.String()}
	}
	return key{c.Ends[0].End.String(), "", c.PeerName}
}

func cables(before, after Moment) []Entry {
	was, is := index(before.Cables, cableKey), index(after.Cables, cableKey)
	var out []Entry
	report := func(m Moment, c api.Cable, kind api.EventKind, severity api.Severity, lead, text string) {
		e := api.Event{Kind: kind, Severity: severity, Node: c.Ends[0].End.Node, Link: c.Link, Text: lead + ends(m, c) + text}
		if len(c.Reasons) > 0 && kind == api.EventCableChanged {
			e.Reason = c.Reasons[0]
		}
		out = append(out, Entry{Event: e})
	}
	plugged, pulled := missing(is, was), missing(was, is)
	for _, c := range plugged {
		if !learned(c, pulled) && !isJustKnown(before, c) {
			report(after, c, api.EventCablePlugged, api.SeverityInfo, "Cable plugged: ", ".")
		}
	}
	for _, c := range pulled {
		if !learned(c, plugged) {
			report(before, c, api.EventCablePulled, api.SeverityWarning, "Cable pulled: ", ".")
		}
	}
	for _, c := range after.Cables {
		old, known := was[cableKey(c)]
		if !known || c.Stale || old.Stale {
			continue // what one end alone says now is no change of the cable
		}
		if worth(old.Verdict, c.Verdict) {
			severity := api.SeverityInfo
			if c.Verdict != api.VerdictGood && !c.Muted {
				severity = api.SeverityWarning
			}
			report(after, c, api.EventCableChanged, severity, "Cable ", verdictWords(c.Verdict))
		}
		if old.RDMA != c.RDMA && (old.RDMA == api.RDMAReady || c.RDMA == api.RDMAReady) {
			text := " is ready."
			if c.RDMA != api.RDMAReady {
				text = " is no longer ready."
			}
			report(after, c, api.EventRDMAChanged, api.SeverityInfo, "RDMA over ", text)
		}
	}
	return out
}

// worth reports whether a change of the verdict is news: that something was
// measured for the first time, and found good, is none.
func worth(before, after api.LinkVerdict) bool {
	if before == after || after == api.VerdictUnknown {
		return false
	}
	return before != api.VerdictUnknown || after != api.VerdictGood
}

func verdictWords(v api.LinkVerdict) string {
	switch v {
	case api.VerdictGood:
		return " works as it should again."
	case api.VerdictSlow:
		return " is slow."
	case api.VerdictDown:
		return " carries nothing."
	}
	return " does not work as it should."
}

// isJustKnown reports whether a cable is one of Macs that have only just become known: nobody
// has plugged it now.
func isJustKnown(before Moment, c api.Cable) bool {
	return !slices.ContainsFunc(c.Ends, func(e api.CableEnd) bool {
		return slices.ContainsFunc(before.Nodes, func(n api.NodeView) bool { return n.Node == e.End.Node })
	})
}

// learned reports whether a cable is one of others of which more, or less, is
// known now: whose it is at its other end.
func learned(c api.Cable, others []api.Cable) bool {
	for _, other := range others {
		if c.Link.Valid() == other.Link.Valid() {
			continue
		}
		for _, a := range c.Ends {
			for _, b := range other.Ends {
				if a.End == b.End {
					return true
				}
			}
		}
	}
	return false
}

// ends are a cable's two ends as people write them.
func ends(m Moment, c api.Cable) string {
	var all []string
	for _, end := range c.Ends {
		all = append(all, m.name(end.End.Node)+":"+end.End.PortNumber.String())
	}
	if len(all) == 2 && all[0] > all[1] {
		all[0], all[1] = all[1], all[0]
	}
	if len(all) == 1 && c.PeerName != "" {
		all = append(all, c.PeerName)
	}
	return strings.Join(all, " to ")
}
