package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fulmen/native"
	"fulmen/native/tomltext"
)

// checkTimeLine goes through the time line as it will happen, so that a plug
// into a receptacle in use is found before the simulation runs.
func (s Scenario) checkTimeLine(p *problems) {
	now := Scenario{Macs: s.Macs, Hubs: s.Hubs, Networks: s.Networks, Cables: slices.Clone(s.Cables)}
	asleep := map[string]bool{}
	for i, event := range s.TimeLine {
		if event.Op.Verb == "" {
			continue
		}
		path := fmt.Sprintf("at[%d]", i)
		if i > 0 && event.After < s.TimeLine[i-1].After {
			p.add(tomltext.Join(path, "after"), "at %d: after = %s is before the event above it (%s); put them in order of time",
				i+1, event.After, s.TimeLine[i-1].After)
		}
		err := now.CheckOp(event.Op)
		if err == nil {
			err = now.step(event.Op, asleep)
		}
		if err != nil {
			p.add(tomltext.Join(path, "do"), "at %d: %s", i+1, err)
		}
	}
}

// step applies to the cables and to who sleeps what the op does to them.
func (s *Scenario) step(op Op, asleep map[string]bool) error {
	switch op.Verb {
	case VerbPlug:
		for _, end := range op.Ends {
			if other, ok := s.other(end); ok {
				return fmt.Errorf("%s: port %s is in use by then: its cable goes to %s", op, end, other)
			}
		}
		s.Cables = append(s.Cables, Cable{Ends: [2]End(op.Ends), Speed: op.Speed})
	case VerbUnplug, VerbRetrain:
		i := slices.IndexFunc(s.Cables, func(c Cable) bool { return slices.Contains(c.Ends[:], op.Ends[0]) })
		if i < 0 {
			return fmt.Errorf("%s: no cable is in port %s by then", op, op.Ends[0])
		}
		if op.Verb == VerbUnplug {
			s.Cables = slices.Delete(s.Cables, i, i+1)
			return nil
		}
		// Both exist: the cable passed its own check.
		a, _ := s.Capability(s.Cables[i].Ends[0])
		b, _ := s.Capability(s.Cables[i].Ends[1])
		if err := CheckSpeed(op.Speed, a, b); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	case VerbSleep, VerbWake:
		if asleep[op.Owner] == (op.Verb == VerbSleep) {
			return fmt.Errorf("%s: %s would be %s already", op, op.Owner, map[bool]string{true: "asleep", false: "awake"}[asleep[op.Owner]])
		}
		asleep[op.Owner] = op.Verb == VerbSleep
	case VerbRestart:
		asleep[op.Owner] = false
	}
	return nil
}

// checkMeasurements refuses numbers of Macs and paths that are not there.
func (s Scenario) checkMeasurements(p *problems) {
	for i, gpu := range s.Measurements.GPUs {
		path := fmt.Sprintf("gpu[%d]", i)
		fail := func(key, format string, args ...any) {
			p.add(tomltext.Join(path, key), "gpu %d: %s", i+1, fmt.Sprintf(format, args...))
		}
		if gpu.Mac == "" {
			continue
		}
		if err := s.checkMac(gpu.Mac); err != nil {
			fail("mac", "%s", err)
		}
		if slices.IndexFunc(s.Measurements.GPUs, func(g GPUMeasurement) bool { return g.Mac == gpu.Mac }) < i {
			fail("mac", "the GPU of %s is described twice", gpu.Mac)
		}
	}
	for i, link := range s.Measurements.Links {
		path := fmt.Sprintf("link[%d]", i)
		fail := func(key, format string, args ...any) {
			p.add(tomltext.Join(path, key), "link %d: %s", i+1, fmt.Sprintf(format, args...))
		}
		if link.From == "" && link.To == "" && link.Over != "" {
			if len(s.every(link)) == 0 {
				fail("over", "%s over %q joins no two Macs; of every two it is a network's name or %q", link.Transport, link.Over, overCables)
			}
			if slices.ContainsFunc(s.Measurements.Links[:i], func(l LinkMeasurement) bool {
				return l.From == "" && l.Over == link.Over && l.Transport == link.Transport
			}) {
				fail("over", "%s over %q is described twice", link.Transport, link.Over)
			}
		}
		if link.From == "" || link.To == "" || link.Over == "" {
			continue
		}
		from, ok := s.Mac(link.From)
		if !ok {
			fail("from", "%s", s.checkMac(link.From))
			continue
		}
		if err := s.checkMac(link.To); err != nil {
			fail("to", "%s", err)
			continue
		}
		if link.From == link.To {
			fail("to", "from and to are both %s", link.To)
			continue
		}
		if err := s.checkPath(link, from); err != nil {
			fail("over", "%s", err)
		}
	}
}

// overCables is what a measurement of every two Macs is over where it is no network.
const overCables = "cables"

// every is a measurement of no Macs as it is of each two that it is for: those on a
// network, or at the ends of a cable that is as fast as any.
func (s Scenario) every(l LinkMeasurement) (all []LinkMeasurement) {
	add := func(from, to, over string) {
		l.From, l.To, l.Over = from, to, over
		if mac, _ := s.Mac(from); from != to && s.checkPath(l, mac) == nil {
			all = append(all, l)
		}
	}
	if _, is := s.Network(l.Over); is {
		for i, mac := range s.Macs {
			for _, other := range s.Macs[i+1:] {
				add(mac.Name, other.Name, l.Over)
			}
		}
	} else if l.Over == overCables {
		for _, c := range s.Cables {
			a, _ := s.Capability(c.Ends[0]) // the cable passed its own check
			b, _ := s.Capability(c.Ends[1])
			if !c.Ends[0].Hub && !c.Ends[1].Hub && c.Speed == (native.LinkSpeed{}) && a == native.TB5 && b == native.TB5 {
				add(c.Ends[0].Owner, c.Ends[1].Owner, fmt.Sprintf("tb%d", c.Ends[0].PortNumber))
			}
		}
	}
	return all
}

