package networksetup

import (
	"errors"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"fulmen/native"
)

// ErrNoPorts is matched by the error of [ParseHardwarePorts] for a text that
// lists no hardware port.
var ErrNoPorts = errors.New("it lists no hardware ports; record it with: networksetup -listallhardwareports")

// HardwarePorts is what `networksetup -listallhardwareports` says.
type HardwarePorts struct {
	// Ports are in the order of the list.
	Ports []Port `json:"ports"`
	// Notes are lines for people about what was odd and how it was read.
	Notes []string `json:"-"`
}

// Port is one hardware port: what a network service can be made for.
type Port struct {
	// Name is as the system shows it: "Wi-Fi", "Thunderbolt 2".
	Name string `json:"name"`
	// Device is the interface: "en2".
	Device string `json:"device"`
	// HardwareAddress is in colon form.
	HardwareAddress string `json:"hardware_address,omitzero"`
	// PortNumber is the Thunderbolt receptacle behind it, which the system
	// itself puts into the name of such a port.
	PortNumber *int `json:"receptacle,omitzero" native:"optional"`

	Unknown native.Reasons `json:"unknown,omitzero"`
}

var (
	thunderboltName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Thunderbolt ([1-9][0-9]{0,2})$`) })
	deviceName      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,14}$`) })
)

// The English keys. Another language has the same lines in the same order.
const (
	keyPort    = "Hardware Port"
	keyDevice  = "Device"
	keyAddress = "Ethernet Address"
)

// ParseHardwarePorts reads the list. Entries that make no sense are left out,
// with a note; a text without any port is an error.
func ParseHardwarePorts(data []byte) (HardwarePorts, error) {
	all, err := blocks(data)
	if err != nil {
		return HardwarePorts{}, err
	}
	out := HardwarePorts{Ports: []Port{}}
	var odd Notes
	devices := map[string]bool{}
	for _, block := range all {
		if isTitle(block) {
			break // of virtual interfaces, the last section
		}
		port, ok := readPort(block, &odd)
		if ok && devices[port.Device] {
			odd.Add("line %d: the device %s is listed twice; the second is left out", block[0].number, port.Device)
			continue
		}
		if ok {
			devices[port.Device] = true
			out.Ports = append(out.Ports, port)
		}
	}
	if len(out.Ports) == 0 {
		return HardwarePorts{}, ErrNoPorts
	}
	out.Notes = odd.List()
	return out, nil
}

// isTitle reports whether a section begins: with a line with a line of equals signs
// below it.
func isTitle(block []line) bool { return len(block) > 1 && strings.Trim(block[1].text, "=") == "" }

// readPort reads an entry by its keys, or, where none of them is known, by the
// order of its lines: name, device, address.
func readPort(block []line, odd *Notes) (Port, bool) {
	values := map[string]string{}
	known := 0
	for i, l := range block {
		key, value, ok := l.field()
		switch {
		case !ok:
			odd.Add("line %d: %.40q is not \"key: value\" and is ignored", l.number, l.text)
			continue
		case key == keyPort || key == keyDevice || key == keyAddress:
			known++
		case known == 0 && i < 3:
			key = []string{keyPort, keyDevice, keyAddress}[i]
		default:
			odd.Add("line %d: the key %.40q is not known and is ignored", l.number, key)
			continue
		}
		if _, twice := values[key]; twice {
			odd.Add("line %d: %s is given twice; the second is ignored", l.number, key)
			continue
		}
		values[key] = value
	}
	port := Port{Name: values[keyPort], Device: values[keyDevice]}
	if !deviceName().MatchString(port.Device) || port.Name == "" || len(port.Name) > 256 {
		odd.Add("line %d: the entry has no port with a name and a device and is left out", block[0].number)
		return Port{}, false
	}
	if _, err := net.ParseMAC(values[keyAddress]); known == 0 && err != nil {
		odd.Add("line %d: the entry has no known key and not the three lines of a port, and is left out", block[0].number)
		return Port{}, false
	} else if known == 0 {
		odd.Add("line %d: the keys are not in English and are read in their order", block[0].number)
	}
	if match := thunderboltName().FindStringSubmatch(port.Name); match != nil {
		n, _ := strconv.Atoi(match[1])
		port.PortNumber = &n
	}
	switch address, err := net.ParseMAC(values[keyAddress]); {
	case err == nil && len(address) == 6:
		port.HardwareAddress = address.String()
	case values[keyAddress] == "" || values[keyAddress] == "N/A":
		port.Unknown.Add("hardware_address", native.ReasonNoOS.With("networksetup does not report it"))
	default:
		odd.Add("line %d: %.40q is not a hardware address", block[0].number, values[keyAddress])
		port.Unknown.Add("hardware_address", native.ReasonSourceMalformed)
	}
	return port, true
}
