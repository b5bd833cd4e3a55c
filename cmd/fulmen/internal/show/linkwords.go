package show

import (
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// none stands for what there is none of, where a blank would look forgotten.
const none = "-"

// names are the short names of nodes.
type names map[api.NodeID]string

// of is a node's short name, or its id where it has none.
func (n names) of(id api.NodeID) string {
	if name := n[id]; name != "" {
		return name
	}
	return id.Display()
}

// end is one end of a cable: mac-studio:1.
func (n names) end(e api.LinkEnd) string { return n.of(e.Node) + ":" + e.Receptacle.String() }

// namesOf are the names that a list of nodes gives.
func namesOf(nodes []api.NodeView) names {
	out := names{}
	for _, n := range nodes {
		out[n.Node] = n.ShortName
	}
	return out
}

// cable is both ends of a cable: mac-studio:1 ~ mac-studio-2:1.
func (n names) cable(c api.Cable) string {
	var ends []string
	for _, e := range c.Ends {
		ends = append(ends, n.end(e.End))
	}
	if len(ends) == 1 {
		ends = append(ends, stranger(c.PeerName))
	}
	return strings.Join(ends, " ~ ")
}

// stranger is a machine at the end of a cable that is no node.
func stranger(name string) string {
	if name == "" {
		return "a machine that does not run Fulmen"
	}
	return name + " (does not run Fulmen)"
}

// kindWord is what a path is made of, as people write it.
func kindWord(k api.LinkKind) string {
	switch k {
	case api.LinkWiFi:
		return "Wi-Fi"
	case api.LinkEthernet:
		return "Ethernet"
	case api.LinkTB3, api.LinkTB4, api.LinkTB5, api.LinkRDMA, api.LinkVPN:
		return strings.ToUpper(string(k))
	case "":
		return text.Unknown
	}
	return string(k)
}

// generation is TB5 for Thunderbolt 5.
func generation(g api.ThunderboltGeneration) string { return strings.ToUpper(string(g)) }

// speed is a cable's speed, one way and the other: 80 Gb/s where they are the
// same, else 120/40 Gb/s.
func speed(there, back int64) string {
	if there == back {
		return text.BitsPerS(there)
	}
	first, unit, _ := strings.Cut(text.BitsPerS(there), " ")
	second, otherUnit, _ := strings.Cut(text.BitsPerS(back), " ")
	if unit != otherUnit {
		first += " " + unit
	}
	return first + "/" + second + " " + otherUnit
}

// negotiated is what two ends of one hop agreed on.
func negotiated(s *api.ThunderboltSpeed) string {
	if s == nil {
		return ""
	}
	return join(" ", speed(s.TxBitsPerS, s.RxBitsPerS), generation(s.Generation))
}

// cableSpeed is a cable's speed from its first end to its second, and back.
func cableSpeed(c api.Cable) string {
	switch there, back := c.ForwardBitsPerS, c.BackwardBitsPerS; {
	case there == nil && back == nil:
		return text.Unknown
	case there == nil:
		return text.Unknown + "/" + text.BitsPerS(*back)
	case back == nil:
		return text.BitsPerS(*there) + "/" + text.Unknown
	default:
		return speed(*there, *back)
	}
}

// verdict is how a cable or path is, and why it is not good.
func verdict(v api.LinkVerdict, reasons []api.Reason) string {
	return join(": ", string(v), becauseAll(reasons))
}

// becauseAll is several reasons in words.
func becauseAll(reasons []api.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, because(r))
	}
	return strings.Join(out, "; ")
}

// cableVerdict is how a cable is, with all that a reader must know beside it.
func cableVerdict(c api.Cable) string {
	out := verdict(c.Verdict, c.Reasons)
	if c.OneSided && len(c.Ends) > 1 {
		out += ", only one end sees it"
	}
	if c.Muted {
		out += ", muted"
	}
	if c.Stale {
		out += ", stale"
	}
	return join(" ", out, simulated(c.Simulated))
}

// rdmaVerdict is whether a cable can do RDMA.
func rdmaVerdict(v api.RDMAVerdict) string {
	switch v {
	case api.RDMACanEnable:
		return "can be enabled"
	case api.RDMANeedsPerson:
		return "needs a person"
	case "":
		return text.Unknown
	}
	return string(v)
}

// half is a delay one way, as half of the round trip.
func half(us *float64) string {
	if us == nil {
		return none
	}
	return text.Micros(*us / 2)
}

// rate is a speed that was measured.
func rate(bits *int64) string {
	if bits == nil {
		return none
	}
	return text.BitsPerS(*bits)
}

// address is an IP address that a document's name ends with; empty where it
// does not, as for RDMA, whose paths are cables.
func address(name string) string {
	if a, err := api.ParsePeerAddress(name); err == nil {
		return a.Address.String()
	}
	return ""
}
