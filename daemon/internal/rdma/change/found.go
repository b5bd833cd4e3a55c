package change

import (
	"fmt"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// Found is what a system has of one interface, as far as a change is concerned.
type Found struct {
	// Interface is its name, and Present says that it exists.
	Interface string
	Present   bool
	// Bridges are all bridges there are.
	Bridges []Membership
	// Services are those of the interface.
	Services []Service
	// Addresses are its IPv4 addresses.
	Addresses []netip.Prefix
}

// Membership is an interface's in a bridge: what the kernel runs and what is
// stored can differ.
type Membership struct {
	Bridge         string
	Kernel, Stored bool
}

// member reports whether the interface is in the bridge in either sense.
func (m Membership) member() bool { return m.Kernel || m.Stored }

// Outcome is what is to become of a step that is put back.
type Outcome string

const (
	// Ours is as the change left it: it goes back.
	Ours Outcome = "ours"
	// Before is as it was before: nothing is to be done.
	Before Outcome = "before"
	// Changed is neither: it is somebody else's now, and is left.
	Changed Outcome = "changed"
)

// Outcome compares what a step found, what it put there, and what is there now. The
// text says what is there, where that is somebody else's. The service is the one
// that counts as the step's own.
func (s Step) Outcome(f Found) (outcome Outcome, found string, own Service) {
	if s.Service != nil {
		return s.serviceOutcome(f)
	}
	at := slices.IndexFunc(f.Bridges, func(m Membership) bool { return m.Bridge == s.Bridge })
	other := slices.IndexFunc(f.Bridges, func(m Membership) bool { return m.Bridge != s.Bridge && m.member() })
	switch {
	case other >= 0:
		return Changed, fmt.Sprintf("%s belongs to the bridge %s", f.Interface, f.Bridges[other].Bridge), own
	case at < 0:
		return Changed, fmt.Sprintf("there is no bridge %s", s.Bridge), own
	case !f.Present:
		return Changed, fmt.Sprintf("there is no interface %s", f.Interface), own
	case f.Bridges[at].Kernel && f.Bridges[at].Stored:
		return Before, "", own
	}
	return Ours, "", own
}

// serviceOutcome finds the step's own service: by its identifier, and where that was
// never noted, by all the rest, which was noted before the service was made.
func (s Step) serviceOutcome(f Found) (Outcome, string, Service) {
	for _, one := range f.Services {
		switch {
		case s.Service.ID == "" && s.Service.same(one):
			return Ours, "", one
		case s.Service.ID == "" || s.Service.ID != one.ID:
		case s.Service.same(one):
			return Ours, "", one
		default:
			return Changed, one.String(), one
		}
	}
	return Before, "", Service{}
}

// InForce reports whether everything is as the change left it; if not, found says
// what is not.
func (r Record) InForce(f Found) (is bool, found string) {
	for _, s := range r.Steps {
		outcome, text, _ := s.Outcome(f)
		switch {
		case outcome == Ours && s.What == api.RDMAStepBridge && f.inBridge():
			return false, fmt.Sprintf("%s is partly in the bridge %s", f.Interface, s.Bridge)
		case outcome == Before && s.What == api.RDMAStepBridge:
			return false, fmt.Sprintf("%s is in the bridge %s again", f.Interface, s.Bridge)
		case outcome == Before:
			return false, fmt.Sprintf("the network service %q is gone", s.Service.Name)
		case outcome == Changed && !(s.What == api.RDMAStepBridge && !f.inBridge()):
			return false, text
		}
	}
	return true, ""
}

// inBridge reports whether the interface belongs to any bridge.
func (f Found) inBridge() bool {
	return slices.ContainsFunc(f.Bridges, Membership.member)
}
