package event

import (
	"cmp"
	"strings"

	"fulmen/daemon/api"
)

// socket tells the cables at one end apart: a hub gives a receptacle several.
type socket struct {
	end  string
	link api.LinkID
	peer string
}

func (s socket) compare(other socket) int {
	return cmp.Or(cmp.Compare(s.end, other.end), s.link.Compare(other.link), cmp.Compare(s.peer, other.peer))
}

func socketOf(c api.Cable) socket {
	s := socket{end: c.Ends[0].End.String(), link: c.Link}
	if !c.Link.Valid() {
		s.peer = c.PeerName
	}
	return s
}

func cables(before, after Moment) []Entry {
	was, is := index(before.Cables, socketOf), index(after.Cables, socketOf)
	var out []Entry
	say := func(m Moment, c api.Cable, kind api.EventKind, severity api.Severity, lead, text string) {
		e := api.Event{Kind: kind, Severity: severity, Node: c.Ends[0].End.Node, Link: c.Link, Text: lead + ends(m, c) + text}
		if len(c.Reasons) > 0 && kind == api.EventCableChanged {
			e.Reason = c.Reasons[0]
		}
		out = append(out, Entry{Event: e})
	}
	plugged, pulled := missing(is, was, socket.compare), missing(was, is, socket.compare)
	for _, c := range plugged {
		if !learned(c, pulled) {
			say(after, c, api.EventCablePlugged, api.SeverityInfo, "Cable plugged: ", ".")
		}
	}
	for _, c := range pulled {
		if !learned(c, plugged) {
			say(before, c, api.EventCablePulled, api.SeverityWarning, "Cable pulled: ", ".")
		}
	}
	for _, c := range after.Cables {
		old, known := was[socketOf(c)]
		if !known || c.Stale || old.Stale {
			continue // what one end alone says now is no change of the cable
		}
		if worth(old.Verdict, c.Verdict) {
			severity := api.SeverityInfo
			if c.Verdict != api.VerdictGood && !c.Muted {
				severity = api.SeverityWarning
			}
			say(after, c, api.EventCableChanged, severity, "Cable ", verdictWords(c.Verdict))
		}
		if old.RDMA != c.RDMA && (old.RDMA == api.RDMAReady || c.RDMA == api.RDMAReady) {
			text := " is ready."
			if c.RDMA != api.RDMAReady {
				text = " is not ready any more."
			}
			say(after, c, api.EventRDMAChanged, api.SeverityInfo, "RDMA over ", text)
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
		return " is as it should be again."
	case api.VerdictSlow:
		return " is slow."
	case api.VerdictDown:
		return " carries nothing."
	}
	return " does not work as it should."
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
		all = append(all, m.name(end.End.Node)+":"+end.End.Receptacle.String())
	}
	if len(all) == 2 && all[0] > all[1] {
		all[0], all[1] = all[1], all[0]
	}
	if len(all) == 1 && c.PeerName != "" {
		all = append(all, c.PeerName)
	}
	return strings.Join(all, " to ")
}
