package show

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// fellBelow is what screens say of what has got worse.
const fellBelow = "The link is slower than its own history."

// age adds to the documents what only time brings: ends that say that their cable keeps
// going up and down, and earlier results.
func (d *drawnCluster) age(t *testing.T, r *rand.Rand) {
	t.Helper()
	is := is.New(t)
	at := d.Nodes[0].Since
	for i := range d.cables {
		c := &d.cables[i]
		e := c.ends[r.IntN(2)]
		from := e.mac
		switch r.IntN(10) {
		case 0:
			c.flaps = true
		case 1:
			from = (from + 1) % len(d.macs) // whose word on the port of another counts for nothing
		default:
			continue
		}
		end := api.LinkEnd{Node: d.Nodes[e.mac].Node, PortNumber: api.PortNumber(e.port + 1)}
		doc := api.Document{Node: d.Nodes[from].Node, Kind: api.KindCondition, Name: fmt.Sprintf("flapping-%d", i), Inc: 1, Seq: 1000, At: at, Simulated: true}
		is.NoErr(doc.SetValue(api.Condition{Code: api.ReasonLinkFlapping, Severity: api.SeverityWarning, Text: "It flaps.", Subject: end.String(), Since: at}))
		d.Docs = append(d.Docs, doc)
	}
	fell := map[string]bool{} // by what was measured: both ends have a document of it, for each address
	for i := range d.Docs {
		doc := &d.Docs[i]
		var p api.LinkProfile
		if doc.Kind != api.KindLinkProfile || doc.Decode(&p) != nil || p.UpBitsPerS == nil || p.DownBitsPerS == nil || p.RTTUS == nil || doc.Node == p.Peer {
			continue
		}
		key := fmt.Sprint(min(doc.Node, p.Peer), max(doc.Node, p.Peer), p.Transport, p.Link)
		if !p.Link.Valid() {
			key += p.Interface
		}
		if _, is := fell[key]; !is {
			fell[key] = d.fall(r, p, doc.Node)
		}
		earlier(&p, fell[key], i, at)
		is.NoErr(doc.SetValue(p))
	}
	d.Redraw()
}

// fall has what was measured get worse, sometimes.
func (d *drawnCluster) fall(r *rand.Rand, p api.LinkProfile, from api.NodeID) bool {
	if r.IntN(100) >= 30 {
		return false
	}
	for i := range d.cables {
		c := &d.cables[i]
		if id, _ := d.idOf(c); p.Link.Valid() && id == p.Link.String() {
			if p.Transport == api.TransportRDMA {
				c.rdmaFell = true
			} else {
				c.tcpFell = true
			}
		}
	}
	for i := range d.ways {
		w := &d.ways[i]
		ends := []api.NodeID{d.Nodes[w.macs[0]].Node, d.Nodes[w.macs[1]].Node}
		if !p.Link.Valid() && randomNetworks[w.network].iface == p.Interface && slices.Contains(ends, from) && slices.Contains(ends, p.Peer) {
			w.fell = true
		}
	}
	return true
}

// earlier gives a profile a history: one of which the last three results are more than a
// fifth below what is usual, with three from before that, or one that lacks something of it.
func earlier(p *api.LinkProfile, fell bool, which int, at api.Time) {
	lows, usuals, ratio := 2, 3+which%4, 1.3
	if !fell {
		switch which % 3 {
		case 0:
			lows = 1 // one more would do
		case 1:
			usuals = 2
		default:
			ratio = 1.2 // a sixth less
		}
	}
	usual := func(rate *int64) *int64 { return new(int64(ratio * float64(*rate))) }
	// One way is enough.
	better := api.LinkResult{UpBitsPerS: p.UpBitsPerS, DownBitsPerS: usual(p.DownBitsPerS), RTTUS: p.RTTUS}
	if which%2 == 0 {
		better.UpBitsPerS, better.DownBitsPerS = usual(p.UpBitsPerS), p.DownBitsPerS
	}
	p.Median = &better
	p.Median.MeasuredAt = at
	for n := range lows + usuals {
		result := api.LinkResult{UpBitsPerS: p.UpBitsPerS, DownBitsPerS: p.DownBitsPerS, RTTUS: p.RTTUS}
		if n >= lows {
			result = better
		}
		result.MeasuredAt = api.TimeOf(at.Add(-time.Duration(n+1) * time.Hour))
		p.History = append(p.History, result)
	}
}
