package sim

import (
	"fmt"
	"slices"
	"strings"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// set does the verb set: of a network, a Mac, one of its interfaces, or an area. That
// the key and its value can be is known.
func (w *World) set(op scenario.Op) error {
	if n := w.network(op.Owner); n != nil {
		if op.Key == "link" {
			n.up = op.Value == "up"
		} else {
			n.spec.Isolated = op.Value == "yes"
		}
		return nil
	}
	m := w.mac(op.Owner)
	if err := m.spec.Set(op.Key, op.Value); err != nil {
		return err
	}
	dot := strings.LastIndex(op.Key, ".")
	if i := m.iface(op.Key[:max(dot, 0)]); i != nil {
		return w.setInterface(m, i, op.Key[dot+1:], op.Value)
	}
	switch area, isArea := strings.CutSuffix(op.Key, ".told"); {
	case isArea:
		m.silent[native.Area(area)] = op.Value == "no"
	case op.Key == "lid":
		w.moveLid(m)
	case op.Key == "configuration":
		// Somebody else holds the network's configuration, so that changes fail as they
		// do on macOS, or the system refuses them.
		m.held = map[string]error{"locked": native.ErrStale, "refused": native.ErrPermission}[op.Value]
	}
	return nil
}

// moveLid puts a Mac to sleep, or wakes it.
func (w *World) moveLid(m *mac) {
	switch {
	case !m.spec.LidClosed:
		w.wake(m, "lid opened")
	case m.power == awake && m.leaving == nil:
		w.leave(m, asleep, native.PowerWillSleep, "lid closed")
	}
}

func (w *World) setInterface(m *mac, i *iface, key, value string) error {
	switch key {
	case "link":
		i.linked = value == "up"
	case "present":
		was := i.present
		if i.present = value == "yes"; i.present && !was {
			i.index = m.nextIndex // a kernel gives no number twice
			m.nextIndex++
		}
	case "bridge":
		if value != "none" {
			return m.setMember(value, i, true)
		}
		for _, b := range m.bridges {
			b.setMember(i.spec.Name, false)
		}
	case "address":
		return w.setAddress(i, value)
	case "service":
		return m.setService(i, value)
	}
	return nil
}

// setService renames the network service of an interface, as a person can, or
// removes it.
func (m *mac) setService(i *iface, value string) error {
	at := slices.IndexFunc(m.services, func(s native.NetworkService) bool { return s.Interface == i.spec.Name })
	if at < 0 {
		return fmt.Errorf("%s has no network service: %w", i.spec.Name, native.ErrNotFound)
	}
	services := slices.Clone(m.services)
	if value == "none" {
		services = slices.Delete(services, at, at+1)
		i.addresses = slices.DeleteFunc(i.addresses, func(a address) bool { return a.Address.Addr().Is4() })
	} else {
		services[at].Name = value
	}
	m.services = services
	return nil
}

// setAddress puts one address in the place of those of its family, or takes all.
func (w *World) setAddress(i *iface, value string) error {
	if value == "none" {
		i.addresses = nil
		return nil
	}
	parsed, err := scenario.ParseAddress(value)
	if err != nil {
		return err
	}
	_, stays := address{InterfaceAddress: parsed}.delay()
	i.addresses = slices.DeleteFunc(i.addresses, func(a address) bool { return a.Address.Addr().Is4() == parsed.Address.Addr().Is4() })
	i.addresses = append(i.addresses, address{InterfaceAddress: parsed, ready: stays || i.speaks})
	return nil
}
