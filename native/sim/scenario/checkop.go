package scenario

import (
	"fmt"
	"strings"

	"fulmen/native"
)

// CheckOp says whether the scenario has what the op names: the Macs, hubs,
// receptacles, interfaces and networks, and speeds that they can. Whether the
// receptacle is free at that moment is for whoever keeps the state.
func (s Scenario) CheckOp(op Op) error {
	if err := s.checkOp(op); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

func (s Scenario) checkOp(op Op) error {
	switch op.Verb {
	case VerbPlug, VerbUnplug, VerbRetrain:
		return s.checkEnds(op)
	case VerbSleep, VerbWake, VerbRestart:
		return s.checkMac(op.Owner)
	case VerbSet:
		return s.checkSet(op)
	}
	return fmt.Errorf("unknown verb %q", op.Verb)
}

func (s Scenario) checkMac(name string) error {
	if _, ok := s.Mac(name); !ok {
		return fmt.Errorf("there is no Mac %q%s", name, didYouMean(name, namesOf(s.Macs, macName)))
	}
	return nil
}

func (s Scenario) checkEnds(op Op) error {
	needed := 1
	if op.Verb == VerbPlug {
		needed = 2
	}
	if len(op.Ends) != needed {
		return fmt.Errorf("%d end(s) named, %d needed", len(op.Ends), needed)
	}
	var capabilities []native.ThunderboltVersion
	for _, end := range op.Ends {
		capability, err := s.Capability(end)
		if err != nil {
			return err
		}
		capabilities = append(capabilities, capability)
	}
	if needed == 2 && op.Ends[0] == op.Ends[1] {
		return fmt.Errorf("both ends are %s", op.Ends[0])
	}
	// The other end of an op with one is known only when it is applied.
	return checkSpeed(op.Speed, capabilities[0], capabilities[len(capabilities)-1])
}

func (s Scenario) checkSet(op Op) error {
	if err := checkValue(op.Key, op.Value); err != nil {
		return err
	}
	if _, ok := s.Network(op.Owner); ok {
		for _, k := range setKeys() {
			if k.ofNetwork && k.name == op.Key {
				return nil
			}
		}
		return fmt.Errorf("%s is a network; it has link and isolated", op.Owner)
	}
	mac, ok := s.Mac(op.Owner)
	if !ok {
		known := append(namesOf(s.Macs, macName), namesOf(s.Networks, networkName)...)
		return fmt.Errorf("there is no Mac or network %q%s", op.Owner, didYouMean(op.Owner, known))
	}
	key, prefix, _ := findKey(op.Key)
	if !key.ofMac {
		return fmt.Errorf("%s is a Mac, and %s is for networks; an interface has INTERFACE.link", op.Owner, op.Key)
	}
	if key.prefix == prefixInterface {
		return mac.checkSetInterface(prefix, key.name, op.Value)
	}
	return mac.checkSetValue(op)
}

func (m Mac) checkSetInterface(name, key, value string) error {
	_, isInterface := m.Interface(name)
	_, isBridge := m.Bridge(name)
	if !isInterface && (!isBridge || key == "bridge") {
		known := namesOf(m.Interfaces, interfaceName)
		return fmt.Errorf("mac %s has no interface %q%s; it has %s", m.Name, name, didYouMean(name, known), strings.Join(known, ", "))
	}
	if _, ok := m.Bridge(value); key == "bridge" && value != "none" && !ok {
		return fmt.Errorf("mac %s has no bridge %q", m.Name, value)
	}
	return nil
}

func (m Mac) checkSetValue(op Op) error {
	switch op.Key {
	case "rdma":
		if op.Value != string(native.RDMAOff) && !m.OSCapable {
			return m.noDriver()
		}
	case "memory.used":
		used, err := ParseSize(op.Value)
		if err == nil && m.MemoryBytes > 0 && used > m.MemoryBytes {
			return fmt.Errorf("%s is more than the memory of %s", op.Value, m.Name)
		}
	case "battery":
		if m.BatteryRatio == nil {
			return m.noBattery()
		}
	case "power":
		if op.Value == string(native.PowerBattery) && m.BatteryRatio == nil {
			return m.noBattery()
		}
	}
	return nil
}

func (m Mac) noDriver() error {
	return fmt.Errorf("the system of %s (%s) has no RDMA driver, so its switch stays off; it came with macOS 26.2",
		m.Name, orElse(m.Identity.OSVersion, "of unknown version"))
}

func (m Mac) noBattery() error {
	return fmt.Errorf("%s has no battery; give it one with battery = 1.0", m.Name)
}
