package linux

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"fulmen/native"
)

// hub reads a router below the host's.
func (b thunderboltBus) hub(d thunderboltDevice) native.Hub {
	h := native.Hub{Route: d.route.String(), Parent: d.route.parent().String()}
	h.Vendor = b.label(d, "vendor_name", "vendor", &h.Unknown)
	h.Name = b.label(d, "device_name", "name", &h.Unknown)
	// The kernel tells the link as the router's upstream adapter sees it: what
	// that sends goes to this machine.
	h.Negotiated = b.negotiated(d, "rx", "tx", &h.Unknown)
	return h
}

// peer reads a computer.
func (b thunderboltBus) peer(d thunderboltDevice) native.Peer {
	p := native.Peer{Hub: d.route.parent().String()}
	p.DomainUUID = b.uuid(d, &p.Unknown)
	p.Vendor = b.label(d, "vendor_name", "vendor", &p.Unknown)
	p.Name = b.label(d, "device_name", "name", &p.Unknown)
	// Unlike a router's, a peer's link is told as the near end sees it.
	p.Negotiated = b.negotiated(d, "tx", "rx", &p.Unknown)
	services, err := b.peerServices(d)
	if err != nil {
		p.Unknown.Add("services", reason("service", err, native.ReasonSourceGone))
		return p
	}
	p.Services = services
	return p
}

func (b thunderboltBus) peerServices(d thunderboltDevice) ([]native.PeerService, error) {
	services := []native.PeerService{}
	for _, name := range b.services[d.name] {
		protocol, err := b.tree.unsigned(thunderboltFolder + name + "/prtcid")
		if err != nil {
			return nil, err
		}
		version, err := b.tree.unsigned(thunderboltFolder + name + "/prtcvers")
		if err != nil {
			return nil, err
		}
		services = append(services, native.PeerService{ProtocolID: protocol, Version: version})
	}
	return services, nil
}

// unsigned reads a file that holds one decimal number of 32 bits.
func (t tree) unsigned(name string) (uint32, error) {
	n, err := t.number(name)
	if err == nil && (n < 0 || n > math.MaxUint32) {
		err = malformedError(strconv.FormatInt(n, 10))
	}
	return uint32(n), err
}

// interfaces are the network interfaces that lead to a peer: one below its
// service for networking, once that has a driver.
func (b thunderboltBus) interfaces(d thunderboltDevice) []string {
	var names []string
	for _, service := range b.services[d.name] {
		names = append(names, b.tree.names(thunderboltFolder+service+"/net")...)
	}
	return names
}

// uuid reads the number of a peer's domain; of a host's router it is that of
// its own domain, the one by which peers know this machine. All sockets of a
// controller share it.
func (b thunderboltBus) uuid(d thunderboltDevice, unknown *native.Reasons) string {
	text, err := b.tree.text(d.folder() + "unique_id")
	if err == nil && !isUUID(text) {
		err = malformedError(text)
	}
	if err != nil {
		unknown.Add("domain_uuid", reason("unique_id", err, native.ReasonSourceGone))
		return ""
	}
	return strings.ToLower(text)
}

// isUUID reports whether text has the form of one, 8-4-4-4-12 digits.
func isUUID(text string) bool {
	for i, r := range text {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (r == '-') || !dash && !unicode.Is(unicode.ASCII_Hex_Digit, r) {
			return false
		}
	}
	return len(text) == 36
}

// mostLabel bounds a name in characters; it is the other end that chose it.
const mostLabel = 128

// label reads a name that the other end chose.
func (b thunderboltBus) label(d thunderboltDevice, file, field string, unknown *native.Reasons) string {
	text, err := b.tree.text(d.folder() + file)
	if err != nil {
		unknown.Add(field, reason(file, err, native.ReasonNoOS.With("it does not say")))
		return ""
	}
	characters := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
	label := strings.TrimSpace(string(characters[:min(len(characters), mostLabel)]))
	if label == "" {
		unknown.Add(field, native.ReasonNoOS.With("it does not say"))
	}
	return label
}

// negotiated reads a link. away and towards say which of the kernel's
// directions leads away from this machine.
func (b thunderboltBus) negotiated(d thunderboltDevice, away, towards string, unknown *native.Reasons) *native.Link {
	link, err := b.tree.thunderboltLink(d.folder(), away, towards)
	if err != nil {
		unknown.Add("negotiated", reason("link", err, native.ReasonNoOS.With("the kernel does not tell it")))
		return nil
	}
	return &link
}

func (t tree) thunderboltLink(folder, away, towards string) (native.Link, error) {
	var speeds, lanes [2]int64
	for i, direction := range []string{away, towards} {
		text, err := t.text(folder + direction + "_speed")
		if err != nil {
			return native.Link{}, err
		}
		speed, err := native.ParseLinkSpeed(text)
		if err != nil || speed.UpTo || speed.TxBitsPerS != speed.RxBitsPerS {
			return native.Link{}, malformedError(text)
		}
		speeds[i] = speed.TxBitsPerS
		if lanes[i], err = t.number(folder + direction + "_lanes"); err != nil {
			return native.Link{}, err
		}
	}
	if speeds[0] != speeds[1] {
		return native.Link{}, malformedError("lanes of two speeds")
	}
	if max(lanes[0], lanes[1]) > 3 {
		return native.Link{}, malformedError("more than three lanes")
	}
	link, err := native.LinkFromLanes(speeds[0], int(lanes[0]), int(lanes[1]))
	if err != nil {
		return native.Link{}, malformedError(err.Error())
	}
	return link, nil
}
