package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// The largest cluster, far above what one desk can hold.
const (
	maxMacs   = 64
	maxHubs   = 64
	maxCables = 512
)

// Check says what about the scenario no desk could hold: for one that was made
// otherwise than by [Parse], which checks by itself. The error joins all there is.
func (s Scenario) Check() error {
	p := &problems{file: orElse(s.Name, "scenario")}
	s.check(p)
	return p.err()
}

// check notes everything impossible, at the path of what is wrong: "cable[1]" is
// the second cable here and in the file. Parts that could not be read are zero
// and noted already, and passed over.
func (s Scenario) check(p *problems) {
	if len(s.Macs) == 0 {
		p.add("", "there is no Mac; write at least one [[mac]]")
	}
	tooMany := func(kind, names string, count, most int) bool {
		if count > most {
			p.add(fmt.Sprintf("%s[%d]", kind, most), "%d %s; a scenario has at most %d", count, names, most)
		}
		return count > most
	}
	if tooMany("mac", "Macs", len(s.Macs), maxMacs) || tooMany("hub", "hubs", len(s.Hubs), maxHubs) ||
		tooMany("cable", "cables", len(s.Cables), maxCables) {
		return
	}
	s.checkNames(p)
	for i, mac := range s.Macs {
		s.checkOneMac(p, fmt.Sprintf("mac[%d]", i), mac)
	}
	s.checkDomains(p)
	if s.checkCables(p) {
		s.checkHubs(p)
		s.checkAddresses(p)
		s.checkMeasurements(p)
		s.checkTimeLine(p)
	}
}

// checkNames refuses a name that two of the Macs, hubs and networks share, for
// lines name them alike. Names that differ by case only are shared too.
func (s Scenario) checkNames(p *problems) {
	seen := map[string]string{}
	check := func(kind string, names []string) {
		for i, name := range names {
			path := fmt.Sprintf("%s[%d].name", kind, i)
			if name == "" {
				continue
			}
			if err := checkName(name); err != nil {
				p.add(path, "%s %d: %s", kind, i+1, err)
			}
			if _, err := ParseEnd("x." + name); kind == "network" && err == nil {
				p.add(path, "network %s: the name reads as a receptacle; choose a different one", name)
			}
			folded := strings.ToLower(name)
			if first, ok := seen[folded]; ok {
				p.add(path, "%s %s: the name is taken by another %s%s; choose a different one", kind, name,
					first[:strings.Index(first, "[")], p.lineNote(first))
				continue
			}
			seen[folded] = path
		}
	}
	check("mac", namesOf(s.Macs, macName))
	check("hub", namesOf(s.Hubs, hubName))
	check("network", namesOf(s.Networks, networkName))
}

// checkDomains refuses a domain that two receptacles have: it is what matches
// the ends of a cable.
func (s Scenario) checkDomains(p *problems) {
	seen := map[string]End{}
	for i, mac := range s.Macs {
		for _, port := range mac.Ports {
			end := End{Owner: mac.Name, Receptacle: port.Receptacle}
			if first, ok := seen[port.DomainUUID]; ok && port.DomainUUID != "" {
				p.add(fmt.Sprintf("mac[%d].%s", i, member("port", port.Receptacle)),
					"%s: domain_uuid %.40q is also that of %s; give each its own, or leave it out", end, port.DomainUUID, first)
			}
			seen[port.DomainUUID] = end
		}
	}
}

func (s Scenario) checkOneMac(p *problems, path string, m Mac) {
	fail := func(key, format string, args ...any) {
		p.add(path+"."+key, "mac %s: %s", m.Name, fmt.Sprintf(format, args...))
	}
	if m.MemoryBytes > 0 {
		if m.GPUWorkingSetBytes > m.MemoryBytes {
			fail("gpu_working_set", "gpu_working_set is more than the memory")
		}
		if m.UsedBytes > m.MemoryBytes {
			fail("used", "used is more than the memory")
		}
	}
	if m.RDMA != "off" && m.RDMA != "" && !m.OSCapable {
		fail("rdma", "rdma = %q: %s", m.RDMA, m.noDriver())
	}
	if m.PowerSource == "battery" && m.BatteryRatio == nil {
		fail("power", "power = \"battery\": %s", m.noBattery())
	}
	s.checkInterfaces(m, fail)
	checkBridges(m, fail)
	for _, port := range m.Ports {
		i := slices.IndexFunc(m.Ports, func(q Port) bool { return q.Interface == port.Interface })
		if port.Interface != "" && m.Ports[i].Receptacle != port.Receptacle {
			fail(member("port", port.Receptacle), "receptacles %d and %d have the same interface %s", m.Ports[i].Receptacle, port.Receptacle, port.Interface)
		}
	}
}

func (s Scenario) checkInterfaces(m Mac, fail func(key, format string, args ...any)) {
	for _, i := range m.Interfaces {
		where := member("interface", i.Name)
		port := slices.ContainsFunc(m.Ports, func(p Port) bool { return p.Interface == i.Name })
		_, known := s.Network(i.Network)
		switch {
		case port && i.Type != "thunderbolt":
			fail(where, "interface %s belongs to a receptacle and is therefore thunderbolt, not %s", i.Name, i.Type)
		case !port && i.Type == "thunderbolt":
			fail(where, "interface %s is thunderbolt and belongs to no receptacle; name it as a port's interface", i.Name)
		case port && i.Network != "":
			fail(where, "interface %s is joined by its cable and cannot be on network %s", i.Name, i.Network)
		case i.Network != "" && !known:
			fail(where, "interface %s is on network %q, which does not exist%s", i.Name, i.Network,
				didYouMean(i.Network, namesOf(s.Networks, networkName)))
		}
	}
}

func checkBridges(m Mac, fail func(key, format string, args ...any)) {
	memberOf := map[string]string{}
	for i, bridge := range m.Bridges {
		if _, taken := m.Interface(bridge.Name); taken || slices.IndexFunc(m.Bridges, func(b Bridge) bool { return b.Name == bridge.Name }) < i {
			fail("bridge", "the name of bridge %s is taken", bridge.Name)
		}
		for _, member := range bridge.Members {
			if _, ok := m.Interface(member); !ok {
				fail("bridge", "bridge %s has member %q, which is no interface of this Mac%s", bridge.Name, member,
					didYouMean(member, namesOf(m.Interfaces, interfaceName)))
			}
			if other, ok := memberOf[member]; ok {
				fail("bridge", "interface %s is a member of %s and %s", member, other, bridge.Name)
			}
			memberOf[member] = bridge.Name
		}
	}
}
