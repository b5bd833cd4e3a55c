package show

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"fulmen/daemon/api"
)

// randomCluster is a random cluster as a scenario has it, and what every screen has to say of its
// cables and networks, found out from the scenario alone.
type randomCluster struct {
	macs   []randomMac
	cables []randomCable
	ways   []randomWay
	ids    []api.NodeID // of the Macs, once they are drawn
}

type randomMac struct {
	hasDriver, isOn bool
	ports           []randomPort
	joins           []randomJoin // of randomNetworks
	randomFacts
	sharing api.Sharing
}

type randomPort struct {
	isTB5, isBridged, isTaken bool
	addresses                 []string
}

type randomEnd struct{ mac, port int }

// randomCable is a cable from one Mac to another, with the hubs in between.
type randomCable struct {
	ends      [2]randomEnd
	hubs      []bool // Thunderbolt 5, or 4
	hops      [][2]int
	isFitted  bool // both ends have addresses of one network
	rdma, tcp [3]int
	// What is made of the documents, for no scenario has it.
	flaps             bool
	rdmaFell, tcpFell bool
}

// newRandomCluster makes one of two to five Macs with up to four ports each.
func newRandomCluster(r *rand.Rand) (d randomCluster) {
	often := func(percent int) bool { return r.IntN(100) < percent }
	for range 2 + r.IntN(4) {
		m := randomMac{hasDriver: often(90)}
		m.isOn = m.hasDriver && often(85)
		hasBridge := often(35)
		for range 1 + r.IntN(4) {
			m.ports = append(m.ports, randomPort{isTB5: often(80), isBridged: hasBridge && often(75)})
		}
		d.macs = append(d.macs, m)
	}
	for range r.IntN(9) {
		a, b := r.IntN(len(d.macs)), r.IntN(len(d.macs))
		c := randomCable{ends: [2]randomEnd{{a, r.IntN(len(d.macs[a].ports))}, {b, r.IntN(len(d.macs[b].ports))}}}
		near, far := d.port(c.ends[0]), d.port(c.ends[1])
		if a == b || near.isTaken || far.isTaken {
			continue
		}
		near.isTaken, far.isTaken = true, true
		for often(25) && len(c.hubs) < 2 {
			c.hubs = append(c.hubs, often(60))
		}
		can := append(append([]bool{near.isTB5}, c.hubs...), far.isTB5)
		for i := range len(can) - 1 {
			choices := [][2]int{{40, 40}, {40, 40}, {20, 20}}
			if can[i] && can[i+1] {
				choices = [][2]int{{80, 80}, {80, 80}, {80, 80}, {120, 40}, {40, 120}, {40, 40}}
			}
			c.hops = append(c.hops, choices[r.IntN(len(choices))])
		}
		n := len(d.cables)
		switch {
		case near.isBridged || far.isBridged: // an interface with an address joins no bridge
		case often(80):
			c.isFitted = true
			near.addresses = append(near.addresses, fmt.Sprintf("169.254.%d.1/30 manual", n+1))
			far.addresses = append(far.addresses, fmt.Sprintf("169.254.%d.2/30 manual", n+1))
		case often(50): // each in a network of its own
			near.addresses = append(near.addresses, fmt.Sprintf("169.254.%d.1/30 manual", n+1))
			far.addresses = append(far.addresses, fmt.Sprintf("169.254.%d.1/30 manual", n+101))
		default:
			near.addresses = append(near.addresses, fmt.Sprintf("169.254.%d.1/30 manual", n+1))
		}
		reading := func() [3]int { return [3]int{100 + r.IntN(700), 100 + r.IntN(700), 2 * (5 + r.IntN(90))} }
		if often(70) {
			c.rdma = reading()
		}
		if often(70) && !near.isBridged && !far.isBridged {
			c.tcp = reading()
		}
		d.cables = append(d.cables, c)
	}
	d.join(r)
	return d
}

func (d *randomCluster) port(e randomEnd) *randomPort { return &d.macs[e.mac].ports[e.port] }

func (e randomEnd) String() string { return fmt.Sprintf("m%d.tb%d", e.mac, e.port+1) }

