package show

import (
	"cmp"
	"slices"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// pair is two nodes, or a node and a machine that is none, with what joins them.
type pair struct {
	low, high api.NodeID
	peer      string // the name of the machine
	cables    []api.Cable
	networks  []api.NetworkLine
}

// pairsOf are the pairs that something joins, in the order of the nodes on the screen.
func pairsOf(list api.LinkListResult, nodes []api.NodeView) []*pair {
	var all []*pair
	of := func(low, high api.NodeID, peer string) *pair {
		if i := slices.IndexFunc(all, func(p *pair) bool { return p.low == low && p.high == high && p.peer == peer }); i >= 0 {
			return all[i]
		}
		all = append(all, &pair{low: low, high: high, peer: peer})
		return all[len(all)-1]
	}
	for _, c := range list.Cables {
		high, peer := api.NodeID(""), c.PeerName
		if len(c.Ends) > 1 {
			high, peer = c.Ends[1].End.Node, ""
		}
		p := of(c.Ends[0].End.Node, high, peer)
		p.cables = append(p.cables, c)
	}
	for _, n := range list.Networks {
		p := of(n.Low, n.High, "")
		p.networks = append(p.networks, n)
	}
	at := map[api.NodeID]int{"": len(nodes)}
	for i, n := range nodes {
		at[n.Node] = i
	}
	slices.SortStableFunc(all, func(a, b *pair) int { return cmp.Or(at[a.low]-at[b.low], at[a.high]-at[b.high]) })
	return all
}

// pairs writes a row for each two nodes that something joins.
func (v View) pairs(w *Page, list api.LinkListResult, nodes []api.NodeView) {
	all, n := pairsOf(list, nodes), NamesOf(nodes)
	if len(all) == 0 {
		return
	}
	table := text.NewTable("BETWEEN", "AND", "JOINED BY", "FASTEST MEASURED", "RDMA", "VERDICT").Less("FASTEST MEASURED", "RDMA")
	for _, p := range all {
		other := nonMember(p.peer)
		if p.high != "" {
			other = n.Of(p.high)
		}
		table.Row(n.Of(p.low), other, p.joinedBy(), orNone(p.fastest()), orNone(p.rdma()), p.verdict())
		isSimulated := slices.ContainsFunc(p.cables, func(c api.Cable) bool { return c.Simulated }) ||
			slices.ContainsFunc(p.networks, func(n api.NetworkLine) bool { return n.Simulated })
		table.Mark("VERDICT", simulated(isSimulated))
	}
	w.Table(table)
	w.Line("")
}

// joinedBy is the cables by what they give, and the other networks.
func (p *pair) joinedBy() string {
	var words []string
	count := map[string]int{}
	for _, c := range p.cables {
		word := join(" ", cableSpeed(c), kindWord(c.Kind))
		if count[word]++; count[word] == 1 {
			words = append(words, word)
		}
	}
	for i, word := range words {
		if count[word] > 1 {
			words[i] = text.Count(count[word], "cable") + " of " + word
		}
	}
	for _, n := range p.networks {
		words = append(words, kindWord(n.Kind))
	}
	return strings.Join(words, ", ")
}

// fastest is what the best way between them gives, the slower direction counted.
func (p *pair) fastest() (out string) {
	most := int64(-1)
	take := func(numbers api.LinkNumbers, style api.LinkKind) {
		there, back := numbers.MeasuredForwardBitsPerS, numbers.MeasuredBackwardBitsPerS
		if there != nil && back != nil && min(*there, *back) > most {
			most, out = min(*there, *back), measured(api.Cable{LinkNumbers: numbers, Style: style})
		}
	}
	for _, c := range p.cables {
		take(c.LinkNumbers, c.Style)
	}
	for _, n := range p.networks {
		take(n.LinkNumbers, n.Kind)
	}
	return out
}

// rdma is the best that their cables can do; empty where they have none.
func (p *pair) rdma() string {
	order := []api.RDMAVerdict{api.RDMAReady, api.RDMACanEnable, api.RDMANeedsPerson, api.RDMACannot, api.RDMAUnknown, ""}
	at := len(order)
	for _, c := range p.cables {
		if i := slices.Index(order, c.RDMA); i >= 0 {
			at = min(at, i)
		}
	}
	if at == len(order) {
		return ""
	}
	return rdmaVerdict(order[at])
}

// verdict is how their cables are, the worst first, and which other networks are not good;
// of two without cables, how the networks are.
func (p *pair) verdict() string {
	var out []string
	for _, v := range []api.LinkVerdict{api.VerdictDown, api.VerdictBad, api.VerdictSlow, api.VerdictUnknown, api.VerdictGood} {
		for _, c := range p.cables {
			if c.Verdict == v && (v != api.VerdictGood || len(out) == 0) {
				out = append(out, cableVerdict(c))
			}
		}
	}
	for _, n := range p.networks {
		words := verdict(n.Verdict, n.Reasons)
		switch {
		case len(p.cables) == 0:
			out = append(out, words)
		case n.Verdict != api.VerdictGood && n.Verdict != api.VerdictUnknown:
			out = append(out, kindWord(n.Kind)+" "+words)
		}
	}
	slices.Sort(out[min(1, len(out)):])
	return strings.Join(slices.Compact(out), "; ")
}
