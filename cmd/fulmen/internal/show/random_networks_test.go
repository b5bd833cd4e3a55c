package show

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fulmen/daemon/api"
)

// randomJoin is how a Mac is in a network.
type randomJoin struct {
	is      bool
	byWiFi  bool // whatever the network is
	aliased bool // has a second address
}

// randomNetworks are those of every cluster, with the interface and the addresses there.
var randomNetworks = []struct {
	name, iface, address, alias string
	kind                        api.LinkKind
}{
	{"lan", "en0", "192.168.1.%d/24 dhcp", "10.0.0.%d/24 unknown", api.LinkEthernet},
	{"air", "en9", "192.168.50.%d/24 dhcp", "10.0.50.%d/24 unknown", api.LinkWiFi},
	{"tunnel", "utun4", "100.64.0.%d/10 manual", "10.0.99.%d/24 unknown", api.LinkVPN},
}

// randomWay is what joins two Macs over a network, and what was measured there: tenths of
// Gb/s there and back, and the round trip.
type randomWay struct {
	macs    [2]int
	network int
	reading [3]int
	fell    bool
}

// kindOf is what a way is made of.
func (d *randomCluster) kindOf(w *randomWay) api.LinkKind {
	for _, m := range w.macs {
		if d.macs[m].joins[w.network].byWiFi {
			return api.LinkWiFi
		}
	}
	return randomNetworks[w.network].kind
}

// join has the Macs in networks by chance. No two ways are as fast.
func (d *randomCluster) join(r *rand.Rand) {
	often := func(percent int) bool { return r.IntN(100) < percent }
	speeds := r.Perm(290)
	for i := range d.macs {
		for _, n := range randomNetworks {
			d.macs[i].joins = append(d.macs[i].joins, randomJoin{is: often(60), byWiFi: n.name == "lan" && often(20), aliased: often(25)})
		}
		for k := range i {
			for n := range randomNetworks {
				if !d.macs[k].joins[n].is || !d.macs[i].joins[n].is {
					continue
				}
				w := randomWay{macs: [2]int{k, i}, network: n}
				if often(70) {
					slow := 10 + 3*speeds[len(d.ways)]
					w.reading = [3]int{slow, slow + r.IntN(3), 2 * (50 + r.IntN(900))}
					if often(50) {
						w.reading[0], w.reading[1] = w.reading[1], w.reading[0]
					}
					if missing := r.IntN(12); missing < 3 {
						w.reading[missing] = 0
					}
				}
				d.ways = append(d.ways, w)
			}
		}
	}
}

// networks is the part of a scenario that has the networks, and the readings of them.
func (d *randomCluster) networks(b *strings.Builder) {
	for _, n := range randomNetworks {
		fmt.Fprintf(b, "[[network]]\nname = %q\ntype = %q\n", n.name, n.kind)
	}
	for _, w := range d.ways {
		if w.reading == [3]int{} {
			continue
		}
		fmt.Fprintf(b, "[[link]]\nfrom = \"m%d\"\nto = \"m%d\"\ntransport = \"socket\"\nover = %q\n", w.macs[0], w.macs[1], randomNetworks[w.network].name)
		for i, name := range []string{"up", "down"} {
			if w.reading[i] > 0 {
				fmt.Fprintf(b, "%s = \"%d.%d Gb/s\"\n", name, w.reading[i]/10, w.reading[i]%10)
			}
		}
		if w.reading[2] > 0 {
			fmt.Fprintf(b, "rtt_us = %d\n", w.reading[2])
		}
	}
}

// interfaces is the part of a scenario that has a Mac in its networks.
func (m *randomMac) interfaces(b *strings.Builder, mac int) {
	for i, join := range m.joins {
		n := randomNetworks[i]
		if !join.is {
			continue
		}
		addresses := []string{fmt.Sprintf(n.address, mac+10)}
		if join.aliased {
			addresses = append(addresses, fmt.Sprintf(n.alias, mac+10))
		}
		fmt.Fprintf(b, "[[mac.interface]]\nname = %q\ntype = %q\nnetwork = %q\naddresses = [%s]\n", n.iface, choose(join.byWiFi, "wifi", string(n.kind)), n.name, quoted(addresses))
	}
}

// wantedWay is what has to be shown of a way, there from the Mac that the cluster has first.
func (d *randomCluster) wantedWay(w *randomWay) line {
	l := line{style: d.kindOf(w), verdict: api.VerdictGood, there: float64(w.reading[0]) / 10, back: float64(w.reading[1]) / 10, rttUS: float64(w.reading[2])}
	switch {
	case w.reading == [3]int{}:
		l.verdict, l.reason = api.VerdictUnknown, "The simulated scenario does not say."
	case w.fell:
		l.verdict, l.reason = api.VerdictSlow, fellBelow
	case slices.Contains(w.reading[:], 0):
		l.verdict, l.reason = api.VerdictUnknown, "Not everything has been measured yet."
	}
	if silence := d.silence(w.macs[0], w.macs[1]); silence != "" {
		l.isStale = true
		if l.verdict == api.VerdictGood {
			l.verdict, l.reason = api.VerdictUnknown, silence
		}
	}
	return l
}

