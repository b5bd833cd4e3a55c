package change

import (
	"net/netip"

	"fulmen/daemon/api"
)

// Asked is what an end is to be changed to.
type Asked struct {
	// Change, Link, End, By and At are the record's.
	Change string
	Link   api.LinkID
	End    api.LinkEnd
	By     api.Principal
	At     api.Time
	// Wanted is the address that the other end proposes; the zero prefix: none.
	Wanted netip.Prefix
	// Taken are the networks and addresses that cannot be used at this end.
	Taken []netip.Prefix
	// Before is an earlier change of this end of which something is still to be put
	// back; nil where there is none.
	Before *Record
}

// Plan gives the record of what is to be changed, or an *api.Error that says what
// is in the way. The record's address is the one wanted, or that in the first free
// network after it.
func Plan(f Found, a Asked) (Record, error) {
	if !f.Present {
		return Record{}, api.Errorf(api.ReasonRDMANoDevice, f.Interface, "There is no interface %s.", f.Interface)
	}
	for _, s := range f.Services {
		// A service of somebody's is not touched, and a second one beside it is refused
		// by the system.
		if s.Enabled {
			return Record{}, api.Errorf(api.ReasonRDMAServiceInWay, f.Interface, "%s has a network service already, %q, which Fulmen did not make.", f.Interface, s.Name)
		}
	}
	own, free := FirstFree(a.Wanted, a.End == a.Link.Low, a.Taken)
	if !free {
		return Record{}, api.NewError(api.ReasonRDMANoFreeNetwork, a.Link.String())
	}
	r := Record{
		Change: a.Change, Link: a.Link, End: a.End, By: a.By, StartedAt: a.At, Since: a.At, State: api.RDMAChangePlanned,
		Interface: f.Interface, Address: own,
	}
	for _, m := range f.Bridges {
		if m.member() {
			r.Steps = append(r.Steps, Step{What: api.RDMAStepBridge, Interface: f.Interface, Bridge: m.Bridge, State: api.RDMAStepPlanned})
		}
	}
	if a.Before != nil && len(r.Steps) == 0 {
		r.Steps = inherited(*a.Before, f)
	}
	r.Steps = append(r.Steps, Step{
		What: api.RDMAStepService, Interface: f.Interface, State: api.RDMAStepPlanned,
		Service: &Service{
			Name: api.ServiceName(a.End.Receptacle), Interface: f.Interface, Enabled: true, IPv4: Manual, Addresses: []netip.Prefix{own},
		},
	})
	return r, nil
}

// inherited are the bridges that an earlier change took the interface out of and
// could not put it back into.
func inherited(before Record, f Found) []Step {
	var steps []Step
	for _, s := range before.Left() {
		if s.What == api.RDMAStepBridge && s.Interface == f.Interface {
			s.State, s.Found = api.RDMAStepDone, ""
			steps = append(steps, s)
		}
	}
	return steps
}
