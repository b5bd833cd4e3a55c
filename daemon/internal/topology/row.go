package topology

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/history"
)

// rowMaker makes the rows of tables.
type rowMaker struct {
	index *index
	in    Input
	links map[api.LinkID]*cable
}

// rowsOf makes one row for every known path, measured or not, when it is asked first. The
// cables need those over them at once.
func rowsOf(x *index, g *Graph, in Input) func() []api.LinkRow {
	m := &rowMaker{index: x, in: in, links: make(map[api.LinkID]*cable, len(g.cables))}
	for _, c := range g.cables {
		if c.high != nil {
			m.links[c.Link] = c
		}
	}
	paths, profiles := g.Paths, m.profiles()
	m.measureCables(g.cables, paths, profiles)
	return sync.OnceValue(func() []api.LinkRow { return m.rows(paths, profiles) })
}

func (m *rowMaker) rows(paths []Path, profiles map[profileKey]*Profile) []api.LinkRow {
	rows := make([]api.LinkRow, 0, len(paths))
	twins := newTwins(paths)
	for i := range paths {
		p := &paths[i]
		key := profileKey{from: p.From, name: p.target().String()}
		if p.Crossed && profiles[key] == nil {
			continue // what goes there goes by another row
		}
		row := api.LinkRowKey{From: p.From, To: p.To, Transport: api.TransportSocket, Name: key.name}
		profile := profiles[key]
		if twin := twins.of(p); twin != nil {
			profile = newerOf(profile, profiles[profileKey{from: twin.From, name: twin.target().String()}], p)
		}
		rows = append(rows, m.row(row, p, profile))
	}
	for i := range paths {
		delete(profiles, profileKey{from: paths[i].From, name: paths[i].target().String()})
	}
	for key, profile := range profiles {
		row := api.LinkRowKey{From: key.from, To: profile.Peer, Transport: profile.Transport, Name: key.name}
		rows = append(rows, m.row(row, nil, profile))
	}
	for i := range rows {
		if r := &rows[i]; r.Together != nil && !areLive(paths, r) {
			r.Together = nil
		}
	}
	slices.SortFunc(rows, compareRows)
	return rows
}

// areLive reports whether all that were measured together are still there.
func areLive(paths []Path, r *api.LinkRow) bool {
	live := 0
	for i := range paths {
		if p := &paths[i]; p.From == r.From && p.To == r.To && p.State != api.PathFailed && slices.Contains(r.Together.Sinks, bareAddress(p.Address)) {
			live++
		}
	}
	return live == len(r.Together.Sinks)
}

func compareRows(a, b api.LinkRow) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)),
		cmp.Compare(a.Transport, b.Transport), cmp.Compare(a.Name, b.Name))
}

// kindRank orders kinds as people read them; a kind of a newer version comes last.
func kindRank(k api.LinkKind) int {
	order := []api.LinkKind{api.LinkWiFi, api.LinkEthernet, api.LinkTB3, api.LinkTB4, api.LinkTB5, api.LinkRDMA, api.LinkVPN, api.LinkLoopback}
	if i := slices.Index(order, k); i >= 0 {
		return i
	}
	return len(order)
}

// profileKey is a link-profile document: its name has the peer and the transport.
type profileKey struct {
	from api.NodeID
	name string
}

// profiles indexes the link-profile documents of all nodes; one whose name does
// not fit what it says, or that is given twice, is noted and left out.
func (m *rowMaker) profiles() map[profileKey]*Profile {
	count := 0
	for _, n := range m.index.nodes {
		count += len(n.Profiles)
	}
	all := make(map[profileKey]*Profile, count)
	var twice []profileKey
	for _, n := range m.index.nodes {
		for i := range n.Profiles {
			p, key := &n.Profiles[i], profileKey{from: n.ID, name: n.Profiles[i].Name}
			switch {
			case !m.fits(n.ID, p):
				m.index.notes.add(api.ReasonMalformedDocument, p.Name, "%s: link-profile %s does not fit its name", n.displayName(), p.Name)
			case all[key] != nil:
				m.index.notes.add(api.ReasonSourcesDisagree, p.Name, "%s describes %s twice: neither counts", n.displayName(), p.Name)
				twice = append(twice, key)
			default:
				all[key] = p
			}
		}
	}
	for _, key := range twice {
		delete(all, key)
	}
	return all
}

// fits reports whether a profile's name, peer and transport belong together.
func (m *rowMaker) fits(node api.NodeID, p *Profile) bool {
	switch p.Transport {
	case api.TransportSocket:
		text, ok := strings.CutPrefix(p.Name, string(p.Peer)+"/")
		addr, err := netip.ParseAddr(text)
		known := m.index.byID[p.Peer] != nil || p.Peer.Valid() // the check of an id is slow
		return ok && err == nil && known && addr.Unmap().String() == text
	case api.TransportRDMA:
		var l api.LinkID
		return l.UnmarshalText([]byte(p.Name)) == nil && joins(l, node, p.Peer)
	}
	return false
}

// joins reports whether a cable joins two nodes.
func joins(l api.LinkID, a, b api.NodeID) bool {
	return l.Low.Node == a && l.High.Node == b || l.Low.Node == b && l.High.Node == a
}