// networkLines is what has to be drawn between two Macs besides cables, by ids: a line for
// each kind, which says what the best way says: one with a speed, one that is good, one
// that is not slow, the fastest.
func (d *drawnCluster) networkLines() map[string]line {
	best, lines := map[string]*randomWay{}, map[string]line{}
	for i := range d.ways {
		w := &d.ways[i]
		low, high, isTurned := d.Nodes[w.macs[0]].Node, d.Nodes[w.macs[1]].Node, false
		if low > high {
			low, high, isTurned = high, low, true
		}
		if d.macs[w.macs[0]].state.liveness == api.LivenessLeft || d.macs[w.macs[1]].state.liveness == api.LivenessLeft {
			continue // it is not drawn
		}
		id := fmt.Sprintf("%s~%s/%s", low, high, d.kindOf(w))
		if old := best[id]; old != nil && !slices.Equal(slices.MaxFunc([][]int{d.worth(old), d.worth(w)}, slices.Compare), d.worth(w)) {
			continue
		}
		best[id] = w
		l := d.wantedWay(w)
		if isTurned {
			l.there, l.back = l.back, l.there
		}
		lines[id] = l
	}
	for pair, of := range d.bridged() {
		low, high := d.Nodes[pair[0].mac].Node, d.Nodes[pair[1].mac].Node
		if low < high && len(of) != 1 {
			kind := api.LinkUnknown // unlike cables, or only those of other Macs
			if len(of) > 1 && len(slices.Compact(of)) == 1 {
				kind = of[0]
			}
			lines[fmt.Sprintf("%s~%s/%s", low, high, kind)] = line{style: kind, verdict: api.VerdictUnknown, reason: "The simulated scenario does not say.",
				isStale: d.silence(pair[0].mac, pair[1].mac) != ""}
		}
	}
	return lines
}

// bridged are all pairs of interfaces that frames cross between over cables, each both ways,
// with the kinds of the cables from one to the other. Those in a bridge count as it, its
// port -1.
func (d *randomCluster) bridged() map[[2]randomEnd][]api.LinkKind {
	pairs := map[[2]randomEnd][]api.LinkKind{}
	for i := range d.cables {
		ends := d.cables[i].ends
		for k, e := range ends {
			if d.port(e).isBridged {
				ends[k].port = -1
			}
		}
		kind := d.wanted(&d.cables[i]).style
		pairs[ends] = append(pairs[ends], kind)
		turned := [2]randomEnd{ends[1], ends[0]}
		pairs[turned] = append(pairs[turned], kind)
	}
	for before := 0; before != len(pairs); {
		before = len(pairs)
		for _, a := range slices.Collect(maps.Keys(pairs)) {
			for _, b := range slices.Collect(maps.Keys(pairs)) {
				if further := [2]randomEnd{a[0], b[1]}; a[1] == b[0] && a[0] != b[1] && pairs[further] == nil {
					pairs[further] = []api.LinkKind{}
				}
			}
		}
	}
	return pairs
}

// worth orders ways, the best last.
func (d *randomCluster) worth(w *randomWay) []int {
	there, back, rtt := w.reading[0], w.reading[1], w.reading[2]
	switch slower := min(there, back); {
	case max(there, back) == 0:
		return []int{0}
	case w.fell:
		return []int{1, slower}
	case slower == 0:
		return []int{2, max(there, back)}
	case rtt == 0 || d.silence(w.macs[0], w.macs[1]) != "":
		return []int{2, slower} // it is not known to be good
	default:
		return []int{3, slower}
	}
}

// shownWay is a way as fulmen links has it.
type shownWay struct {
	from, to string
	line
}

// checkWays compares the ways that fulmen links has over networks, each once for every
// pair of addresses.
func (d *drawnCluster) checkWays(t *testing.T) {
	t.Helper()
	var want, shown []shownWay
	for i := range d.ways {
		w := &d.ways[i]
		l := d.wantedWay(w)
		if l.reason == "Not everything has been measured yet." {
			l.reason = "not everything was measured."
		}
		l.isStale = false // its reason says so
		way := shownWay{fmt.Sprintf("m%d", w.macs[0]), fmt.Sprintf("m%d", w.macs[1]), l}
		want = append(want, way)
		if d.macs[w.macs[0]].joins[w.network].aliased && d.macs[w.macs[1]].joins[w.network].aliased {
			want = append(want, way)
		}
	}
	var page Page
	View{}.Links(&page, d.Links, d.Nodes)
	_, below, _ := strings.Cut(page.String(), "\nBETWEEN ")
	heading, below, _ := strings.Cut(below, "\n")
	for row := range strings.SplitSeq(below, "\n") {
		cells := manyGaps.Split(row, -1) // BETWEEN AND KIND THERE BACK RTT/2 JITTER/2 MEASURED VERDICT
		if (strings.Contains(heading, "ADDRESS") || strings.Contains(heading, "CABLE")) && len(cells) > 3 {
			cells = slices.Delete(cells, 3, 4) // it tells rows apart that would be alike
		}
		if len(cells) != 9 || !slices.Contains([]api.LinkKind{api.LinkEthernet, api.LinkWiFi, api.LinkVPN}, kinds[cells[2]]) {
			continue
		}
		verdict, reason, _ := strings.Cut(strings.TrimSuffix(cells[8], " SIMULATED"), ": ")
		if reason, _, _ = strings.Cut(reason, "; "); reason != "" {
			reason += "."
		}
		shown = append(shown, shownWay{cells[0], cells[1], line{style: kinds[cells[2]], verdict: api.LinkVerdict(verdict), reason: reason,
			there: numberIn(cells[3]), back: numberIn(cells[4]), rttUS: 2 * microsIn(cells[5])}})
	}
	order := func(a, b shownWay) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	slices.SortFunc(want, order)
	slices.SortFunc(shown, order)
	if !slices.Equal(shown, want) {
		t.Errorf("seed %d: fulmen links says of networks\n  %+v, not\n  %+v", d.seed, shown, want)
	}
}
