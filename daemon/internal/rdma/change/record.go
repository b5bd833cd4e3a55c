package change

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
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
func (r Record) Other() api.LinkEnd { return r.Link.Other(r.End) }

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

// Step is one setting that a change replaces. What a bridge step does is take the
// interface out of a bridge; what a service step does is give it a service.
type Step struct {
	// What is the kind of step: bridge or service.
	What api.RDMAStepKind `json:"what"`
	// Interface is the network interface.
	Interface string `json:"interface"`
	// Bridge is the bridge that the interface leaves.
	Bridge string `json:"bridge,omitempty"`
	// Service is the service as it is to be. Its ID is empty until it is known to be
	// there.
	Service *Service `json:"service,omitempty"`
	// State is how far the step has come.
	State api.RDMAStepState `json:"state"`
	// Found is what was there at undo, where somebody had changed it.
	Found string `json:"found,omitempty"`
}

// Service is a network service as far as a change is concerned.
type Service struct {
	// ID is the system's identifier.
	ID string `json:"id,omitempty"`
	// Name is what the system shows to people.
	Name string `json:"name"`
	// Interface is the one that it configures.
	Interface string `json:"interface"`
	// Enabled says that it is switched on.
	Enabled bool `json:"enabled"`
	// IPv4 is how it gets its IPv4 address, in the system's own word.
	IPv4 string `json:"ipv4"`
	// Addresses are the configured ones.
	Addresses []netip.Prefix `json:"addresses,omitempty"`
}

// thunderboltBridge is the bridge that macOS makes of all Thunderbolt ports.
const thunderboltBridge = "bridge0"

// Manual is the IPv4 method of the services that Fulmen makes.
const Manual = "manual"

// same compares services but for their identifiers.
func (s Service) same(o Service) bool {
	addresses := slices.Equal(s.Addresses, o.Addresses)
	s.ID, o.ID, s.Addresses, o.Addresses = "", "", nil, nil
	return addresses && reflect.DeepEqual(s, o)
}

// String is the service as a person reads it.
func (s Service) String() string {
	text := fmt.Sprintf("%s: %s", s.Name, s.IPv4)
	for _, a := range s.Addresses {
		text += " " + a.String()
	}
	if !s.Enabled {
		text += ", switched off"
	}
	return text
}

// view is the step as the API has it.
func (s Step) view() api.RDMAStep {
	v := api.RDMAStep{What: s.What, State: s.State}
	if s.Found != "" {
		v.Found = new(s.Found)
	}
	switch s.What {
	case api.RDMAStepBridge:
		v.Setting = "VirtualNetworkInterfaces/Bridge/" + s.Bridge + "/Interfaces/" + s.Interface
		v.Text = fmt.Sprintf("Take %s out of the bridge %s.", s.Interface, s.Bridge)
		if s.Bridge == thunderboltBridge {
			v.Text = fmt.Sprintf("Take %s out of the Thunderbolt Bridge (%s).", s.Interface, s.Bridge)
		}
		v.Before = new("member")
	case api.RDMAStepService:
		v.Setting = "NetworkServices/" + s.Service.Name
		v.Text = fmt.Sprintf("Give %s a network service of its own, %q, with the address %s.", s.Interface, s.Service.Name, s.Service.Addresses[0])
		v.After = new(s.Service.String())
	}
	return v
}

// Check returns what is wrong with a record that was read from a file.
func (r Record) Check() error {
	switch {
	case r.Change == "":
		return errors.New("it has no id")
	case !r.Link.Valid() || r.End != r.Link.Low && r.End != r.Link.High:
		return errors.New("its end is none of its cable")
	case !r.State.Valid():
		return fmt.Errorf("there is no state %q", r.State)
	case r.Interface == "":
		return errors.New("it has no interface")
	}
	for i, s := range r.Steps {
		if err := s.check(r.Interface); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Step) check(iface string) error {
	switch {
	case s.Interface != iface:
		return fmt.Errorf("it is about %q", s.Interface)
	case !s.State.Valid():
		return fmt.Errorf("there is no state %q", s.State)
	case s.What == api.RDMAStepBridge && s.Bridge != "" && s.Service == nil:
		return nil
	case s.What == api.RDMAStepService && s.Bridge == "" && s.Service != nil && s.Service.Interface == iface && len(s.Service.Addresses) == 1:
		return nil
	}
	return fmt.Errorf("a step %q has something else", s.What)
}
