package networksetup

import (
	"errors"
	"regexp"
	"strings"
	"sync"
)

// ErrNoServices is matched by the error of [ParseServiceOrder] for a text that
// lists no service.
var ErrNoServices = errors.New("it lists no network services; record it with: networksetup -listnetworkserviceorder")

// ServiceOrder is what `networksetup -listnetworkserviceorder` says.
type ServiceOrder struct {
	// Services are in the user's order; the first that works has the default route.
	Services []Service `json:"services"`
	// Notes are lines for people about what was odd and how it was read.
	Notes []string `json:"-"`
}

// Service is a configured network service.
type Service struct {
	Name         string `json:"name"`
	HardwarePort string `json:"hardware_port"`
	// Device is the interface; "" for a service without one, such as a VPN's.
	Device  string `json:"device,omitzero"`
	Enabled bool   `json:"enabled"`
}

var (
	// A disabled service has an asterisk for its number.
	orderedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\(([0-9]{1,4}|\*)\) (.+)$`) })
	// The words before the colons may be of any language; a port's name may hold
	// commas and colons, a device's neither.
	portAndDevice = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\([^:,()]+: (.*), [^:,()]+: ?([^:,() ]*)\)$`) })
)

// ParseServiceOrder reads the list: pairs of lines, the service's number and
// name, and its port and device. Lines that make no sense are left out, with a
// note; a text without any service is an error.
func ParseServiceOrder(data []byte) (ServiceOrder, error) {
	all, err := blocks(data)
	if err != nil {
		return ServiceOrder{}, err
	}
	out := ServiceOrder{Services: []Service{}}
	var odd Notes
	for _, block := range all {
		var service *Service
		for _, l := range block {
			name := orderedName().FindStringSubmatch(l.text)
			port := portAndDevice().FindStringSubmatch(l.text)
			switch {
			case service != nil && port != nil:
				service.HardwarePort, service.Device = port[1], port[2]
				out.Services = append(out.Services, *service)
				service = nil
			case name != nil:
				if service != nil {
					odd.Add("line %d: the service above it has no port and is left out", l.number)
				}
				service = &Service{Name: strings.TrimSpace(name[2]), Enabled: name[1] != "*"}
			case l.number == 1: // the remark about the asterisk, in any language
			default:
				odd.Add("line %d: %.40q is ignored", l.number, l.text)
			}
		}
		if service != nil {
			odd.Add("line %d: the service has no port and is left out", block[len(block)-1].number)
		}
	}
	if len(out.Services) == 0 {
		return ServiceOrder{}, ErrNoServices
	}
	out.Notes = odd.List()
	return out, nil
}
