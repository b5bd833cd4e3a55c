package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Links writes the cables, and what was measured over every path.
func (v View) Links(w *Page, list api.LinkListResult, nodes []api.NodeView) {
	n := NamesOf(nodes)
	v.cables(w, list, n)
	if list.Rows = v.ways(list, nodes); len(list.Rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	v.measuredPaths(w, list, nodes, n)
	for _, r := range list.Rows {
		if r.MeasuredAt.IsZero() && !r.Simulated && !isUntested(r) {
			fmt.Fprintln(w, "\nWhat was not measured yet is measured while somebody watches, or with: fulmen measure link --all")
			return
		}
	}
}

// cables writes the table of cables.
func (v View) cables(w *Page, list api.LinkListResult, n Names) {
	if len(list.Cables) == 0 {
		w.Line("No Thunderbolt cable is plugged in. See the ports with: fulmen topology")
		return
	}
	table := v.table("CABLE", "+PLACES", "+INTERFACES", "KIND", "SPEED", "MEASURED", "THROUGH", "RDMA", "VERDICT")
	table.Less("THROUGH", "KIND", "MEASURED")
	for _, c := range list.Cables {
		table.Row(n.cable(c), bothEnds(c, func(e api.CableEnd) string { return e.Place }), bothEnds(c, func(e api.CableEnd) string { return e.Interface }),
			kindWord(c.Kind), cableSpeed(c), orNone(measured(c)), orNone(strings.Join(c.Hubs, ", ")), rdmaVerdict(c.RDMA), cableVerdict(c))
		table.Mark("VERDICT", simulated(c.Simulated))
	}
	w.Table(table)
	fmt.Fprintf(w, "\n%s.\n", cableCounts(list.Cables))
	loops(w, list.Loops, n)
}

// bothEnds joins something of both ends of a cable, the first end's first.
func bothEnds(c api.Cable, of func(api.CableEnd) string) string {
	var out []string
	for _, e := range c.Ends {
		out = append(out, orUnknown(of(e)))
	}
	return strings.Join(out, " ~ ")
}

// Link writes one cable: what it is, whether it can do RDMA and why not, and
// what was measured over it.
func (v View) Link(w *Page, l api.LinkGetResult, nodes []api.NodeView) {
	n := NamesOf(nodes)
	c := l.Cable
	table := text.NewTable()
	table.Row("cable", n.cable(c))
	for _, e := range c.Ends {
		table.Row("", join("  ", n.end(e.End), e.Place, e.Interface, e.Device))
	}
	table.Row("kind", kindWord(c.Kind))
	table.Row("speed", n.speeds(c))
	table.Row("measured", cmp.Or(join(", ", measured(c), choose(c.RTTUS == nil, "", "RTT/2 "+half(c.RTTUS))), "not measured"))
	if len(c.Hubs) > 0 {
		table.Row("through", strings.Join(c.Hubs, ", then "))
	}
	table.Row("verdict", join(" ", cableVerdict(c), simulated(c.Simulated)))
	for _, r := range c.Reasons {
		if info, ok := api.LookupReason(r); ok && info.Remedy != "" {
			table.Row("", info.Remedy)
		}
	}
	table.Row("RDMA", join(": ", rdmaVerdict(l.RDMA.Verdict), l.RDMA.Text))
	w.Table(table)
	v.rdmaChecks(w, l.RDMA.Checks, n)
	if l.Rows = withUntested(l.Rows, []api.Cable{c}); len(l.Rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	v.paths(w, l.Rows, newInterfaces(nodes, nil, []api.Cable{c}), n)
}

// measured is what a cable was measured to give as what it is drawn: RDMA 74.8 Gb/s.
func measured(c api.Cable) string {
	c.ForwardBitsPerS, c.BackwardBitsPerS = c.MeasuredForwardBitsPerS, c.MeasuredBackwardBitsPerS
	if c.ForwardBitsPerS == nil && c.BackwardBitsPerS == nil {
		return ""
	}
	return kindWord(c.Style) + " " + cableSpeed(c)
}

// speeds is a cable's speed, each way named where they differ.
func (n Names) speeds(c api.Cable) string {
	there, back := c.ForwardBitsPerS, c.BackwardBitsPerS
	switch {
	case there == nil || back == nil:
		return cableSpeed(c)
	case *there == *back:
		return text.BitsPerS(*there) + " each way"
	case len(c.Ends) < 2:
		return speed(*there, *back)
	}
	first, second := n.end(c.Ends[0].End), n.end(c.Ends[1].End)
	return fmt.Sprintf("%s from %s to %s, %s back", text.BitsPerS(*there), first, second, text.BitsPerS(*back))
}

// rdmaChecks writes what was checked for RDMA; what is not well, with what to do.
func (v View) rdmaChecks(w *Page, checks []api.RDMACheck, n Names) {
	if len(checks) == 0 {
		return
	}
	fmt.Fprintln(w)
	table := text.NewTable()
	for _, c := range checks {
		mark := mark(c.Answer, "ok", "wrong")
		if c.Advice && c.Answer == api.AnswerNo {
			mark = "advice"
		}
		where := ""
		if c.End.Valid() {
			where = n.end(c.End)
		}
		table.Row("", mark, where, v.withReason(c.Text, c.Reason))
		if c.Remedy != "" && c.Answer != api.AnswerYes {
			table.Row("", "", "", c.Remedy)
		}
	}
	w.Table(table)
}

// withUntested adds a row for every cable that is ready for RDMA and was never tested:
// nothing tests it unasked unless Fulmen has just enabled it.
func withUntested(rows []api.LinkRow, cables []api.Cable) []api.LinkRow {
	rows = slices.Clone(rows)
	for _, c := range cables {
		low, high := c.Link.Low.Node, c.Link.High.Node
		if c.RDMA != api.RDMAReady || !c.Link.Valid() || low == high || c.Stale ||
			slices.ContainsFunc(rows, func(r api.LinkRow) bool { return r.Transport == api.TransportRDMA && r.Link == c.Link }) {
			continue
		}
		rows = append(rows, api.LinkRow{
			LinkRowKey: api.LinkRowKey{From: low, To: high, Transport: api.TransportRDMA, Name: c.Link.String()},
			Kind:       api.LinkRDMA, Link: c.Link, Verdict: api.VerdictUnknown, Reasons: []api.Reason{api.ReasonNotMeasured}, Simulated: c.Simulated,
		})
	}
	return rows
}

// isUntested reports whether a row is of a cable that nobody has tested over RDMA.
func isUntested(r api.LinkRow) bool {
	return r.Transport == api.TransportRDMA && r.MeasuredAt.IsZero() && r.Link.Valid() && slices.Equal(r.Reasons, []api.Reason{api.ReasonNotMeasured})
}

// none stands for what there is none of, where a blank would look forgotten.
const none = text.None

// names are the short names of nodes.
type Names map[api.NodeID]string

// of is a node's short name, or its id where it has none.
func (n Names) Of(id api.NodeID) string {
	if name := n[id]; name != "" {
		return name
	}
	return id.Display()
}

// end is one end of a cable: mac-studio:1.
func (n Names) end(e api.LinkEnd) string { return n.Of(e.Node) + ":" + e.PortNumber.String() }

// namesOf are the names that a list of nodes gives.
func NamesOf(nodes []api.NodeView) Names {
	out := Names{}
	for _, n := range nodes {
		out[n.Node] = n.ShortName
	}
	return out
}

// Self is the node that was asked; empty where none was.
func Self(nodes []api.NodeView) (self api.NodeView) {
	for _, n := range nodes {
		if n.Self {
			return n
		}
	}
	return self
}

// cable is both ends of a cable: mac-studio:1 ~ mac-studio-2:1.
func (n Names) cable(c api.Cable) string {
	var ends []string
	for _, e := range c.Ends {
		ends = append(ends, n.end(e.End))
	}
	if len(ends) == 1 {
		ends = append(ends, nonMember(c.PeerName))
	}
	return strings.Join(ends, " ~ ")
}

// nonMember is a machine at the end of a cable that is no node.
func nonMember(name string) string {
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
func becauseAll(reasons []api.Reason) (out string) {
	for _, r := range reasons {
		out = join("; ", out, because(r))
	}
	return out
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
	return out
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
	return given(us, func(us float64) string { return text.Micros(us / 2) })
}

// rate is a speed that was measured.
func rate(bits *int64) string { return given(bits, text.BitsPerS) }

// address is an IP address that a document's name ends with; empty where it
// does not, as for RDMA, whose paths are cables.
func address(name string) string {
	if a, err := api.ParsePeerAddress(name); err == nil {
		return a.Address.String()
	}
	return ""
}
