package change

import (
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// Record is all that one end keeps of a change. It holds enough to put everything
// back without the other end, and without the Fulmen that made it.
type Record struct {
	// Change tells one change of a cable from the next; both ends use the same.
	Change string `json:"change"`
	// Link is the cable, and End this end of it.
	Link api.LinkID  `json:"link"`
	End  api.LinkEnd `json:"end"`
	// By is who asked, and UndoneBy who had it put back.
	By       api.Principal `json:"by"`
	UndoneBy api.Principal `json:"undone_by,omitzero"`
	// StartedAt is when it began, and Since when it reached its state.
	StartedAt api.Time `json:"started_at"`
	Since     api.Time `json:"since"`
	// State is how far it has come.
	State api.RDMAChangeState `json:"state"`
	// Interface and Address are this end's.
	Interface string       `json:"interface"`
	Address   netip.Prefix `json:"address,omitzero"`
	// Steps are in the order in which they are made.
	Steps []Step `json:"steps"`
	// Reason is why it was put back, and Message that as a sentence; empty where a
	// person asked.
	Reason  api.Reason `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
}

// View is the record as the API has it.
func (r Record) View() api.RDMAChange {
	v := api.RDMAChange{
		Link: r.Link, Change: r.Change, State: r.State, Since: r.Since, By: r.By, UndoneBy: r.UndoneBy, StartedAt: r.StartedAt,
		Interface: r.Interface, Address: r.Address, Reason: r.Reason, Message: r.Message,
	}
	for _, s := range r.Steps {
		v.Steps = append(v.Steps, s.view())
	}
	return v
}

// Other is the other end of the cable.
func (r Record) Other() api.LinkEnd {
	if r.End == r.Link.Low {
		return r.Link.High
	}
	return r.Link.Low
}

// Running reports whether the change is under way at this end: nothing else is
// changed there meanwhile.
func (r Record) Running() bool {
	switch r.State {
	case api.RDMAChangePlanned, api.RDMAChangeApplying, api.RDMAChangeProving, api.RDMAChangeUndoing:
		return true
	}
	return false
}

// Left are the steps that are still to be put back.
func (r Record) Left() []Step {
	return slices.DeleteFunc(slices.Clone(r.Steps), func(s Step) bool { return s.State == api.RDMAStepUndone })
}

// copied is the record with steps of its own.
func (r Record) copied() Record {
	r.Steps = slices.Clone(r.Steps)
	for i, s := range r.Steps {
		if s.Service != nil {
			service := *s.Service
			service.Addresses = slices.Clone(service.Addresses)
			r.Steps[i].Service = &service
		}
	}
	return r
}
