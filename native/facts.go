package native

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Facts is how a platform tells what it knows.
type Facts interface {
	// Snapshot reads the given areas now and nothing else: reading memory must
	// not walk the Thunderbolt registry. It answers partly rather than not at
	// all; the error is for a platform that cannot be asked any more
	// ([ErrClosed], an ended context).
	Snapshot(ctx context.Context, areas ...Area) (Snapshot, error)

	// Watch arms every source of hints and returns once they are armed, so that
	// a snapshot taken after it misses nothing. The callback may come from any
	// thread, one at a time, and must return at once without calling back into
	// the platform. After stop has returned it is not called again. A platform
	// with no hints at all returns an error that matches [ErrUnsupported]; one
	// with some says in its capabilities which areas lack them.
	Watch(hint func(Hint)) (stop func() error, err error)

	// Capabilities answers every feature of [AllFeatures].
	Capabilities(ctx context.Context) (Capabilities, error)
}

// Comparer is implemented by facts that a second source of the same system can be held
// against. Comparing may start programs and take seconds: only a person asks for it.
type Comparer interface {
	// Compare tells each fact by both sources.
	Compare(ctx context.Context) []Comparison
}

// Comparison is one fact as two sources tell it.
type Comparison struct {
	// Fact names it for people: "receptacle 4, negotiated".
	Fact string
	// Sources are the two, such as the registry and system_profiler, and Told what each
	// says; empty where it does not say.
	Sources, Reported [2]string
	// Same says that both mean the same, also where they use other words for it.
	Same bool
	// Why is why a source does not say; empty where that is not known.
	Why Reason
}

// Known reports whether both sources say something.
func (c Comparison) Known() bool { return c.Reported[0] != "" && c.Reported[1] != "" }

// HintSafetyReread is the source of a hint that no event brought: a slow re-read
// found the change. Each says that an event is missing.
const HintSafetyReread = "safety.reread"

// Hint says that facts of an area may have changed. It carries no facts: read a
// snapshot of the area. Hints may be doubled, early or for nothing.
type Hint struct {
	Area Area `json:"area"`
	// Source is the system interface that spoke, as "system.event":
	// "iokit.matched", "rtnetlink.link", "sim.timeline", or
	// [HintSafetyReread].
	Source string `json:"source"`
	// Subject is what it spoke about, where it said: "en5", "receptacle 2".
	Subject string `json:"subject,omitzero"`
	// At is the wall-clock time of the callback, BootUS the same moment on
	// [Clock.Boot] in microseconds, from which delays are measured.
	At     Timestamp `json:"at"`
	BootUS int64     `json:"boot_us"`
}

// UserActivity is implemented by facts that tell for how long nobody has used the machine's
// keyboard or pointer. No system announces that: it is read when somebody asks.
type UserActivity interface {
	// Unused is for how long nobody has, or the reason why that is not known.
	Unused(ctx context.Context) (time.Duration, Reason)
}

