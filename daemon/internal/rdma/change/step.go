package change

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"fulmen/daemon/api"
)

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
		v.Text = fmt.Sprintf("Give %s a network service of its own, %q, with the address %s.", s.Interface, s.Service.Name, addressesText(s.Service.Addresses))
		v.After = new(s.Service.String())
	}
	return v
}

func addressesText(all []netip.Prefix) string {
	text := ""
	for i, a := range all {
		if i > 0 {
			text += ", "
		}
		text += a.String()
	}
	return text
}
