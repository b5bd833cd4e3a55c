package scenario

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"fulmen/native"
	"fulmen/native/tomltext"
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
	p := &problems{file: cmp.Or(s.Name, "scenario")}
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
				p.add(path, "network %s: the name looks like a port; choose a different one", name)
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
			end := End{Owner: mac.Name, PortNumber: port.PortNumber}
			if first, ok := seen[port.DomainUUID]; ok && port.DomainUUID != "" {
				p.add(fmt.Sprintf("mac[%d].%s", i, member("port", port.PortNumber)),
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
		if m.GPUWorkingSetBytes > m.MemoryBytes && m.Identity.GPUMemory != native.GPUMemoryDedicated {
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
	for at, port := range m.Ports {
		if slices.IndexFunc(m.Ports, func(q Port) bool { return q.PortNumber == port.PortNumber }) < at {
			fail("port", "port %d is described twice", port.PortNumber)
		}
		i := slices.IndexFunc(m.Ports, func(q Port) bool { return q.Interface == port.Interface })
		if port.Interface != "" && m.Ports[i].PortNumber != port.PortNumber {
			fail(member("port", port.PortNumber), "ports %d and %d have the same interface %s", m.Ports[i].PortNumber, port.PortNumber, port.Interface)
		}
	}
}

func (s Scenario) checkInterfaces(m Mac, fail func(key, format string, args ...any)) {
	for at, i := range m.Interfaces {
		where := member("interface", i.Name)
		if slices.IndexFunc(m.Interfaces, func(other Interface) bool { return other.Name == i.Name }) < at {
			fail(where, "interface %s is described twice", i.Name)
		}
		port := slices.ContainsFunc(m.Ports, func(p Port) bool { return p.Interface == i.Name })
		_, known := s.Network(i.Network)
		switch {
		case port && i.Type != "thunderbolt":
			fail(where, "interface %s belongs to a port and is therefore thunderbolt, not %s", i.Name, i.Type)
		case !port && i.Type == "thunderbolt":
			fail(where, "interface %s is thunderbolt and belongs to no port; give its name as the interface of a port", i.Name)
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
				fail("bridge", "bridge %s has member %q, which is not an interface of this Mac%s", bridge.Name, member,
					didYouMean(member, namesOf(m.Interfaces, interfaceName)))
			}
			if other, ok := memberOf[member]; ok {
				fail("bridge", "interface %s is a member of %s and %s", member, other, bridge.Name)
			}
			memberOf[member] = bridge.Name
		}
	}
}

// checkAddresses refuses an address that two interfaces of one network have, or
// the two ends of a cable: neither would be reached.
func (s Scenario) checkAddresses(p *problems) {
	type place struct {
		where   string // the network, or the cable
		address netip.Addr
	}
	seen := map[place]string{}
	note := func(where, path, who string, addresses []netip.Addr) {
		for _, address := range addresses {
			at := place{where, address}
			if first, ok := seen[at]; ok && first != who {
				p.add(path, "%s: address %s is also that of %s on the same network; give each its own", who, address, first)
				continue
			}
			seen[at] = who
		}
	}
	for i, mac := range s.Macs {
		for _, network := range mac.Interfaces {
			var addresses []netip.Addr
			for _, a := range network.Addresses {
				addresses = append(addresses, a.Address.Addr())
			}
			where := network.Network
			if where == "" {
				where = s.cableOf(mac, network.Name)
			}
			if where != "" {
				note(where, fmt.Sprintf("mac[%d].%s", i, member("interface", network.Name)), mac.Name+" "+network.Name, addresses)
			}
		}
	}
}

// cableOf names the segment that a port's interface shares with the Macs at the
// other end: all that are joined get the same name, that of the least end. ""
// for an interface that no cable joins.
func (s Scenario) cableOf(mac Mac, name string) string {
	for _, port := range mac.Ports {
		if port.Interface != name {
			continue
		}
		own := End{Owner: mac.Name, PortNumber: port.PortNumber}
		least := own.String()
		peers := s.peers(own)
		for _, peer := range peers {
			least = min(least, peer.String())
		}
		if len(peers) > 0 {
			return least
		}
	}
	return ""
}

// maxHubsInARow is how deep hubs go: a route string has seven places, one of
// them for what hangs below the last hub.
const maxHubsInARow = 6

// checkCables notes impossible cables; false when any could not be understood,
// so that what follows from cables would only repeat it.
func (s Scenario) checkCables(p *problems) (sound bool) {
	sound = true
	used := map[End]int{}
	for i, cable := range s.Cables {
		path := fmt.Sprintf("cable[%d]", i)
		a, b := cable.Ends[0], cable.Ends[1]
		if a.Owner == "" || b.Owner == "" {
			sound = false
			continue
		}
		fail := func(key, format string, args ...any) {
			sound = false
			p.add(tomltext.Join(path, key), "cable %d: %s", i+1, fmt.Sprintf(format, args...))
		}
		if a == b {
			fail("ends", "both ends are %s", a)
			continue
		}
		first, err := s.Capability(a)
		if err != nil {
			fail("ends", "%s", err)
		}
		second, err := s.Capability(b)
		if err != nil {
			fail("ends", "%s", err)
		}
		for _, end := range cable.Ends {
			if other, ok := used[end]; ok {
				fail("ends", "port %s is used by cable %d%s", end, other+1, p.lineNote(fmt.Sprintf("cable[%d].ends", other)))
				continue
			}
			used[end] = i
		}
		if a.isUp() && b.isUp() {
			fail("ends", "%s and %s are both upstream, so the hubs would belong to no Mac; use a downstream port at one end", a, b)
		}
		if first != "" && second != "" {
			if err := CheckSpeed(cable.Speed, first, second); err != nil {
				fail("speed", "%s", err)
			}
		}
	}
	return sound
}

// checkHubs follows every cabled hub upstream to the Mac that drives it.
func (s Scenario) checkHubs(p *problems) {
	for i, cable := range s.Cables {
		for _, end := range cable.Ends {
			if !end.Hub {
				continue
			}
			if _, err := s.root(end.Owner); err != nil {
				p.add(fmt.Sprintf("cable[%d].ends", i), "cable %d: %s", i+1, err)
			}
		}
		// Two downstream receptacles join two Macs, each through a hub of its
		// own. Below one Mac they would close a ring of hubs.
		a, b := cable.Ends[0], cable.Ends[1]
		if !a.Hub || !b.Hub || a.isUp() || b.isUp() {
			continue
		}
		rootA, errA := s.root(a.Owner)
		rootB, errB := s.root(b.Owner)
		if errA == nil && errB == nil && rootA == rootB {
			p.add(fmt.Sprintf("cable[%d].ends", i), "cable %d: %s and %s both hang below %s, so the hubs form a loop", i+1, a, b, rootA)
		}
	}
}

// root returns the Mac's receptacle that the hub hangs below.
func (s Scenario) root(hub string) (End, error) {
	chain := []string{hub}
	for {
		up, ok := s.other(End{Owner: hub, Hub: true})
		if !ok {
			return End{}, fmt.Errorf("hub %s belongs to no Mac: nothing is plugged into %s.up", hub, hub)
		}
		if !up.Hub {
			return up, nil
		}
		hub = up.Owner
		for _, passed := range chain {
			if passed == hub {
				return End{}, fmt.Errorf("the hubs %s form a loop without a Mac", strings.Join(append(chain, hub), ", "))
			}
		}
		if chain = append(chain, hub); len(chain) > maxHubsInARow {
			return End{}, fmt.Errorf("more than %d hubs in a row: %s", maxHubsInARow, strings.Join(chain, ", "))
		}
	}
}

func (e End) isUp() bool { return e.Hub && e.PortNumber == 0 }

// other returns what the cable in that receptacle leads to.
func (s Scenario) other(end End) (End, bool) {
	for _, cable := range s.Cables {
		switch end {
		case cable.Ends[0]:
			return cable.Ends[1], true
		case cable.Ends[1]:
			return cable.Ends[0], true
		}
	}
	return End{}, false
}

// peers returns the receptacles of Macs that a Mac's receptacle leads to,
// directly and through hubs.
func (s Scenario) peers(from End) (found []End) {
	seen := map[End]bool{from: true}
	for queue := []End{from}; len(queue) > 0; queue = queue[1:] {
		to, ok := s.other(queue[0])
		if !ok || seen[to] {
			continue
		}
		seen[to] = true
		hub, isHub := s.Hub(to.Owner)
		if !isHub {
			found = append(found, to)
			continue
		}
		for portNumber := range hub.Downstream + 1 {
			if next := (End{Owner: hub.Name, Hub: true, PortNumber: portNumber}); !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return found
}
