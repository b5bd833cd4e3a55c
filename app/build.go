package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apptext "fulmen/app/text"
	"fulmen/daemon/api"
)

// Build makes the menu of a state. The same state gives the same menu.
func Build(s State) Menu {
	m := Menu{Icon: IconOff}
	switch top, stops := s.obstacle(); {
	case stops:
		m.Items = top
		m.Tooltip = "Fulmen: " + top[0].Title
		m.Items = append(m.Items, s.footWithoutDaemon()...)
	default:
		m = s.running()
		if len(top) > 0 {
			m.Items = append(append(top, separator("head")), m.Items...)
		}
	}
	return m
}

// running is the menu over a daemon that answers.
func (s *State) running() Menu {
	m := Menu{Icon: IconNormal, Title: s.title()}
	switch {
	case s.hasWarning():
		m.Icon = IconWarning
	case s.isWorking():
		m.Icon = IconWorking
	}
	headline := s.headline()
	m.Tooltip = "Fulmen: " + headline.Title
	m.Items = append(m.Items, headline, Item{ID: "dashboard", Title: "Open Dashboard", Do: &Do{Open: "dashboard:/"}})
	if sums := s.summary(); sums != "" {
		m.Items = append(m.Items, info("summary", sums))
	}
	for _, section := range []struct {
		name  string
		items []Item
	}{{"trouble", s.trouble()}, {"work", s.work()}, {"macs", append(s.macs(), s.cables()...)}, {"foot", s.foot()}} {
		if len(section.items) > 0 {
			m.Items = append(append(m.Items, separator(section.name)), section.items...)
		}
	}
	return m
}

// headline is the first line, as the daemon words it: how well the cluster is, or the worst
// that is wrong, with what to do.
func (s *State) headline() Item {
	title := cmp.Or(apptext.Clean(s.Headline.Text), "Looking at the cluster…")
	if s.Headline.Worst == nil {
		return Item{ID: "headline", Title: title, Do: &Do{Open: "dashboard:/"}}
	}
	return s.problem("headline", title, *s.Headline.Worst)
}

// summary is what the Macs are together: 96.2 TFLOPS | 612 of 1536 GB | 412 W. How many they
// are is in the headline where all is well.
func (s *State) summary() string {
	t := s.Totals
	var parts []string
	switch {
	case s.Headline.Worst == nil || t.Members <= 1:
	case t.Nodes < t.Members:
		parts = append(parts, fmt.Sprintf("%d of %d Macs", t.Nodes, t.Members))
	default:
		parts = append(parts, fmt.Sprintf("%d Macs", t.Nodes))
	}
	if t.FP16TFLOPS != nil {
		parts = append(parts, tflops(*t.FP16TFLOPS))
	}
	if t.MemoryTotalBytes != nil {
		line := memory(t.MemoryUsedBytes, t.MemoryTotalBytes)
		if t.OtherMemory != nil {
			line += " unified"
		}
		parts = append(parts, line)
	}
	parts = append(parts, t.OtherMemoryWords(gigabytes)...)
	if t.PowerWatts != nil {
		parts = append(parts, watts(*t.PowerWatts))
	}
	return strings.Join(parts, " | ")
}

// title is what the person chose to have beside the icon; nothing where it is
// not known.
func (s *State) title() string {
	switch s.Preferences.Title {
	case TitleGPU:
		if n := s.self(); n != nil && n.System != nil && n.System.GPUUseRatio != nil {
			return percent(*n.System.GPUUseRatio)
		}
	case TitlePower:
		if s.Totals.PowerWatts != nil {
			return watts(*s.Totals.PowerWatts)
		}
	case TitleMemory:
		if s.Totals.MemoryUsedBytes != nil {
			return gigabytes(*s.Totals.MemoryUsedBytes)
		}
	case TitleNothing:
	}
	return ""
}

// isWorking reports whether a job runs anywhere.
func (s *State) isWorking() bool {
	for _, j := range s.Jobs {
		if !j.Phase.Ended() && j.Phase != api.JobQueued && j.Phase != api.JobPlacing && j.Phase != api.JobBackoff {
			return true
		}
	}
	return false
}