// scenario is the cluster as a file of the simulator.
func (d *randomCluster) scenario() string {
	var b strings.Builder
	fmt.Fprintf(&b, "title = \"By chance\"\n")
	d.networks(&b)
	for i, m := range d.macs {
		if m.tflops >= 0 {
			fmt.Fprintf(&b, "[[gpu]]\nmac = \"m%d\"\nfp16_tflops = %g\nmemory_bytes_per_s = %de9\n", i, m.tflops, m.gigabytesPerS)
		}
	}
	word := func(is bool, yes, no string) string { return choose(is, yes, no) }
	for i, m := range d.macs {
		fmt.Fprintf(&b, "[[mac]]\nname = \"m%d\"\nos = %q\nrdma = %q\n", i, word(m.hasDriver, "26.2/25C56", "26.1/25B78"), word(m.isOn, "on", "off"))
		m.writeTo(&b)
		members := []string{}
		for k, p := range m.ports {
			fmt.Fprintf(&b, "[[mac.port]]\nreceptacle = %d\ncapability = %q\ninterface = \"en%d\"\n", k+1, word(p.isTB5, "tb5", "tb4"), k+1)
			if p.isBridged {
				members = append(members, fmt.Sprintf("en%d", k+1))
			}
		}
		m.interfaces(&b, i)
		for k, p := range m.ports {
			fmt.Fprintf(&b, "[[mac.interface]]\nname = \"en%d\"\naddresses = [%s]\n", k+1, quoted(p.addresses))
		}
		fmt.Fprintf(&b, "[[mac.bridge]]\nname = \"bridge0\"\nmembers = [%s]\n", quoted(members))
	}
	for n, c := range d.cables {
		at := c.ends[0].String()
		for h, isTB5 := range c.hubs {
			name := fmt.Sprintf("hub%d-%d", n, h)
			fmt.Fprintf(&b, "[[hub]]\nname = %q\ncapability = %q\ndownstream = 2\n", name, word(isTB5, "tb5", "tb4"))
			fmt.Fprintf(&b, "[[cable]]\nends = [%q, %q]\nspeed = \"%d/%dG\"\n", at, name+".up", c.hops[h][0], c.hops[h][1])
			at = name + ".1"
		}
		last := c.hops[len(c.hubs)]
		fmt.Fprintf(&b, "[[cable]]\nends = [%q, %q]\nspeed = \"%d/%dG\"\n", at, c.ends[1], last[0], last[1])
		for i, r := range [][3]int{c.rdma, c.tcp} {
			if transport := []string{"rdma", "socket"}[i]; r[0] > 0 {
				fmt.Fprintf(&b, "[[link]]\nfrom = \"m%d\"\nto = \"m%d\"\ntransport = %q\nover = \"tb%d\"\nup = \"%d.%d Gb/s\"\ndown = \"%d.%d Gb/s\"\nrtt_us = %d\n",
					c.ends[0].mac, c.ends[1].mac, transport, c.ends[0].port+1, r[0]/10, r[0]%10, r[1]/10, r[1]%10, r[2])
			}
		}
	}
	return b.String()
}

func quoted(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return `"` + strings.Join(all, `", "`) + `"`
}

// line is what a screen says of a cable or a network: in Gb/s, there from the Mac that the cluster has
// first, and back.
type line struct {
	style       api.LinkKind
	verdict     api.LinkVerdict
	reason      string
	there, back float64
	rttUS       float64
	isStale     bool // one end is not reached
	isOne       bool // one number stands for both ways
}

// silence is why one of two Macs tells nothing now; empty where both do.
func (d *randomCluster) silence(low, high int) string {
	for _, mac := range []int{low, high} {
		switch f := &d.macs[mac].randomFacts; {
		case f.isHere():
		case f.state.self == api.SelfAsleep:
			return "The Mac is asleep."
		case f.state.reason == api.ReasonShuttingDown:
			return "The Mac is shutting down."
		case f.state.self == api.SelfRestarting:
			return "The Mac is restarting and may be waiting at FileVault."
		default:
			return "The node does not answer on any path."
		}
	}
	return ""
}

// wanted is what has to be shown of a cable.
func (d *randomCluster) wanted(c *randomCable) line {
	there, back, kind := 1000, 1000, api.LinkTB5
	for _, hop := range c.hops {
		there, back = min(there, hop[0]), min(back, hop[1])
		switch {
		case hop[0] == 20: // lanes of 10 Gb/s
			kind = api.LinkTB3
		case max(hop[0], hop[1]) == 40:
			kind = min(kind, api.LinkTB4)
		}
	}
	near, far := d.port(c.ends[0]), d.port(c.ends[1])
	ports := 80
	if !near.isTB5 || !far.isTB5 {
		ports = 40
	}
	want := line{style: kind, verdict: api.VerdictGood}
	switch {
	case c.flaps:
		want.verdict, want.reason = api.VerdictBad, "The link keeps going up and down."
	case near.isBridged && far.isBridged && d.joins(c.ends[0].mac, c.ends[1].mac, c):
		want.verdict, want.reason = api.VerdictBad, "Bridged Thunderbolt cables form a loop, which floods the network."
	case there+back >= 2*ports:
	case len(c.hubs) > 0:
		want.verdict, want.reason = api.VerdictSlow, "A hub on the way is the slowest part."
	default:
		want.verdict, want.reason = api.VerdictSlow, "The cable runs slower than both its ports can."
	}
	reading, fell, can := c.tcp, c.tcpFell, near.isTB5 && far.isTB5 && max(there, back) > 40 && c.isFitted
	for _, e := range c.ends {
		can = can && d.macs[e.mac].hasDriver && d.macs[e.mac].isOn
	}
	if can {
		want.style, reading, fell = api.LinkRDMA, c.rdma, c.rdmaFell
	}
	if fell && want.verdict == api.VerdictGood {
		want.verdict, want.reason = api.VerdictSlow, fellBelow
	}
	low, high := c.ends[0].mac, c.ends[1].mac
	if d.ids[low] > d.ids[high] {
		low, high = high, low
	}
	if silence := d.silence(low, high); silence != "" {
		want.isStale, want.verdict, want.reason = true, api.VerdictUnknown, silence
	}
	want.there, want.back, want.rttUS = float64(reading[0])/10, float64(reading[1])/10, float64(reading[2])
	return want
}

// joins reports whether bridges lead from one Mac to another without one of the cables.
func (d *randomCluster) joins(from, to int, without *randomCable) bool {
	reached := map[int]bool{from: true}
	for range d.macs {
		for i := range d.cables {
			c := &d.cables[i]
			if c != without && d.port(c.ends[0]).isBridged && d.port(c.ends[1]).isBridged && (reached[c.ends[0].mac] || reached[c.ends[1].mac]) {
				reached[c.ends[0].mac], reached[c.ends[1].mac] = true, true
			}
		}
	}
	return reached[to]
}
