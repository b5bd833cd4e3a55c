package app

import (
	"fmt"

	apptext "fulmen/app/text"
	"fulmen/daemon/api"
)

const enableText = "Fulmen changes the network settings of both ends: each cable gets its own addresses and leaves the Thunderbolt Bridge. " +
	"It can be put back at any time."

// canEnable reports whether Enable is offered: on Thunderbolt 5 alone, whatever
// a daemon says.
func canEnable(c api.Cable, r api.RDMAReadiness) bool {
	return r.Verdict == api.RDMACanEnable && c.Kind == api.LinkTB5 && c.Link.Valid()
}

// enable puts RDMA in order on a cable.
func (s *State) enable(c api.Cable) *Do {
	return &Do{Call: changeCall("rdma.enable", c),
		Confirm: &Confirm{Title: "Enable RDMA between " + s.cableName(c) + "?", Button: "Enable", Text: enableText}}
}

// enableAll does so on every cable that is ready for it.
func enableAll() *Do {
	return &Do{Call: &Call{Method: "rdma.enable", Params: api.RDMAChangeParams{AllReady: true}, Admin: true},
		Confirm: &Confirm{Title: "Enable RDMA on all cables that are ready for it?", Button: "Enable", Text: enableText}}
}

// disable puts back what enable changed.
func (s *State) disable(c api.Cable) *Do {
	return &Do{Call: changeCall("rdma.disable", c),
		Confirm: &Confirm{Title: "Disable RDMA between " + s.cableName(c) + "?", Button: "Disable",
			Text: "What Fulmen changed at both ends is put back. Jobs that use the cable end."}}
}

// changeCall is a change of one cable.
func changeCall(method string, cables ...api.Cable) *Call {
	var p api.RDMAChangeParams
	for _, c := range cables {
		p.Links = append(p.Links, api.LinkRef(c.Link.String()))
	}
	return &Call{Method: method, Params: p, Admin: true}
}

// changing is what is being changed on a cable, in a few words; empty where
// nothing is.
func (s *State) changing(link api.LinkID) string {
	for _, c := range s.Changes {
		if c.Link != link {
			continue
		}
		switch c.State {
		case api.RDMAChangePlanned, api.RDMAChangeApplying:
			return "RDMA is being enabled"
		case api.RDMAChangeProving:
			return "RDMA is being tested"
		case api.RDMAChangeUndoing:
			return "RDMA is being put back"
		case api.RDMAChangeActive, api.RDMAChangeUndone, api.RDMAChangePartial:
		}
	}
	return ""
}

// isOurs reports whether Fulmen enabled RDMA on a cable.
func (s *State) isOurs(link api.LinkID) bool {
	for _, c := range s.Changes {
		if c.Link == link && c.State == api.RDMAChangeActive {
			return true
		}
	}
	return false
}

// lastFailure is why the last change of a cable failed; empty where it did not.
func (s *State) lastFailure(link api.LinkID) string {
	var latest api.NodeRDMAChange
	for _, c := range s.Changes {
		if c.Link == link && c.Reason != "" && c.State != api.RDMAChangeActive && c.Since.After(latest.Since.Time) {
			latest = c
		}
	}
	return latest.Message
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
	why := "Not known yet."
	slow, known := slowest(c)
	switch {
	case r.Text != "":
		why = clean(r.Text)
	case c.Kind == api.LinkTB3 || c.Kind == api.LinkTB4:
		why = "RDMA needs Thunderbolt 5 at both ends; this is " + kindName(c.Kind) + "."
	case known && slow <= rdmaNeedsOver:
		why = "It runs at " + apptext.BitsPerS(slow) + "; RDMA needs more than 40 Gb/s."
	case len(c.Ends) < 2:
		why = "The other end does not run Fulmen."
	}
	return []Item{info(id+":why:text", why)}
}
