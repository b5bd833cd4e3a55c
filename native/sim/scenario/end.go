package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// maxPortNumber bounds a receptacle's number, well above any Mac's or hub's.
const maxPortNumber = 64

// String writes the end as files and lines have it: "studio-1.tb2" for a Mac's
// receptacle, "dock.up" and "dock.1" for a hub's.
func (e End) String() string {
	switch {
	case !e.Hub:
		return fmt.Sprintf("%s.tb%d", e.Owner, e.PortNumber)
	case e.PortNumber == 0:
		return e.Owner + ".up"
	}
	return fmt.Sprintf("%s.%d", e.Owner, e.PortNumber)
}

// ParseEnd reads what [End.String] writes. The form alone says whether the
// owner is a Mac or a hub; whether it exists is the scenario's to say.
func ParseEnd(text string) (End, error) {
	owner, portNumber, _ := strings.Cut(text, ".")
	if err := checkName(owner); err != nil {
		return End{}, fmt.Errorf("end %.80q: %w; write it like studio-1.tb2, dock.up or dock.1", text, err)
	}
	if portNumber == "up" {
		return End{Owner: owner, Hub: true}, nil
	}
	digits, ofMac := strings.CutPrefix(portNumber, "tb")
	number, err := strconv.Atoi(digits)
	if err != nil || number < 1 || number > maxPortNumber || strconv.Itoa(number) != digits {
		return End{}, fmt.Errorf("end %.80q: after the dot belongs tb1 to tb%d of a Mac, or up or 1 to %d of a hub",
			text, maxPortNumber, maxPortNumber)
	}
	return End{Owner: owner, PortNumber: number, Hub: !ofMac}, nil
}

// checkName refuses what cannot be the name of a Mac, hub or network: names
// stand before a dot in lines, so they hold neither dots nor spaces.
func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("a name is missing")
	}
	if len(name) > 63 {
		return fmt.Errorf("name %.20q… is longer than 63 characters", name)
	}
	for i, r := range name {
		letterOrDigit := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letterOrDigit && (r != '-' || i == 0) {
			return fmt.Errorf("name %q may hold letters, digits and, after the first, hyphens only", name)
		}
	}
	return nil
}
