package sim

import (
	"net"
	"slices"
	"time"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// cable is one plugged cable, with the link as each of its ends reports it.
type cable struct {
	ends  [2]scenario.End
	links [2]native.Link
}

// from returns the other end, and the link as the given end reports it.
func (c *cable) from(near scenario.End) (far scenario.End, link native.Link) {
	if c.ends[0] == near {
		return c.ends[1], c.links[0]
	}
	return c.ends[0], c.links[1]
}

// powerState is whether a Mac runs.
type powerState string

const (
	awake  powerState = "awake"
	asleep powerState = "asleep"
	off    powerState = "off"
)

// mac is one Mac's state. spec is the scenario's with the changes since; what
// has a field of its own here is not looked up there.
type mac struct {
	spec     scenario.Mac
	power    powerState
	boots    int
	bootID   string
	bootedAt time.Time
	ifaces   []*iface
	bridges  []*bridge
	services []native.NetworkService
	// nextIndex is the kernel number of the next interface, nextService the
	// number of the next service to be created.
	nextIndex, nextService int
	// held is what every change of the network's configuration fails with; nil where
	// it can be changed.
	held error
	// silent are the areas whose source has fallen silent.
	silent map[native.Area]bool
	// unreceived are the hints of a Mac that does not run, kept until it does.
	unreceived []native.Hint
	// leaving is what the Mac is about to do when its notice is acknowledged.
	leaving *departure
	// lastNotice numbers the notices of the Mac.
	lastNotice int
	handles    map[*handle]struct{}
	openPorts  []*openPort
	nextPort   int // how many ports were given to who asked for none
}

// iface is one network interface of a Mac.
type iface struct {
	spec scenario.Interface
	// portNumber is the receptacle of a port's interface, 0 for others.
	portNumber int
	index      int
	hardware   net.HardwareAddr
	present    bool
	// linked is the interface's own side of its link: pulled, or not.
	linked    bool
	addresses []address
	// up is the link as of the last change. speaks says that addresses may be there:
	// it is up and no bridge's; kept to see that come and go. waits are the timers
	// that bring addresses back.
	up, speaks bool
	waits      []*wait
}

// address is configured; ready ones are on the interface now.
type address struct {
	native.InterfaceAddress
	ready bool
	// doomed ones are about to go with their service.
	doomed bool
}

// bridge is a software bridge. It has an interface of the same name.
type bridge struct {
	name           string
	kernel, stored []string
}

// network is a LAN.
type network struct {
	spec scenario.Network
	up   bool
}

func (m *mac) runs() bool { return m.power == awake }

func (m *mac) iface(name string) *iface {
	return first(m.ifaces, func(i *iface) bool { return i.spec.Name == name })
}

func (m *mac) bridge(name string) *bridge {
	return first(m.bridges, func(b *bridge) bool { return b.name == name })
}

// bridgeOf returns the bridge whose running configuration has the interface.
func (m *mac) bridgeOf(iface string) *bridge {
	return first(m.bridges, func(b *bridge) bool { return slices.Contains(b.kernel, iface) })
}

// bridgeStored returns the bridge whose stored configuration has the interface.
func (m *mac) bridgeStored(iface string) *bridge {
	return first(m.bridges, func(b *bridge) bool { return slices.Contains(b.stored, iface) })
}

func (m *mac) port(portNumber int) *scenario.Port {
	i := slices.IndexFunc(m.spec.Ports, func(p scenario.Port) bool { return p.PortNumber == portNumber })
	if i < 0 {
		return nil
	}
	return &m.spec.Ports[i]
}

// first is the one that is meant, or nil.
func first[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}
