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
	ready, canEnable := 0, 0
	top := Item{ID: "cables"}
	for _, c := range cables {
		readiness := s.readiness(c)
		switch readiness.Verdict {
		case api.RDMAReady:
			ready++
		case api.RDMACanEnable:
			canEnable++
		case api.RDMANeedsPerson, api.RDMACannot, api.RDMAUnknown:
		}
		top.Items = append(top.Items, s.cable(c, readiness))
	}
	top.Title = fmt.Sprintf("Cables: %d of %d ready for RDMA", ready, len(cables))
	if canEnable > 1 {
		top.Items = append(top.Items, separator("enable_all"), Item{ID: "cables:enable_all",
			Title: fmt.Sprintf("Enable RDMA on %s...", plural(canEnable, "cable")), Do: &Do{
				Call:    &Call{Method: "rdma.enable", Params: api.RDMAChangeParams{AllReady: true}, Admin: true},
				Confirm: &Confirm{Title: "Enable RDMA on all cables that are ready for it?", Button: "Enable", Text: enableText}}})
	}
	for _, e := range s.Errands {
		top.Items = append(top.Items, Item{ID: "errand:" + string(e.Node), Title: "Steps at " + s.name(e.Node) + "...",
			Do: &Do{Dialog: &Dialog{Kind: DialogErrand, Title: "Turn RDMA on at " + s.name(e.Node), Node: string(e.Node),
				Text: "One trip to Recovery, about " + plural(max(1, int(e.EstimateS+59)/60), "minute") + "."}}})
	}
	return []Item{top}
}

const enableText = "Fulmen changes the network settings of both ends: each cable gets its own addresses and leaves the Thunderbolt Bridge. " +
	"It can be put back at any time."

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
	item := Item{ID: id, Title: s.cableName(c) + "   " + cableWords(c, r)}
	for i, e := range c.Ends {
		item.Items = append(item.Items, info(fmt.Sprintf("%s:end:%d", id, i), s.endName(e)))
	}
	link := api.LinkRef(c.Link.String())
	switch {
	case r.Verdict == api.RDMAReady:
		item.Checked = true
		item.Items = append(item.Items, Item{ID: id + ":disable", Title: "Disable RDMA...", Do: &Do{
			Call: &Call{Method: "rdma.disable", Params: api.RDMAChangeParams{Links: []api.LinkRef{link}}, Admin: true},
			Confirm: &Confirm{Title: "Disable RDMA on this cable?", Button: "Disable",
				Text: "What Fulmen changed at both ends is put back. Jobs that use the cable end."}}})
	case r.Verdict == api.RDMACanEnable && c.Kind == api.LinkTB5:
		item.Items = append(item.Items, Item{ID: id + ":enable", Title: "Enable RDMA...", Do: &Do{
			Call:    &Call{Method: "rdma.enable", Params: api.RDMAChangeParams{Links: []api.LinkRef{link}}, Admin: true},
			Confirm: &Confirm{Title: "Enable RDMA between " + s.cableName(c) + "?", Button: "Enable", Text: enableText}}})
	default:
		item.Items = append(item.Items, Item{ID: id + ":why", Title: "Why Not?", Items: s.whyNot(id, c, r)})
	}
	if c.Link.Valid() {
		item.Items = append(item.Items,
			Item{ID: id + ":show", Title: "Show Me the Ports", Do: &Do{Open: "dashboard:/link/" + string(link)}},
			Item{ID: id + ":measure", Title: "Measure Again", Disabled: c.Stale,
				Do: call("measure.link", api.MeasureLinkParams{Links: []api.LinkRef{link}})},
			Item{ID: id + ":mute", Title: "Mute This Cable", Checked: c.Muted,
				Do: call("link.mute", api.LinkMute{Link: link, Muted: !c.Muted})})
	}
	return item
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
func cableWords(c api.Cable, r api.RDMAReadiness) string {
	var parts []string
	if slow, known := slowest(c); known {
		parts = append(parts, apptext.BitsPerS(slow))
	} else {
		parts = append(parts, kindName(c.Kind))
	}
	switch {
	case c.Stale:
		parts = append(parts, "an end is not reached")
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

// rdmaNeedsOver is the speed that a cable must exceed, in bits/s.
const rdmaNeedsOver = 40e9

// whyNot are the reasons why RDMA is not ready: every check that fails, with
// what to do.
func (s *State) whyNot(id string, c api.Cable, r api.RDMAReadiness) []Item {
	var items []Item
	for i, check := range r.Checks {
		if check.Answer == api.AnswerYes || check.Advice {
			continue
		}
		items = append(items, Item{ID: fmt.Sprintf("%s:why:%d", id, i), Title: clean(check.Text), Tooltip: both(check.Text, check.Remedy), Disabled: true})
		if check.Remedy != "" {
			items = append(items, info(fmt.Sprintf("%s:remedy:%d", id, i), "  "+clean(check.Remedy)))
		}
	}
	if len(items) > 0 {
		return items
	}
	slow, known := slowest(c)
	switch {
	case r.Text != "":
		return []Item{info(id+":why:text", clean(r.Text))}
	case c.Kind == api.LinkTB3 || c.Kind == api.LinkTB4:
		return []Item{info(id+":why:text", "RDMA needs Thunderbolt 5 at both ends; this is "+kindName(c.Kind)+".")}
	case known && slow <= rdmaNeedsOver:
		return []Item{info(id+":why:text", "It negotiated "+apptext.BitsPerS(slow)+"; RDMA needs more than 40 Gb/s.")}
	case len(c.Ends) < 2:
		return []Item{info(id+":why:text", "The other end does not run Fulmen.")}
	}
	return []Item{info(id+":why:text", "Not known yet.")}
}