// cables is the line of the cables, with a submenu for each. RDMA is offered on
// Thunderbolt 5 only: a cable that cannot says why.
func (s *State) cables() []Item {
	cables := slices.DeleteFunc(slices.Clone(s.Cables), func(c api.Cable) bool { return len(c.Ends) == 0 })
	if len(cables) == 0 {
		return nil
	}
	slices.SortFunc(cables, func(a, b api.Cable) int {
		return cmp.Or(cmp.Compare(s.cableName(a), s.cableName(b)), cmp.Compare(CableKey(a), CableKey(b)))
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
			Title: fmt.Sprintf("Enable RDMA on %s…", apptext.Count(offered, "cable")), Do: enableAll()})
	}
	for _, e := range s.UserActions {
		top.Items = append(top.Items, Item{ID: "errand:" + string(e.Node), Title: "Steps at " + s.name(e.Node) + "…",
			Do: &Do{Dialog: &Dialog{Kind: DialogUserAction, Title: "Turn RDMA on at " + s.name(e.Node), Node: string(e.Node),
				Text: "One trip to Recovery, about " + apptext.Count(max(1, int(e.EstimateS+59)/60), "minute") + "."}}})
	}
	return []Item{top}
}

// CableKey tells cables with an end apart and orders them.
func CableKey(c api.Cable) string {
	if c.Link.Valid() {
		return c.Link.String()
	}
	return c.Ends[0].End.String() + "?" + c.PeerName
}

// readiness is the readiness of a cable, with the graph's verdict: what rdma.list answered
// may be of before.
func (s *State) readiness(c api.Cable) api.RDMAReadiness {
	is := api.RDMAReadiness{Link: c.Link}
	for _, r := range s.RDMA {
		if r.Link.Valid() && r.Link == c.Link {
			is = r
		}
	}
	is.Verdict = cmp.Or(c.RDMA, api.RDMAUnknown)
	return is
}

// cable is the line of one cable.
func (s *State) cable(c api.Cable, r api.RDMAReadiness) Item {
	id := "cable:" + CableKey(c)
	changing := s.changing(c.Link)
	item := Item{ID: id, Title: s.cableName(c) + "   " + cableWords(c, r, changing)}
	for i, e := range c.Ends {
		item.Items = append(item.Items, info(fmt.Sprintf("%s:end:%d", id, i), s.endName(e)))
	}
	item.Items = append(item.Items, info(id+":measured", measured(c)))
	if c.Text != "" {
		item.Items = append(item.Items, info(id+":reason", clean(c.Text)))
	}
	switch {
	case changing != "":
		item.Items = append(item.Items, info(id+":changing", "The network settings of both ends are being changed"))
	case r.Verdict == api.RDMAReady && s.isOurs(c.Link):
		item.Checked = true
		item.Items = append(item.Items, Item{ID: id + ":disable", Title: "Disable RDMA…", Do: s.disable(c)})
	case r.Verdict == api.RDMAReady:
		item.Checked = true
		item.Items = append(item.Items, info(id+":disable", "RDMA was set up by hand, not by Fulmen"))
	case canEnable(c, r):
		item.Items = append(item.Items, Item{ID: id + ":enable", Title: "Enable RDMA…", Do: s.enable(c)})
	default:
		item.Items = append(item.Items, info(id+":enable", "Enable RDMA…"), Item{ID: id + ":why", Title: "Why Not?", Items: s.whyNot(id, c, r)})
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
	return s.name(e.End.Node) + ": " + cmp.Or(clean(e.Place), "port "+e.End.PortNumber.String())
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
		parts = append(parts, "one end cannot be reached")
	case changing != "":
		parts = append(parts, changing)
	default:
		bad := map[api.LinkVerdict]string{api.VerdictSlow: "slower than it should be", api.VerdictBad: "does not work", api.VerdictDown: "carries nothing"}
		rdma := map[api.RDMAVerdict]string{api.RDMAReady: "RDMA ready", api.RDMACanEnable: "RDMA can be enabled", api.RDMANeedsPerson: "RDMA needs you",
			api.RDMACannot: "no RDMA"}
		parts = append(parts, cmp.Or(bad[c.Verdict], rdma[r.Verdict]))
	}
	return strings.Join(nonEmpty(parts...), ", ")
}

// measured is what a cable was measured to give as what it is, from its first end to its
// second, and back.
func measured(c api.Cable) string {
	var parts []string
	there, back, kind := c.MeasuredForwardBitsPerS, c.MeasuredBackwardBitsPerS, kindName(c.Style)
	if c.Style == api.LinkUnknown {
		kind = "Cable"
	}
	if there != nil {
		parts = append(parts, apptext.BitsPerS(*there)+" there")
	}
	if back != nil {
		parts = append(parts, apptext.BitsPerS(*back)+" back")
	}
	if c.RTTUS != nil {
		parts = append(parts, apptext.Micros(*c.RTTUS/2)+" one way")
	}
	return kind + ": " + cmp.Or(strings.Join(parts, ", "), "not measured")
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
