package readiness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fulmen/daemon/api"
)

// checkOS asks for the system: Apple's driver came with macOS 26.2.
func checkOS(_ *Cable, own *End) finding {
	is := own.hasOS()
	switch {
	case is == nil:
		return unknown(why(own.RDMAUnknown, "os_capable"), "whether the system of %s can do RDMA is not known.", own.Name)
	case *is:
		return yes("%s runs %s, which can do RDMA.", own.Name, own.system())
	case !own.isMac():
		return no(api.RDMACannot, api.ReasonNotSupportedByPlatform, "%s runs %s; RDMA over Thunderbolt is a part of macOS.", own.Name, own.system())
	}
	return no(api.RDMANeedsPerson, api.ReasonOSTooOld, "%s runs %s, and RDMA needs macOS 26.2 or newer.", own.Name, own.system()).
		do("Update macOS on %s: System Settings, General, Software Update.", own.Name)
}

// noOS is why the system cannot.
func (e *End) noOS() string {
	if e.isMac() {
		return "the system of " + e.Name + " is too old"
	}
	return e.Name + " runs no macOS"
}

// checkSameBuild advises to have one build at both ends.
func checkSameBuild(c *Cable) finding {
	if c.High == nil {
		return unknown(api.ReasonPeerUnknown, "The system of the other machine is not known.").advised()
	}
	for _, e := range c.ends() {
		if !e.isMac() {
			return unknown(api.ReasonNotSupportedByPlatform, "%s runs %s, which has no build in common with macOS.", e.Name, e.system()).advised()
		}
	}
	low, high := c.Low.identity(), c.High.identity()
	a, b := low.OSBuild, high.OSBuild
	versions := low.OSVersion != "" && high.OSVersion != "" && low.OSVersion != high.OSVersion
	switch {
	case a != "" && a == b:
		return yes("Both Macs run %s.", withBuild(c.Low)).advised()
	case a != "" && b != "", versions:
		return no(api.RDMAReady, api.ReasonRDMABuildsDiffer, "%s runs %s and %s runs %s; RDMA works best between the same versions.",
			c.Low.Name, withBuild(c.Low), c.High.Name, withBuild(c.High)).do("Update both to the newest macOS.").advised()
	}
	of, unknowns := c.Low, c.Low.IdentityUnknown
	if a != "" {
		of, unknowns = c.High, c.High.IdentityUnknown
	}
	return unknown(why(unknowns, "os_build"), "the build of macOS on %s is not known.", of.Name).advised()
}

// withBuild is the system with its build: macOS 26.2 (25C56).
func withBuild(e *End) string {
	if e.identity().OSBuild == "" {
		return e.system()
	}
	return fmt.Sprintf("%s (%s)", e.system(), e.Identity.OSBuild)
}

// checkSwitch asks for the Mac's one switch.
func checkSwitch(_ *Cable, own *End) finding {
	on := own.isOn()
	switch {
	case isFalse(own.hasOS()):
		return no(api.RDMANeedsPerson, api.ReasonOSTooOld, "%s has no switch for RDMA: %s.", own.Name, own.noOS()).after()
	case on == nil:
		f := unknown(why(own.RDMAUnknown, "switched_on"), "whether RDMA is switched on at %s is not known.", own.Name)
		if isFalse(own.hasTB5()) {
			f = f.after()
		}
		return f
	case *on:
		return yes("RDMA is switched on at %s.", own.Name)
	}
	f := no(api.RDMANeedsPerson, api.ReasonRDMASwitchOff, "RDMA is switched off on %s.", own.Name)
	if isFalse(own.hasTB5()) {
		return f.after() // switching it on would change nothing
	}
	if own.hasSettings() {
		return f.do("On %s: System Settings, Privacy & Security, Developer Tools, RDMA over Thunderbolt; then restart it.", own.Name)
	}
	return f.do("Start %s in Recovery and run there: rdma_ctl enable. It takes about 4 minutes.", own.Name)
}

// checkDevice asks for the device that the driver makes of a port.
func checkDevice(_ *Cable, own *End) finding {
	on, d := own.isOn(), own.device()
	missing := fmt.Sprintf("%s has no RDMA device", own.port())
	switch {
	case d != nil:
		return yes("%s has the RDMA device %s.", own.port(), d.Name)
	case isFalse(own.hasTB5()) && isTrue(on):
		return no(api.RDMANeedsPerson, api.ReasonNotThunderbolt5, "%s, although the switch is on: the hardware of the port cannot.", missing).after()
	case isFalse(own.hasTB5()):
		return no(api.RDMANeedsPerson, api.ReasonNotThunderbolt5, "%s: the hardware of the port cannot.", missing).after()
	case isFalse(own.hasOS()):
		return no(api.RDMANeedsPerson, api.ReasonOSTooOld, "%s: %s.", missing, own.noOS()).after()
	case isFalse(on):
		return no(api.RDMANeedsPerson, api.ReasonRDMASwitchOff, "%s while the switch is off.", missing).after()
	case own.isPending():
		return no(api.RDMANeedsPerson, api.ReasonRDMANoDevice, "RDMA is switched on at %s and takes effect with a restart: until then %s has no RDMA device.", own.Name, own.port()).
			do("Restart %s.", own.Name)
	case on == nil:
		return unknown(why(own.RDMAUnknown, "device", "switched_on"), "whether %s has an RDMA device is not known.", own.port()).after()
	}
	return unknown(why(own.RDMAUnknown, "device"), "whether %s has an RDMA device is not known.", own.port())
}

