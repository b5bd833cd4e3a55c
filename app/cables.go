package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apptext "fulmen/app/text"
	"fulmen/daemon/api"
)

// cables is the line of the cables, with a submenu for each. RDMA is offered on
// Thunderbolt 5 only: a cable that cannot says why.
func (s *State) cables() []Item {
	cables := slices.DeleteFunc(slices.Clone(s.Cables), func(c api.Cable) bool { return len(c.Ends) == 0 })
	if len(cables) == 0 {
		return nil
	}
	slices.SortFunc(cables, func(a, b api.Cable) int {
		return cmp.Or(cmp.Compare(s.cableName(a), s.cableName(b)), cmp.Compare(s.cableKey(a), s.cableKey(b)))
	})
	ready, offered := 0, 0
	top := Item{ID: "cables"}
	for _, c := range cables {
		readiness := s.readiness(c)
		switch {
		case readiness.Verdict == api.RDMAReady:
			ready++
		case canEnable(c, readiness):
			offered++
		}
		top.Items = append(top.Items, s.cable(c, readiness))
	}
	top.Title = fmt.Sprintf("Cables: %d of %d ready for RDMA", ready, len(cables))
	if offered > 1 {
		top.Items = append(top.Items, separator("enable_all"), Item{ID: "cables:enable_all",
			Title: fmt.Sprintf("Enable RDMA on %s...", plural(offered, "cable")), Do: enableAll()})
	}
	for _, e := range s.Errands {
		top.Items = append(top.Items, Item{ID: "errand:" + string(e.Node), Title: "Steps at " + s.name(e.Node) + "...",
			Do: &Do{Dialog: &Dialog{Kind: DialogErrand, Title: "Turn RDMA on at " + s.name(e.Node), Node: string(e.Node),
				Text: "One trip to Recovery, about " + plural(max(1, int(e.EstimateS+59)/60), "minute") + "."}}})
	}
	return []Item{top}
}

// cableKey tells cables apart and orders them.
func (s *State) cableKey(c api.Cable) string {
	if c.Link.Valid() {
		return c.Link.String()
	}
	return c.Ends[0].End.String() + "?" + c.PeerName
}

// readiness is that of a cable; where rdma.list has not been answered, the
// graph's verdict.
func (s *State) readiness(c api.Cable) api.RDMAReadiness {
	for _, r := range s.RDMA {
		if r.Link.Valid() && r.Link == c.Link {
			return r
		}
	}
	return api.RDMAReadiness{Link: c.Link, Verdict: cmp.Or(c.RDMA, api.RDMAUnknown)}
}

// cable is the line of one cable.
func (s *State) cable(c api.Cable, r api.RDMAReadiness) Item {
	id := "cable:" + s.cableKey(c)
	changing := s.changing(c.Link)
	item := Item{ID: id, Title: s.cableName(c) + "   " + cableWords(c, r, changing)}
	for i, e := range c.Ends {
		item.Items = append(item.Items, info(fmt.Sprintf("%s:end:%d", id, i), s.endName(e)))
	}
	switch {
	case changing != "":
		item.Items = append(item.Items, info(id+":changing", "The network settings of both ends are being changed"))
	case r.Verdict == api.RDMAReady && s.isOurs(c.Link):
		item.Checked = true
		item.Items = append(item.Items, Item{ID: id + ":disable", Title: "Disable RDMA...", Do: s.disable(c)})
	case r.Verdict == api.RDMAReady:
		item.Checked = true
		item.Items = append(item.Items, info(id+":disable", "RDMA was set up by hand, not by Fulmen"))
	case canEnable(c, r):
		item.Items = append(item.Items, Item{ID: id + ":enable", Title: "Enable RDMA...", Do: s.enable(c)})
	default:
		item.Items = append(item.Items, info(id+":enable", "Enable RDMA..."), Item{ID: id + ":why", Title: "Why Not?", Items: s.whyNot(id, c, r)})
	}
	if text := s.lastFailure(c.Link); text != "" && changing == "" {
		item.Items = append(item.Items, info(id+":failure", "Last time: "+clean(text)))
	}
	if c.Link.Valid() {
		item.Items = append(item.Items, cableItems(id, api.LinkRef(c.Link.String()), c.Stale, c.Muted)...)
	}
	return item
}

// cableItems are what can be done with any cable, also below a problem with it.
func cableItems(id string, link api.LinkRef, isStale, isMuted bool) []Item {
	return []Item{
		{ID: id + ":show", Title: "Show Me the Ports", Do: &Do{Open: "dashboard:/link/" + string(link)}},
		{ID: id + ":measure", Title: "Measure Again", Disabled: isStale, Do: call("measure.link", api.MeasureLinkParams{Links: []api.LinkRef{link}})},
		{ID: id + ":mute", Title: "Mute This Cable", Checked: isMuted, Do: call("link.mute", api.LinkMute{Link: link, Muted: !isMuted})},
	}
}

// cableName is the two Macs of a cable, this one first: studio-1 ↔ mbp.
func (s *State) cableName(c api.Cable) string {
	near, far := s.name(c.Ends[0].End.Node), cmp.Or(clean(c.PeerName), "a Mac without Fulmen")
	if len(c.Ends) > 1 {
		far = s.name(c.Ends[1].End.Node)
		if self := s.self(); self != nil && c.Ends[1].End.Node == self.NodeView.Node {
			near, far = far, near
		}
	}
	return near + " ↔ " + far
}

// endName is an end of a cable, as the case shows it.
func (s *State) endName(e api.CableEnd) string {
	return s.name(e.End.Node) + ": " + cmp.Or(clean(e.Place), "port "+e.End.Receptacle.String())
}

// cableWords is how a cable fares, in a few words.
func cableWords(c api.Cable, r api.RDMAReadiness, changing string) string {
	var parts []string
	if slow, known := slowest(c); known {
		parts = append(parts, apptext.BitsPerS(slow))
	} else {
		parts = append(parts, kindName(c.Kind))
	}
	switch {
	case c.Stale:
		parts = append(parts, "an end is not reached")
	case changing != "":
		parts = append(parts, changing)
	case c.Verdict == api.VerdictSlow:
		parts = append(parts, "slower than it should be")
	case c.Verdict == api.VerdictBad:
		parts = append(parts, "does not work")
	case c.Verdict == api.VerdictDown:
		parts = append(parts, "carries nothing")
	case r.Verdict == api.RDMAReady:
		parts = append(parts, "RDMA ready")
	case r.Verdict == api.RDMACanEnable:
		parts = append(parts, "RDMA can be enabled")
	case r.Verdict == api.RDMANeedsPerson:
		parts = append(parts, "RDMA needs you")
	case r.Verdict == api.RDMACannot:
		parts = append(parts, "no RDMA")
	case r.Verdict == api.RDMAUnknown:
	}
	return strings.Join(parts, ", ")
}

// slowest is the speed of a cable's slower direction.
func slowest(c api.Cable) (bitsPerS int64, known bool) {
	switch {
	case c.ForwardBitsPerS == nil:
		return 0, false
	case c.BackwardBitsPerS == nil:
		return *c.ForwardBitsPerS, true
	}
	return min(*c.ForwardBitsPerS, *c.BackwardBitsPerS), true
}