// Snapshot is what a machine says about itself at one moment. Only the areas
// that were asked for are filled; one that was asked for and could not be read
// at all is nil, with its reason in Unknown under the area's name.
type Snapshot struct {
	// At is when the reading began.
	At Timestamp `json:"at"`
	// Platform is the [Platform.Name] that read it.
	Platform string `json:"platform"`
	// Simulated is true when the machine is not a real one.
	Simulated bool `json:"simulated"`

	Identity    *Identity    `json:"identity,omitzero" native:"optional"`
	Memory      *Memory      `json:"memory,omitzero" native:"optional"`
	System      *System      `json:"system,omitzero" native:"optional"`
	Network     *Network     `json:"network,omitzero" native:"optional"`
	Thunderbolt *Thunderbolt `json:"thunderbolt,omitzero" native:"optional"`
	RDMA        *RDMA        `json:"rdma,omitzero" native:"optional"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Part is the field of an area, to be read or set; invalid for what is no area.
func (s *Snapshot) Part(area Area) reflect.Value {
	return reflect.ValueOf(s).Elem().FieldByNameFunc(func(name string) bool {
		return strings.EqualFold(name, string(area)) && slices.Contains(AllAreas(), area)
	})
}

// Has reports whether the area is filled.
func (s Snapshot) Has(area Area) bool {
	part := s.Part(area)
	return part.IsValid() && !part.IsNil()
}

// Check returns one line for each area that was asked for and is neither filled
// nor explained, and for whatever [CheckUnknown] finds in the rest.
func (s Snapshot) Check(asked []Area) []string {
	problems := CheckUnknown(s)
	for _, area := range asked {
		if !s.Has(area) && s.Unknown[string(area)] == "" {
			problems = append(problems, string(area)+": asked for, absent without a reason")
		}
	}
	return problems
}

// Area is a group of facts that is read together and moves at one pace. The
// names are the names of the documents that a daemon publishes from them.
type Area string

// The areas.
const (
	AreaIdentity    Area = "identity"
	AreaMemory      Area = "memory"
	AreaSystem      Area = "system"
	AreaNetwork     Area = "network"
	AreaThunderbolt Area = "thunderbolt"
	AreaRDMA        Area = "rdma"
)

// AllAreas returns every area, quickest to read first, so that a caller who
// reads them one by one can show a name and memory before the rest.
func AllAreas() []Area {
	return []Area{AreaIdentity, AreaMemory, AreaSystem, AreaNetwork, AreaThunderbolt, AreaRDMA}
}

// ParseArea returns the area of that name, or an error that lists the names.
func ParseArea(name string) (Area, error) {
	if a := Area(name); slices.Contains(AllAreas(), a) {
		return a, nil
	}
	return "", fmt.Errorf("unknown area %q; it is one of %v", name, AllAreas())
}

// ProtocolIP and ProtocolRDMA are the numbers under which a computer offers
// networking and RDMA to the one at the other end of a Thunderbolt cable. The
// number is what counts: the key printed beside it changed between systems.
const (
	ProtocolIP   uint32 = 1
	ProtocolRDMA uint32 = 64087
)

// PortStatus is what a receptacle holds.
type PortStatus string

// The states. A trained link alone proves nothing: an idle port can keep its
// lanes trained, so these follow what is attached.
const (
	PortEmpty  PortStatus = "empty"
	PortDevice PortStatus = "device" // a hub, dock or disk, and no computer behind it
	PortPeer   PortStatus = "peer"   // a computer, directly or through hubs
)

// Thunderbolt is every receptacle of the machine.
type Thunderbolt struct {
	Ports []Port `json:"ports,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Port returns the port of that receptacle.
func (t Thunderbolt) Port(portNumber int) (Port, bool) {
	i := slices.IndexFunc(t.Ports, func(p Port) bool { return p.PortNumber == portNumber })
	if i < 0 {
		return Port{}, false
	}
	return t.Ports[i], true
}

// Port is one receptacle: one controller, one domain.
type Port struct {
	// PortNumber is the number printed by the system, from 1.
	PortNumber int `json:"receptacle"`
	// Place is where it is on the case, as the device tree says ("back-left").
	Place string `json:"place,omitzero"`
	// BesideEthernet is true for the one next to the Ethernet socket, which
	// some report not to carry RDMA on a Mac Studio.
	BesideEthernet *bool `json:"beside_ethernet,omitzero" native:"optional"`
	// DomainUUID is this port's own domain. It matches ends of cables and
	// identifies nothing beyond that.
	DomainUUID string `json:"domain_uuid,omitzero"`
	// Capability is the best the port can do.
	Capability ThunderboltVersion `json:"capability,omitzero"`
	Status     PortStatus         `json:"status,omitzero"`
	// Negotiated is the link with whatever is plugged in directly.
	Negotiated *Link `json:"negotiated,omitzero"`
	// Hubs are the hubs, docks and other routers below the port, at any depth.
	Hubs []Hub `json:"hubs,omitzero"`
	// Peers are the computers below it; several behind one hub are possible.
	Peers []Peer `json:"peers,omitzero"`
	// Interface is the port's network interface ("en5"), read and never computed.
	Interface string `json:"interface,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Hub is a hub, dock or other router between a port and what hangs below it.
type Hub struct {
	// Route is its route string in hexadecimal: one byte per hop, the lowest
	// byte nearest the host ("0x301" is port 3 of the hub on port 1).
	Route string `json:"route"`
	// Parent is the route of the hub above it; "" when that is the host.
	Parent string `json:"parent,omitzero" native:"optional"`
	Vendor string `json:"vendor,omitzero"`
	Name   string `json:"name,omitzero"` // of the product
	// Negotiated is its upstream link, transmit meaning away from this machine.
	Negotiated *Link `json:"negotiated,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Peer is a computer at the other end.
type Peer struct {
	// DomainUUID is the peer port's own domain.
	DomainUUID string `json:"domain_uuid,omitzero"`
	// Name is what the peer announces: a Mac's model identifier, a Linux
	// machine's host name.
	Name   string `json:"name,omitzero"`
	Vendor string `json:"vendor,omitzero"`
	// Hub is the route of the last hub before the peer; "" when direct.
	Hub string `json:"hub,omitzero" native:"optional"`
	// Negotiated is the last hop, transmit meaning towards the peer. When
	// direct it is the port's own.
	Negotiated *Link         `json:"negotiated,omitzero"`
	Services   []PeerService `json:"services,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// PeerService is one protocol that the peer offers over the cable.
type PeerService struct {
	ProtocolID uint32 `json:"protocol_id"`
	Version    uint32 `json:"version"`
}

// Offers reports whether the peer offers the protocol, and whether its services
// are known at all.
func (p Peer) Offers(protocol uint32) (offered, known bool) {
	if p.Services == nil {
		return false, false
	}
	return slices.ContainsFunc(p.Services, func(s PeerService) bool { return s.ProtocolID == protocol }), true
}

// Chain returns the hubs between the port and the peer, nearest the port
// first. A route that names no hub, or a circle, is an error: the facts were
// torn or malformed.
func (p Port) Chain(peer Peer) ([]Hub, error) {
	var chain []Hub
	for route := peer.Hub; route != ""; {
		if len(chain) == len(p.Hubs) {
			return nil, fmt.Errorf("port %d: the hubs above route %s form a loop", p.PortNumber, peer.Hub)
		}
		i := slices.IndexFunc(p.Hubs, func(d Hub) bool { return d.Route == route })
		if i < 0 {
			return nil, fmt.Errorf("port %d: there is no hub at route %s", p.PortNumber, route)
		}
		chain = append(chain, p.Hubs[i])
		route = p.Hubs[i].Parent
	}
	slices.Reverse(chain)
	return chain, nil
}

// IsUUID reports whether text has the form of a UUID, 8-4-4-4-12 hexadecimal digits.
func IsUUID(text string) bool {
	for i, r := range text {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (r == '-') || !dash && !unicode.Is(unicode.ASCII_Hex_Digit, r) {
			return false
		}
	}
	return len(text) == 36
}
