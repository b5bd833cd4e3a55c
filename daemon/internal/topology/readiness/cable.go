package readiness

import (
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// Cable is a cable with what the documents of both its ends say.
type Cable struct {
	// Link is its id; zero where the other end is not known.
	Link api.LinkID
	// Low and High are the ends, the lower first. High is nil where the other end is
	// not known, for the reason Stranger; PeerName is what it calls itself then.
	Low, High *End
	NonMember api.Reason
	PeerName  string
	// ForwardBitsPerS and BackwardBitsPerS are the speed of the slowest hop from Low to
	// High and back; 0 = not known, for the reason SpeedUnknown.
	ForwardBitsPerS, BackwardBitsPerS int64
	SpeedUnknown                      api.Reason
	// Down says that it is plugged and carries nothing.
	Down bool
	// Hubs are the names of the hubs in between.
	Hubs []string
	// Loop are the names of the nodes in a ring of bridged cables that this one belongs
	// to; empty = in none.
	Loop []string
	// Muted says that a person does not want to be warned about it.
	Muted bool
	// Simulated says that no real hardware is behind it.
	Simulated bool
}

// End is one end of a cable: a receptacle of a member. A nil or empty field is
// what no document says.
type End struct {
	// End is node and receptacle; Name is what people call the node.
	End  api.LinkEnd
	Name string
	// Place, BesideEthernet, Capability and Interface are the thunderbolt document's;
	// PortUnknown are its reasons.
	Place          string
	BesideEthernet *bool
	Capability     api.ThunderboltGeneration
	Interface      string
	PortUnknown    map[string]api.Reason
	// Identity is the identity document, IdentityUnknown its reasons.
	Identity        *api.Identity
	IdentityUnknown map[string]api.Reason
	// Network is the network document.
	Network *api.Network
	// RDMA is the rdma document of the receptacle, RDMAUnknown its reasons.
	RDMA        *api.RDMA
	RDMAUnknown map[string]api.Reason
	// Sees says whether this end sees the other one offer RDMA; nil = not told.
	Sees *bool
	// Stale says that the node cannot be reached now; State is what it said of itself.
	Stale bool
	State *api.NodeState
	// IsSuspect says that a program was killed that had the device open.
	IsSuspect bool
	// Change is the rdma-change document of the cable at this end.
	Change *api.RDMAChange
	// Profile is the cable's link-profile document over RDMA at this end.
	Profile *api.LinkProfile
}

// ends are those that are known, the lower first.
func (c *Cable) ends() []*End {
	if c.High == nil {
		return []*End{c.Low}
	}
	return []*End{c.Low, c.High}
}

// other is the end opposite of one; nil where it is not known.
func (c *Cable) other(e *End) *End {
	if e == c.Low {
		return c.High
	}
	return c.Low
}

// subject is the cable in causes.
func (c *Cable) subject() string {
	if c.Link.Valid() {
		return c.Link.String()
	}
	return c.Low.End.String()
}

// port names the receptacle as the case shows it: port 4 of studio-1 (back left).
func (e *End) port() string {
	name := "port " + e.End.PortNumber.String() + " of " + e.Name
	if place := strings.ReplaceAll(e.Place, "-", " "); place != "" {
		name += " (" + place + ")"
	}
	return name
}

// identity is the identity document; the zero value where there is none.
func (e *End) identity() api.Identity {
	if e.Identity == nil {
		return api.Identity{}
	}
	return *e.Identity
}

// system is the system's name and version: macOS 26.2.
func (e *End) system() string {
	if e.Identity == nil {
		return "an unknown system"
	}
	name := e.Identity.OSName
	if name == "" && e.Identity.Platform != api.PlatformLinux {
		name = "macOS"
	}
	if name == "" {
		name = "Linux"
	}
	if e.Identity.OSVersion == "" {
		return name
	}
	return name + " " + e.Identity.OSVersion
}

// isMac reports whether the node runs macOS, as far as is known.
func (e *End) isMac() bool { return e.identity().Platform != api.PlatformLinux }

// device is the RDMA device; nil where there is none or it is not told.
func (e *End) device() *api.RDMADevice {
	if e.RDMA == nil || e.RDMA.Device == nil || e.RDMA.Device.Name == "" {
		return nil
	}
	return e.RDMA.Device
}

// hasTB5 says whether the port's hardware can do RDMA; nil = not told.
func (e *End) hasTB5() *bool {
	switch {
	case e.Capability.Valid() && e.Capability != api.Thunderbolt5, e.RDMA != nil && isFalse(e.RDMA.HardwareCapable):
		return new(false)
	case e.Capability == api.Thunderbolt5, e.RDMA != nil && isTrue(e.RDMA.HardwareCapable):
		return new(true)
	}
	return nil
}

// hasOS says whether the system has the driver; nil = not told. Apple's driver
// came with macOS 26.2.
func (e *End) hasOS() *bool {
	if e.RDMA != nil && e.RDMA.OSCapable != nil {
		return e.RDMA.OSCapable
	}
	if e.identity().Platform != api.PlatformDarwin {
		return nil
	}
	if v := versionOf(e.Identity.OSVersion); v != nil {
		return new(slices.Compare(v, []int{26, 2}) >= 0)
	}
	return nil
}

// isOn says whether the Mac's switch is on; nil = not told.
func (e *End) isOn() *bool {
	if e.RDMA == nil {
		return nil
	}
	return e.RDMA.SwitchedOn
}

// isPending reports whether the switch is on and takes effect with the next start. It
// takes the system's word: a device that is only not told may be there.
func (e *End) isPending() bool {
	return isTrue(e.isOn()) && !isFalse(e.hasTB5()) && !isFalse(e.hasOS()) && e.device() == nil && e.RDMAUnknown["device"] == api.ReasonRDMANoDevice
}

// works reports whether everything before the cable is as RDMA needs it: hardware,
// system, switch and device.
func (e *End) works() bool {
	return isTrue(e.hasTB5()) && !isFalse(e.hasOS()) && isTrue(e.isOn()) && e.device() != nil
}

// why is a document's reason for a field that is absent; without a document it has
// not been read.
func why(unknown map[string]api.Reason, fields ...string) api.Reason {
	for _, f := range fields {
		if r := unknown[f]; r != "" {
			return r
		}
	}
	return api.ReasonNotYetRead
}

func isFalse(b *bool) bool { return b != nil && !*b }

func isTrue(b *bool) bool { return b != nil && *b }
