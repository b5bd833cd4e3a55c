package readiness

import (
	"cmp"
	"strconv"
	"strings"

	"fulmen/daemon/api"
)

// checkFulmen asks whether a member answers. What is known of one that does not is
// what it last said.
func checkFulmen(c *Cable, own *End) finding {
	if other := c.other(own); other != nil && other.End.Node == own.End.Node {
		f := no(api.RDMANeedsPerson, api.ReasonNotConnected, "Both ends of the cable are in %s, and RDMA joins two Macs.", own.Name).
			do("Plug one end into another Mac.")
		if own == c.High {
			f = f.after()
		}
		return f
	}
	if !own.Stale {
		return yes("%s runs Fulmen and belongs to this cluster.", own.Name)
	}
	const old = "what else is said of it is how it last was"
	state := api.SelfAwake
	if own.State != nil {
		state = own.State.State
	}
	switch state {
	case api.SelfAsleep:
		return unknown(api.ReasonAsleep, "%s is asleep; %s.", own.Name, old).do("Wake %s.", own.Name)
	case api.SelfRestarting:
		return unknown(api.ReasonRestarting, "%s is restarting; %s.", own.Name, old).do("Wait for it; it may be waiting for its password.")
	case api.SelfStopping, api.SelfLeft, api.SelfAwake:
	}
	return unknown(api.ReasonUnreachable, "%s does not answer now; %s.", own.Name, old).do("Check that it is on, awake and connected.")
}

// nonMember says what is at an end that is no member's.
func nonMember(c *Cable) finding {
	what := "the machine at the other end"
	if c.PeerName != "" {
		what += " (" + c.PeerName + ")"
	}
	if c.NonMember != "" && c.NonMember != api.ReasonPeerUnknown {
		return unknown(c.NonMember, "Which Mac is at the other end is not certain: what the Macs tell of it does not match.").do("Replug the cable.")
	}
	return no(api.RDMANeedsPerson, api.ReasonPeerUnknown, "%s does not run Fulmen, or is not in this cluster.", what).
		do("Install Fulmen there and add that Mac to this cluster.")
}

// checkPortTB5 asks for the hardware of the port.
func checkPortTB5(_ *Cable, own *End) finding {
	is := own.hasTB5()
	switch {
	case is == nil:
		return unknown(why(own.PortUnknown, "capability"), "what %s can do is not known.", own.port())
	case *is:
		return yes("%s is Thunderbolt 5.", own.port())
	}
	f := no(api.RDMACannot, api.ReasonNotThunderbolt5, "%s is no Thunderbolt 5 port, and RDMA needs Thunderbolt 5.", own.port())
	if name := generation(own.Capability); name != "" && own.Capability != api.Thunderbolt5 {
		f = no(api.RDMACannot, api.ReasonNotThunderbolt5, "%s is %s, and RDMA needs Thunderbolt 5.", own.port(), name)
	}
	return f.do("Use a Thunderbolt 5 port where the Mac has one. Without RDMA the two still work together over this cable, with the ring backend.")
}

func generation(g api.ThunderboltGeneration) string {
	switch g {
	case api.Thunderbolt3, api.Thunderbolt4, api.Thunderbolt5:
		return "Thunderbolt " + strings.TrimPrefix(string(g), "tb")
	}
	return ""
}

// checkSpeed asks for the slowest hop, in its faster direction: a cable can share
// its lanes out as 120 one way and 40 the other.
func checkSpeed(c *Cable) finding {
	there, back := c.ForwardBitsPerS, c.BackwardBitsPerS
	switch {
	case c.Down:
		f := no(api.RDMANeedsPerson, api.ReasonLinkDown, "The cable is plugged in, and carries nothing.").
			do("Unplug it and plug it in again, firmly, at both ends; if that does not help, try another cable.")
		if c.Low.Stale || c.High != nil && c.High.Stale {
			f = f.after() // a Mac that is off or starts lets its cables down
		}
		return f
	case there <= 0 || back <= 0:
		return unknown(cmp.Or(c.SpeedUnknown, api.ReasonNotYetRead), "The speed of the cable is not known.")
	case max(there, back) > api.MinRDMABitsPerS && there == back:
		return yes("The cable runs at %s each way.", gigabits(there))
	case max(there, back) > api.MinRDMABitsPerS:
		return yes("The cable runs at %s one way and %s the other.", gigabits(there), gigabits(back))
	}
	f := no(api.RDMANeedsPerson, api.ReasonLinkTooSlow, "The cable runs at %s, and RDMA needs more than 40 Gb/s.", gigabits(max(there, back))).
		do("Use a cable that is marked Thunderbolt 5 (80 Gb/s or more), and plug it in firmly at both ends.")
	if len(c.Hubs) > 0 {
		f = no(api.RDMANeedsPerson, api.ReasonHubBetween, "through %s the cable runs at %s, and RDMA needs more than 40 Gb/s.", listed(c.Hubs), gigabits(max(there, back))).
			do("Join the two Macs directly, without the hub.")
	}
	for _, e := range c.ends() {
		if isFalse(e.hasTB5()) {
			return f.after() // it runs as fast as its ports can
		}
	}
	return f
}

// checkPortNumber warns of the port beside Ethernet, of which trouble is reported.
// The state of the port, and a test that worked, are believed before that.
func checkPortNumber(c *Cable, own *End) finding {
	switch {
	case own.BesideEthernet == nil:
		return unknown(why(own.PortUnknown, "beside_ethernet"), "whether %s is beside the Ethernet socket is not known.", own.port()).advised()
	case !*own.BesideEthernet:
		return yes("%s is not beside the Ethernet socket.", own.port()).advised()
	case tested(c) == api.AnswerYes:
		return yes("%s is beside the Ethernet socket, where RDMA is reported to fail; here it was tested and works.", own.port()).advised()
	}
	return no(api.RDMAReady, api.ReasonRDMABesideEthernet, "%s is beside the Ethernet socket, where RDMA is reported to fail on some Macs.", own.port()).
		do("If RDMA does not work here, use another port of %s.", own.Name).advised()
}

// gigabits is a speed for people, in 10^9 bits a second.
func gigabits(bitsPerS int64) string {
	return strconv.FormatFloat(float64(bitsPerS/1e8)/10, 'f', -1, 64) + " Gb/s"
}

// listed joins names: a, b and c.
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
