package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// set does the verb set: of a Mac, one of its interfaces, an area, or a network.
func (w *World) set(op scenario.Op) error {
	if n := w.network(op.Owner); n != nil {
		return n.set(op.Key, op.Value)
	}
	m := w.mac(op.Owner)
	if m == nil {
		return fmt.Errorf("no Mac or network %q: %w", op.Owner, native.ErrNotFound)
	}
	if known, err := w.setMac(m, op.Key, op.Value); known {
		return err
	}
	dot := strings.LastIndex(op.Key, ".")
	if dot < 0 {
		return fmt.Errorf("unknown key %q", op.Key)
	}
	if name, key := op.Key[:dot], op.Key[dot+1:]; key == "told" {
		return m.setTold(name, op.Value)
	} else if i := m.iface(name); i != nil {
		return w.setInterface(m, i, key, op.Value)
	} else {
		return fmt.Errorf("%s has no interface %q: %w", op.Owner, name, native.ErrNotFound)
	}
}

// setMac sets what a Mac has one of. known is false for a key that is none.
func (w *World) setMac(m *mac, key, value string) (known bool, err error) {
	spec := &m.spec
	switch key {
	case "rdma":
		return true, oneOf(&spec.RDMA, value, native.RDMAOff, native.RDMAOn, native.RDMAOnAfterRestart)
	case "memory.pressure":
		return true, oneOf(&spec.Pressure, value, native.PressureNormal, native.PressureWarning, native.PressureCritical)
	case "thermal":
		return true, oneOf(&spec.ThermalState, value, native.ThermalNominal, native.ThermalFair, native.ThermalSerious, native.ThermalCritical)
	case "power":
		return true, oneOf(&spec.PowerSource, value, native.PowerAC, native.PowerBattery, native.PowerUPS)
	case "low_power":
		return true, choose(&spec.LowPowerMode, value, "yes", "no")
	case "name":
		spec.Identity.Name = value
	case "memory.used":
		bytes, err := scenario.ParseSize(value)
		if err == nil && bytes > spec.MemoryBytes {
			err = fmt.Errorf("%d bytes are more than the %d that it has", bytes, spec.MemoryBytes)
		}
		if err != nil {
			return true, err
		}
		spec.UsedBytes = bytes
	case "battery":
		ratio, err := strconv.ParseFloat(value, 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			return true, fmt.Errorf("%q is no number from 0 to 1", value)
		}
		spec.BatteryRatio = &ratio
	case "gpu_use":
		return true, setLoad(&spec.GPUUseRatio, key, value)
	case "watts":
		return true, setLoad(&spec.SystemPowerWatts, key, value)
	case "celsius":
		return true, setLoad(&spec.GPUTemperatureCelsius, key, value)
	case "os":
		version, build, err := scenario.ParseOS(value)
		if err != nil {
			return true, err
		}
		spec.Identity.OSVersion, spec.Identity.OSBuild = version, build
		spec.OSCapable = scenario.HasRDMADriver(version)
	case "configuration":
		return true, m.hold(value)
	case "lid":
		if err := choose(&spec.LidClosed, value, "closed", "open"); err != nil {
			return true, err
		}
		w.moveLid(m)
	default:
		return false, nil
	}
	return true, nil
}

func setLoad(to **float64, key, value string) error {
	number, err := scenario.ParseLoad(key, value)
	if err == nil {
		*to = &number
	}
	return err
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

func (m *mac) setTold(name, value string) error {
	area, err := native.ParseArea(name)
	if err != nil {
		return err
	}
	silent := m.silent[area]
	err = choose(&silent, value, "no", "yes")
	m.silent[area] = silent
	return err
}

func (w *World) setInterface(m *mac, i *iface, key, value string) error {
	switch key {
	case "link":
		return choose(&i.linked, value, "up", "down")
	case "present":
		was := i.present
		if err := choose(&i.present, value, "yes", "no"); err != nil {
			return err
		}
		if i.present && !was {
			i.index = m.nextIndex // a kernel gives no number twice
			m.nextIndex++
		}
		return nil
	case "bridge":
		if value == "none" {
			for _, b := range m.bridges {
				b.setMember(i.spec.Name, false)
			}
			return nil
		}
		return m.setMember(value, i, true)
	case "address":
		return w.setAddress(i, value)
	case "service":
		return m.setService(i, value)
	}
	return fmt.Errorf("unknown key %q of an interface", key)
}

// hold has somebody else hold the network's configuration, so that changes fail as
// they do on macOS, or the system refuse them.
func (m *mac) hold(value string) error {
	errs := map[string]error{"free": nil, "locked": native.ErrStale, "refused": native.ErrPermission}
	err, known := errs[value]
	if !known {
		return fmt.Errorf("%q is none of free, locked, refused", value)
	}
	m.held = err
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

func (n *network) set(key, value string) error {
	switch key {
	case "link":
		return choose(&n.up, value, "up", "down")
	case "isolated":
		return choose(&n.spec.Isolated, value, "yes", "no")
	}
	return fmt.Errorf("unknown key %q of a network", key)
}

// choose sets a yes or no that has words of its own.
func choose(to *bool, value, yes, no string) error {
	if value != yes && value != no {
		return fmt.Errorf("%q is neither %s nor %s", value, yes, no)
	}
	*to = value == yes
	return nil
}

// oneOf sets one of the values of a type.
func oneOf[T ~string](to *T, value string, values ...T) error {
	if !slices.Contains(values, T(value)) {
		return fmt.Errorf("%q is none of %v", value, values)
	}
	*to = T(value)
	return nil
}