// spread puts what is measured of every two Macs after what is of two that are named,
// for each two of which that says nothing.
func (s *Scenario) spread() {
	way := func(l LinkMeasurement) string {
		a, b := l.From+" "+l.Over, l.To+" "+l.Over
		if _, is := s.Network(l.Over); !is {
			end, _ := ParseEnd(l.From + "." + l.Over) // as checkPath has found it
			other, _ := s.other(end)
			a, b = end.String(), other.String()
		}
		return l.Transport + " " + min(a, b) + " " + max(a, b)
	}
	seen := map[string]bool{}
	var of []LinkMeasurement
	s.Measurements.Links = slices.DeleteFunc(s.Measurements.Links, func(l LinkMeasurement) bool {
		if l.From == "" {
			of = append(of, s.every(l)...)
			return true
		}
		seen[way(l)] = true
		return false
	})
	for _, l := range of {
		if !seen[way(l)] {
			s.Measurements.Links = append(s.Measurements.Links, l)
		}
	}
}

// checkPath says whether the link's way leads from one Mac to the other.
func (s Scenario) checkPath(link LinkMeasurement, from Mac) error {
	if network, ok := s.Network(link.Over); ok {
		to, _ := s.Mac(link.To)
		for _, mac := range []Mac{from, to} {
			if !slices.ContainsFunc(mac.Interfaces, func(i Interface) bool { return i.Network == network.Name }) {
				return fmt.Errorf("%s has no interface on network %s", mac.Name, network.Name)
			}
		}
		if link.Transport == TransportRDMA {
			return fmt.Errorf("RDMA runs over Thunderbolt cables, not over network %s", network.Name)
		}
		return nil
	}
	end, err := ParseEnd(link.From + "." + link.Over)
	if err != nil || end.Hub {
		return fmt.Errorf("over = %q is neither a port such as tb1 nor a network%s", link.Over,
			didYouMean(link.Over, namesOf(s.Networks, networkName)))
	}
	if _, err := s.Capability(end); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.peers(end), func(e End) bool { return e.Owner == link.To }) {
		return fmt.Errorf("no cable leads from %s to %s", end, link.To)
	}
	return nil
}

// CheckOp is [Scenario.Has], and says whether a Mac as it is in the file could come to
// what the op sets.
func (s Scenario) CheckOp(op Op) error {
	err := s.Has(op)
	if mac, ok := s.Mac(op.Owner); ok && err == nil {
		err = mac.checkSetValue(op)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// Has says whether the scenario has what the op names: the Macs, hubs, receptacles,
// interfaces and networks, and values and speeds that they can have. What is missing
// matches [native.ErrNotFound]. Whether the receptacle is free at that moment is for
// whoever keeps the state.
func (s Scenario) Has(op Op) error {
	switch op.Verb {
	case VerbPlug, VerbUnplug, VerbRetrain:
		return s.checkEnds(op)
	case VerbSleep, VerbIdle, VerbWake, VerbRestart:
		return s.checkMac(op.Owner)
	case VerbSet:
		return s.checkSet(op)
	}
	return fmt.Errorf("unknown verb %q", op.Verb)
}

func (s Scenario) checkMac(name string) error {
	if _, ok := s.Mac(name); !ok {
		return missing("there is no Mac %q%s", name, didYouMean(name, namesOf(s.Macs, macName)))
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
	return CheckSpeed(op.Speed, capabilities[0], capabilities[len(capabilities)-1])
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
		return missing("there is no Mac or network %q%s", op.Owner, didYouMean(op.Owner, known))
	}
	key, prefix, _ := findKey(op.Key)
	if !key.ofMac {
		return fmt.Errorf("%s is a Mac, and %s is for networks; an interface has INTERFACE.link", op.Owner, op.Key)
	}
	if key.prefix == prefixInterface {
		return mac.checkSetInterface(prefix, key.name, op.Value)
	}
	return mac.Set(op.Key, op.Value)
}

func (m Mac) checkSetInterface(name, key, value string) error {
	_, isInterface := m.Interface(name)
	_, isBridge := m.Bridge(name)
	if !isInterface && (!isBridge || key == "bridge") {
		known := namesOf(m.Interfaces, interfaceName)
		return missing("mac %s has no interface %q%s; it has %s", m.Name, name, didYouMean(name, known), strings.Join(known, ", "))
	}
	if _, ok := m.Bridge(value); key == "bridge" && value != "none" && !ok {
		return missing("mac %s has no bridge %q", m.Name, value)
	}
	return nil
}

func (m Mac) checkSetValue(op Op) error {
	switch op.Key {
	case "rdma":
		if op.Value != string(native.RDMAOff) && !m.OSCapable {
			return m.noDriver()
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
		m.Name, cmp.Or(m.Identity.OSVersion, "of unknown version"))
}

func (m Mac) noBattery() error {
	return fmt.Errorf("%s has no battery; give it one with battery = 1.0", m.Name)
}