// row makes one row from a path, a profile, or both.
func (m *rowMaker) row(key api.LinkRowKey, path *Path, profile *Profile) api.LinkRow {
	row := api.LinkRow{LinkRowKey: key, Kind: api.LinkUnknown, Verdict: api.VerdictGood}
	row.Simulated = m.index.byID[key.From].Simulated
	m.describe(&row, path, profile)
	if profile == nil || profile.MeasuredAt.IsZero() {
		worsen(&row, api.VerdictUnknown, m.whyNot(&row, path))
	} else {
		row.LossRatio, row.Simulated = profile.LossRatio, profile.Simulated
		row.UpBitsPerS, row.DownBitsPerS = profile.UpBitsPerS, profile.DownBitsPerS
		row.RTTUS, row.JitterUS, row.MeasuredAt = profile.RTTUS, profile.JitterUS, profile.MeasuredAt
		row.Together, row.Old = profile.Together, m.old(profile)
		m.compare(&row, profile)
	}
	if profile != nil && profile.Failure != nil && profile.Failure.Reason != "" {
		worsen(&row, api.VerdictUnknown, profile.Failure.Reason)
	}
	if profile != nil {
		row.Waiting = profile.Waiting
	}
	m.carried(&row, path)
	return row
}

// whyNot is why a path has no numbers.
func (m *rowMaker) whyNot(row *api.LinkRow, path *Path) api.Reason {
	switch {
	case row.Simulated:
		return api.ReasonNotInScenario
	case row.Kind == api.LinkVPN, path != nil && path.Expensive:
		return api.ReasonExpensiveNetwork
	case row.Kind == api.LinkWiFi:
		return api.ReasonMeasuredOnRequest
	}
	return api.ReasonNotMeasured
}

// describe fills in what the path is made of.
func (m *rowMaker) describe(row *api.LinkRow, path *Path, profile *Profile) {
	if path != nil {
		row.Kind, row.Link, row.Simulated = path.Kind, path.Link, path.Simulated
	}
	if profile == nil {
		return
	}
	if row.Kind == api.LinkUnknown && profile.LinkKind.Valid() {
		row.Kind = profile.LinkKind
	}
	if row.Transport == api.TransportRDMA {
		row.Kind = api.LinkRDMA
		_ = row.Link.UnmarshalText([]byte(profile.Name)) // fits has read it
	} else if path == nil && profile.Link.Valid() {
		row.Link = profile.Link
	}
}

// old reports whether the numbers are past their TTL, or from another speed of the cable.
func (m *rowMaker) old(p *Profile) bool {
	ttl := cmp.Or(m.in.SocketTTL, api.DefaultSocketTTL)
	if p.Transport == api.TransportRDMA {
		ttl = cmp.Or(m.in.RDMATTL, api.DefaultRDMATTL)
	}
	return !m.in.At.IsZero() && m.in.At.Sub(p.MeasuredAt.Time) > ttl
}

// compare judges measured numbers against the path's own history, as the warning of it does;
// what a machine gives itself says only how busy it is.
func (m *rowMaker) compare(row *api.LinkRow, p *Profile) {
	if p.hasDropped() && row.Kind != api.LinkLoopback {
		worsen(row, api.VerdictSlow, api.ReasonLinkBelowHistory)
	}
	if row.UpBitsPerS == nil || row.DownBitsPerS == nil || row.RTTUS == nil { // the jitter judges nothing
		worsen(row, api.VerdictUnknown, api.ReasonNotMeasured)
	}
	c := m.links[row.Link]
	if s := p.NegotiatedAtStart; s != nil && c != nil && c.way.total.known() && !sameSpeed(s, c.way.total) {
		row.Old = true
		worsen(row, api.VerdictUnknown, api.ReasonLinkChanged)
	}
}

// carried judges whether the path carries anything now.
func (m *rowMaker) carried(row *api.LinkRow, path *Path) {
	if path != nil && path.State == api.PathFailed {
		worsen(row, api.VerdictDown, cmp.Or(path.Reason, api.ReasonLinkDown))
	}
	for _, id := range []api.NodeID{row.From, row.To} {
		if n := m.index.byID[id]; n != nil && n.Stale {
			worsen(row, api.VerdictUnknown, n.silence())
		}
	}
	if row.Transport != api.TransportRDMA {
		return
	}
	switch c := m.links[row.Link]; {
	case c == nil:
		worsen(row, api.VerdictDown, api.ReasonLinkGone)
	case c.Verdict == api.VerdictDown:
		worsen(row, api.VerdictDown, api.ReasonLinkDown)
	}
}

// hasDropped reports whether a path gives less than it did, as the end that measured has it.
func (p *Profile) hasDropped() bool {
	if p.turned != nil {
		p = p.turned
	}
	return history.IsLow(p.LinkProfile) && len(history.Drops(p.LinkProfile)) > 0
}

// sameSpeed compares a port's speed with a cable's, from whichever end it was taken.
func sameSpeed(s *api.ThunderboltSpeed, t hop) bool {
	return s.TxBitsPerS == t.tx && s.RxBitsPerS == t.rx || s.TxBitsPerS == t.rx && s.RxBitsPerS == t.tx
}

// worsen adds a reason, and takes the verdict if it is worse than the one there is.
func worsen(row *api.LinkRow, v api.LinkVerdict, reason api.Reason) {
	decides := verdictRank(v) > verdictRank(row.Verdict)
	if decides {
		row.Verdict = v
	}
	row.Reasons = addReason(row.Reasons, reason, decides)
}

// verdictRank orders verdicts by how much they settle: slow is known, unknown is not.
func verdictRank(v api.LinkVerdict) int {
	return slices.Index([]api.LinkVerdict{api.VerdictGood, api.VerdictUnknown, api.VerdictSlow, api.VerdictBad, api.VerdictDown}, v)
}
