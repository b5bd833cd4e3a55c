package topology

import (
	"slices"

	"fulmen/daemon/api"
)

// rdmaFacts is what the documents of both ends say of RDMA over a cable: the
// verdict, and each fact that stands against it.
type rdmaFacts struct {
	verdict api.RDMAVerdict
	causes  []api.Cause
}

// against adds a fact that makes the verdict no better than this one.
func (f *rdmaFacts) against(v api.RDMAVerdict, reason api.Reason, subject, format string, args ...any) {
	f.causes = append(f.causes, causeOf(reason, subject, format, args...))
	if rdmaRank(v) > rdmaRank(f.verdict) {
		f.verdict = v
	}
}

// rdmaRank orders verdicts by how much they settle: what never can settles
// everything, and what a person must do is worth saying before the rest is known.
func rdmaRank(v api.RDMAVerdict) int {
	return slices.Index([]api.RDMAVerdict{api.RDMAReady, api.RDMACanEnable, api.RDMAUnknown, api.RDMANeedsPerson, api.RDMACannot}, v)
}

// rdmaOf sums up the facts. It needs no socket path and no address of the peer.
func rdmaOf(c *cable) rdmaFacts {
	f := rdmaFacts{verdict: api.RDMAReady}
	if c.high == nil {
		f.against(api.RDMAUnknown, api.ReasonPeerUnknown, c.low.end().String(), "what is plugged into %s runs no Fulmen", c.low.name())
		return f
	}
	f.checkEnd(c.low)
	f.checkEnd(c.high)
	f.checkOffer(c.views[0], c.high)
	f.checkOffer(c.views[1], c.low)
	switch total := c.way.total; {
	case c.Verdict == api.VerdictDown:
		f.against(api.RDMANeedsPerson, api.ReasonLinkDown, c.Link.String(), "the link is down")
	case !total.known():
		f.against(api.RDMAUnknown, total.why, c.Link.String(), "the speed of the cable is not known")
	case max(total.tx, total.rx) <= thunderbolt4BitsPerS && len(c.Hubs) > 0:
		f.against(api.RDMANeedsPerson, api.ReasonHubBetween, c.Link.String(), "a hub leaves no more than 40 Gb/s")
	case max(total.tx, total.rx) <= thunderbolt4BitsPerS:
		f.against(api.RDMANeedsPerson, api.ReasonLinkTooSlow, c.Link.String(), "the cable negotiated no more than 40 Gb/s")
	}
	return f
}

// checkEnd looks at one receptacle.
func (f *rdmaFacts) checkEnd(p *port) {
	subject := p.end().String()
	r := p.node.rdma[p.Receptacle]
	if g := p.Capability; g.Valid() && g != api.Thunderbolt5 || r != nil && isFalse(r.HardwareCapable) {
		f.against(api.RDMACannot, api.ReasonNotThunderbolt5, subject, "%s cannot: it is not Thunderbolt 5", p.name())
		return
	}
	if r == nil {
		f.against(api.RDMAUnknown, api.ReasonNotYetRead, subject, "%s says nothing of RDMA", p.name())
		return
	}
	switch {
	case isFalse(r.OSCapable):
		f.against(api.RDMANeedsPerson, api.ReasonOSTooOld, subject, "the system of %s is too old", p.node.displayName())
		return
	case isFalse(r.SwitchedOn):
		f.against(api.RDMANeedsPerson, api.ReasonRDMASwitchOff, subject, "RDMA is switched off on %s", p.node.displayName())
		return
	case r.HardwareCapable == nil || r.OSCapable == nil || r.SwitchedOn == nil:
		f.against(api.RDMAUnknown, api.ReasonNotYetRead, subject, "%s does not tell whether it can and is switched on", p.name())
	}
	f.checkDevice(p, r)
}

// checkOffer looks at what one end says that the other offers over the cable.
func (f *rdmaFacts) checkOffer(v *view, peer *port) {
	if v == nil || v.peer.Services == nil || slices.Contains(v.peer.Services, api.ServiceRDMA) || f.verdict == api.RDMACannot {
		return
	}
	f.against(api.RDMANeedsPerson, api.ReasonRDMANotOffered, peer.end().String(), "%s does not offer RDMA over the cable", peer.name())
}

// checkDevice looks at the device of a receptacle.
func (f *rdmaFacts) checkDevice(p *port, r *api.RDMA) {
	subject := p.end().String()
	d := r.Device
	if d == nil || d.Name == "" {
		verdict := api.RDMANeedsPerson
		if r.SwitchedOn == nil {
			verdict = api.RDMAUnknown
		}
		f.against(verdict, api.ReasonRDMANoDevice, subject, "%s shows no RDMA device", p.name())
		return
	}
	switch d.PortState {
	case api.RDMAPortActive:
	case "":
		f.against(api.RDMAUnknown, api.ReasonNotYetRead, subject, "%s of %s does not tell its state", d.Name, p.name())
	default:
		f.against(api.RDMANeedsPerson, api.ReasonRDMAPortDown, subject, "%s of %s is %s", d.Name, p.name(), d.PortState)
	}
	switch {
	case d.GIDs == nil:
		f.against(api.RDMAUnknown, api.ReasonNotYetRead, subject, "%s of %s does not tell its GIDs", d.Name, p.name())
	case !slices.ContainsFunc(d.GIDs, func(g api.GID) bool { return g.Address.Is4In6() }):
		f.against(api.RDMACanEnable, api.ReasonRDMANoIPv4GID, subject, "%s of %s has no GID made from an IPv4 address", d.Name, p.name())
	}
	if i := p.node.ifaces[p.iface()]; i != nil && i.Bridge != "" {
		f.against(api.RDMACanEnable, api.ReasonInBridge, subject, "%s of %s belongs to %s", i.Name, p.node.displayName(), i.Bridge)
	}
}

func isFalse(b *bool) bool { return b != nil && !*b }
