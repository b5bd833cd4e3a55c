package scenario

import (
	"testing"
)

// checkSound holds a scenario that was read to what its users rely on, written
// apart from the checks of the package.
func checkSound(t *testing.T, s Scenario) {
	t.Helper()
	used := map[End]bool{}
	for _, cable := range s.Cables {
		for _, end := range cable.Ends {
			if used[end] {
				t.Fatalf("two cables in %s", end)
			}
			used[end] = true
			mac, isMac := s.Mac(end.Owner)
			hub, isHub := s.Hub(end.Owner)
			if isMac == isHub {
				t.Fatalf("%s is at one Mac or one hub", end)
			}
			if _, ok := mac.Port(end.PortNumber); isMac && !ok {
				t.Fatalf("%s has no such receptacle", end)
			}
			if isHub && end.PortNumber > hub.Downstream {
				t.Fatalf("%s has no such receptacle", end)
			}
		}
	}
	domains := map[string]bool{}
	for _, mac := range s.Macs {
		for _, port := range mac.Ports {
			if port.DomainUUID == "" || domains[port.DomainUUID] {
				t.Fatalf("%s tb%d: domain %q is empty or used twice", mac.Name, port.PortNumber, port.DomainUUID)
			}
			domains[port.DomainUUID] = true
			if _, ok := mac.Interface(port.Interface); !ok && port.Interface != "" {
				t.Fatalf("%s tb%d: no interface %s", mac.Name, port.PortNumber, port.Interface)
			}
		}
	}
	for i, event := range s.TimeLine {
		if i > 0 && event.After < s.TimeLine[i-1].After {
			t.Fatalf("event %d is out of order", i)
		}
		if again, err := ParseOp(event.Op.String()); err != nil || again.String() != event.Op.String() {
			t.Fatalf("event %d: %s is read again as %s, %v", i, event.Op, again, err)
		}
	}
}

func TestShippedScenariosAreSound(t *testing.T) {
	for _, name := range Shipped() {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		checkSound(t, s)
	}
}