// noDevice is why a check cannot be made that needs the device; false where there
// is one.
func noDevice(c *Cable, own *End, what string) (finding, bool) {
	if own.device() != nil {
		return finding{}, false
	}
	f := checkDevice(c, own)
	if f.Answer == api.AnswerNo {
		return no(api.RDMANeedsPerson, f.Reason, "%s %s, since it has no RDMA device.", own.port(), what).after(), true
	}
	return unknown(f.Reason, "%s: not known before its RDMA device is.", own.port()).after(), true
}

// checkPeerOffers asks whether this end offers RDMA, as the other one sees it. A
// port becomes active only when both ends have RDMA on, so one that is proves the
// offer, whatever is told of it.
func checkPeerOffers(c *Cable, own *End) finding {
	other := c.other(own)
	switch {
	case other == nil && isTrue(own.Sees):
		return yes("The machine at the other end offers RDMA to %s.", own.Name)
	case other == nil:
		return unknown(api.ReasonPeerUnknown, "What %s offers to the other end is not known.", own.Name).after()
	case isTrue(other.Sees):
		return yes("%s sees that %s offers RDMA.", other.Name, own.Name)
	case isActive(other): // also where its list of offers denies it
		return yes("%s offers RDMA: the port at %s is active, which takes both.", own.Name, other.Name)
	case isFalse(other.Sees) && own.works() && other.works() && other.device().PortState == "":
		// The list denies it, and the port, which would show it, is silent.
		return unknown(why(other.RDMAUnknown, "device.port_state"), "whether %s offers RDMA to %s is not certain.", own.Name, other.Name)
	case isFalse(other.Sees):
		f := no(api.RDMANeedsPerson, api.ReasonRDMANotOffered, "%s does not see that %s offers RDMA.", other.Name, own.Name).
			do("Replug the cable; if that does not help, restart %s.", own.Name)
		if !own.works() {
			f = f.after()
		}
		return f
	}
	f := unknown(why(other.PortUnknown, "peers"), "whether %s offers RDMA to %s is not known.", own.Name, other.Name)
	if !own.works() || !other.works() || other.device().PortState != "" {
		f = f.after() // the port of the other end says as much
	}
	return f
}

func isActive(e *End) bool { return e.device() != nil && e.device().PortState == api.RDMAPortActive }

// checkPortActive asks for the state of the device's port, which is active only when
// RDMA is on at both ends.
func checkPortActive(c *Cable, own *End) finding {
	if f, missing := noDevice(c, own, "is not active"); missing {
		return f
	}
	d, other := own.device(), c.other(own)
	switch {
	case d.PortState == api.RDMAPortActive:
		return yes("%s is active.", own.port())
	case d.PortState == "":
		return unknown(why(own.RDMAUnknown, "device.port_state"), "the state of %s is not known.", own.port())
	}
	waits := slices.Contains([]api.RDMAPortState{api.RDMAPortInit, api.RDMAPortArmed}, d.PortState)
	f := no(api.RDMANeedsPerson, api.ReasonRDMAPortDown, "%s is not active, though RDMA is on at both ends.", own.port()).
		do("Replug the cable; if that does not help, restart both Macs.")
	switch {
	case other == nil:
		return no(api.RDMANeedsPerson, api.ReasonRDMAPortDown, "%s becomes active when RDMA is on at the other end.", own.port()).after()
	case !other.works():
		return no(api.RDMANeedsPerson, api.ReasonRDMAPortDown, "%s becomes active when RDMA is on at %s.", own.port(), other.Name).after()
	case waits:
		return no(api.RDMANeedsPerson, api.ReasonRDMAPortDown, "%s is still being set up.", own.port()).
			do("Wait a moment; if it stays so, replug the cable.")
	case c.Down, isFalse(own.Sees), own == c.High && d.PortState == other.device().PortState:
		return f.after() // the cable, what the other end does not offer, or the same at the other end
	}
	return f
}

// settingsVersion is the first major version of macOS that is reported to have the
// switch in System Settings; earlier ones have it in Recovery only.
const settingsVersion = 27

// versionOf reads a version such as 26.5.1; nil where it is none.
func versionOf(text string) []int {
	if text == "" {
		return nil
	}
	var out []int
	for _, part := range strings.Split(text, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// hasSettings reports whether the Mac's system has the switch in System Settings.
func (e *End) hasSettings() bool {
	v := versionOf(e.identity().OSVersion)
	return len(v) > 0 && v[0] >= settingsVersion
}
