package scenario

import (
	"fmt"
	"strings"

	"fulmen/native/tomltext"
)

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
				fail("ends", "receptacle %s is used by cable %d%s", end, other+1, p.lineNote(fmt.Sprintf("cable[%d].ends", other)))
				continue
			}
			used[end] = i
		}
		if a.isUp() && b.isUp() {
			fail("ends", "%s and %s are both upstream, so no Mac would drive the hubs; use a downstream receptacle at one end", a, b)
		}
		if first != "" && second != "" {
			if err := checkSpeed(cable.Speed, first, second); err != nil {
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
			return End{}, fmt.Errorf("hub %s is driven by no Mac: nothing is plugged into %s.up", hub, hub)
		}
		if !up.Hub {
			return up, nil
		}
		hub = up.Owner
		for _, passed := range chain {
			if passed == hub {
				return End{}, fmt.Errorf("the hubs %s form a loop that no Mac drives", strings.Join(append(chain, hub), ", "))
			}
		}
		if chain = append(chain, hub); len(chain) > maxHubsInARow {
			return End{}, fmt.Errorf("more than %d hubs in a row: %s", maxHubsInARow, strings.Join(chain, ", "))
		}
	}
}

func (e End) isUp() bool { return e.Hub && e.Receptacle == 0 }

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
		for receptacle := range hub.Downstream + 1 {
			if next := (End{Owner: hub.Name, Hub: true, Receptacle: receptacle}); !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return found
}
