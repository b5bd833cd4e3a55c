package scenario

import (
	"fmt"
	"slices"

	"fulmen/native"
)

// Mac returns the Mac of that name.
func (s Scenario) Mac(name string) (Mac, bool) { return find(s.Macs, name, macName) }

// Hub returns the hub of that name.
func (s Scenario) Hub(name string) (Hub, bool) { return find(s.Hubs, name, hubName) }

// Network returns the network of that name.
func (s Scenario) Network(name string) (Network, bool) { return find(s.Networks, name, networkName) }

// Port returns the Mac's port at that receptacle.
func (m Mac) Port(portNumber int) (Port, bool) {
	return find(m.Ports, portNumber, func(p Port) int { return p.PortNumber })
}

// Interface returns the Mac's interface of that name.
func (m Mac) Interface(name string) (Interface, bool) {
	return find(m.Interfaces, name, interfaceName)
}

// Bridge returns the Mac's bridge of that name.
func (m Mac) Bridge(name string) (Bridge, bool) { return find(m.Bridges, name, bridgeName) }

func macName(m Mac) string             { return m.Name }
func hubName(h Hub) string             { return h.Name }
func networkName(n Network) string     { return n.Name }
func interfaceName(i Interface) string { return i.Name }
func bridgeName(b Bridge) string       { return b.Name }

func find[T any, K comparable](list []T, key K, of func(T) K) (found T, ok bool) {
	if i := slices.IndexFunc(list, func(item T) bool { return of(item) == key }); i >= 0 {
		return list[i], true
	}
	return found, false
}

func namesOf[T any](list []T, name func(T) string) []string {
	var all []string
	for _, item := range list {
		all = append(all, name(item))
	}
	return all
}

// Capability returns what the receptacle at that end can do, or an error that
// says what is not there.
func (s Scenario) Capability(end End) (native.ThunderboltVersion, error) {
	mac, isMac := s.Mac(end.Owner)
	hub, isHub := s.Hub(end.Owner)
	switch {
	case !isMac && !isHub:
		known := append(namesOf(s.Macs, macName), namesOf(s.Hubs, hubName)...)
		return "", missing("%s: there is no Mac or hub %q%s", end, end.Owner, didYouMean(end.Owner, known))
	case isMac && end.Hub:
		return "", missing("%s: %s is a Mac; write its ports like %s.tb1", end, end.Owner, end.Owner)
	case isHub && !end.Hub:
		return "", missing("%s: %s is a hub; write its ports like %s.up and %s.1", end, end.Owner, end.Owner, end.Owner)
	case isHub && end.PortNumber > hub.Downstream:
		return "", missing("%s: hub %s has %d downstream port(s)", end, hub.Name, hub.Downstream)
	case isHub:
		return hub.Capability, nil
	}
	port, ok := mac.Port(end.PortNumber)
	if !ok {
		var known []string
		for _, p := range mac.Ports {
			known = append(known, fmt.Sprintf("tb%d", p.PortNumber))
		}
		return "", missing("%s: mac %s has no port %d; it has %v", end, mac.Name, end.PortNumber, known)
	}
	return port.Capability, nil
}

// missingError says what is not there. It matches [native.ErrNotFound].
type missingError string

func missing(format string, args ...any) error { return missingError(fmt.Sprintf(format, args...)) }

// Error is what was said.
func (m missingError) Error() string { return string(m) }

// Is makes errors.Is(err, native.ErrNotFound) true.
func (missingError) Is(target error) bool { return target == native.ErrNotFound }
