package placement

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// way is one cable, or one network of an interface at each end, that joins a pair by sockets.
type way struct {
	channel
	thunderbolt bool
	interfaces  [2]string
	// prefixes are the networks of the addresses, where their nodes tell them.
	prefixes [2]netip.Prefix
}

// wayKey tells bundles apart: by cable, or by the interfaces at both ends.
type wayKey struct {
	pair
	link       api.LinkID
	interfaces [2]string
}

// bundle is all that is known of the ways over one cable, or between the same interfaces,
// where each end may have several addresses.
type bundle struct {
	way
	// reachable are the addresses of each end that the other reaches, reported those that
	// the end itself says it speaks from.
	reachable, reported [2][]netip.Addr
	// paths join the addresses, joined says which.
	paths  []*topology.Path
	joined [][2]netip.Addr
}

// indexPaths sorts the graph's live paths by pair and way. MLX's ring reads
// IPv4 addresses only, so others count for dialling alone.
func (s *state) indexPaths() {
	s.ways, s.sockets = map[pair][]*way{}, map[socketKey][]channel{}
	list := s.in.Graph.List()
	rows, cables := measuredPaths(list.Rows), map[api.LinkID]*api.Cable{}
	for i := range list.Cables {
		if c := &list.Cables[i]; c.Link.Valid() {
			cables[c.Link] = c
		}
	}
	bundles := map[wayKey]*bundle{}
	for i := range s.in.Graph.Paths {
		p := &s.in.Graph.Paths[i]
		from, isFrom := s.index[p.From]
		to, isTo := s.index[p.To]
		if !isFrom || !isTo || from == to || p.State == api.PathFailed {
			continue
		}
		if !p.Stale {
			s.dialled[to][from] = true
		}
		if p.Address.Is4() {
			s.take(bundles, p, from, to)
		}
	}
	for key, b := range bundles {
		s.ways[key.pair] = append(s.ways[key.pair], s.split(b, key.pair, rows, cables[b.link])...)
	}
	for _, all := range s.ways {
		slices.SortFunc(all, compareWays)
	}
}

// take adds a path to its bundle.
func (s *state) take(bundles map[wayKey]*bundle, p *topology.Path, from, to int) {
	key := wayKey{pair: pairOf(from, to), link: p.Link}
	near := 0 // the end of From
	if from > to {
		near = 1
	}
	if !p.Link.Valid() {
		key.interfaces[near], key.interfaces[1-near] = p.Interface, p.PeerInterface
	}
	b := bundles[key]
	if b == nil {
		b = &bundle{way: way{channel: channel{kind: p.Kind, link: p.Link}, thunderbolt: p.Thunderbolt()}}
		b.interfaces[near], b.interfaces[1-near] = p.Interface, p.PeerInterface
		bundles[key] = b
	}
	b.thunderbolt = b.thunderbolt && p.Thunderbolt()
	b.reachable[1-near] = append(b.reachable[1-near], p.Address)
	if p.Source.Is4() && s.owns(s.nodes[from], p.Source) {
		b.reported[near] = append(b.reported[near], p.Source)
	}
	var ends [2]netip.Addr
	ends[near], ends[1-near] = p.Source, p.Address
	b.joined = append(b.joined, ends)
	b.paths = append(b.paths, p)
}

// owns reports whether a node says that an address is its own.
func (s *state) owns(n *Node, address netip.Addr) bool {
	return slices.ContainsFunc(n.interfaces(), func(i api.Interface) bool {
		return slices.ContainsFunc(i.Addresses, func(a api.InterfaceAddress) bool { return a.Address.Addr().Unmap() == address })
	})
}

// split gives a bundle's ways, one for each two addresses that belong together; of a cable
// the best of them alone, and none where an end cannot be found by the other.
func (s *state) split(b *bundle, p pair, rows map[api.LinkRowKey]*api.LinkRow, c *api.Cable) []*way {
	ends := b.reachable
	for end := range ends {
		if len(ends[end]) == 0 { // the other end says nothing: what this one speaks from is as good
			ends[end] = b.reported[end]
			both := []*Node{s.nodes[p.a], s.nodes[p.b]}
			b.notes = append(b.notes, api.Errorf(api.ReasonSourcesDisagree, pairSubject(both[0], both[1]), "only %s says that it and %s reach each other", both[end].name(), both[1-end].name()).Cause())
		}
	}
	var all, others []*way
	for _, x := range distinct(ends[0]) {
		for _, y := range distinct(ends[1]) {
			w := s.wayOf(b, p, [2]netip.Addr{x, y}, rows, c)
			if slices.Contains(b.joined, w.addresses) || w.prefixes[0].IsValid() && w.prefixes[0] == w.prefixes[1] {
				all = append(all, w)
			} else {
				others = append(others, w)
			}
		}
	}
	isOne := b.thunderbolt || len(all) == 0
	if len(all) == 0 {
		all = others
	}
	slices.SortFunc(all, compareWays)
	if isOne {
		return all[:min(1, len(all))]
	}
	return all
}

// distinct are addresses in order, each once.
func distinct(all []netip.Addr) []netip.Addr {
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

// wayOf is a bundle's way between two addresses, with what was measured of it.
func (s *state) wayOf(b *bundle, p pair, ends [2]netip.Addr, rows map[api.LinkRowKey]*api.LinkRow, c *api.Cable) *way {
	w := b.way
	w.addresses, w.notes = ends, slices.Clone(b.notes)
	w.prefixes = [2]netip.Prefix{s.nodes[p.a].prefixOf(ends[0]), s.nodes[p.b].prefixOf(ends[1])}
	var best *api.LinkRow
	for _, path := range b.paths {
		if !slices.Contains(ends[:], path.Address) {
			continue
		}
		name := api.PeerAddress{Peer: path.To, Address: path.Address}.String()
		w.documents = append(w.documents, api.Key{Node: path.From, Kind: api.KindReach, Name: name})
		row := rows[api.LinkRowKey{From: path.From, To: path.To, Transport: api.TransportSocket, Name: name}]
		if row != nil && (best == nil || topology.Newer(row, best)) {
			best = row
		}
	}
	switch {
	case best != nil:
		w.speed = speedOf(best)
	case c != nil:
		w.speed = speed{bits: c.NegotiatedBitsPerS()}
	case !w.thunderbolt:
		w.speed = speed{bits: s.portSpeed(&w, p)}
	}
	if !w.thunderbolt {
		w.network = cmp.Or(w.interfaces[0], w.interfaces[1], w.addresses[0].String())
	}
	return &w
}

// over is the way as networks are chosen among.
func (w *way) over() topology.Network {
	kind := w.kind
	if !w.thunderbolt && (&topology.Path{Kind: kind}).Thunderbolt() { // the ends disagree
		kind = api.LinkUnknown
	}
	return topology.Network{Kind: kind, Addresses: w.addresses, Interfaces: w.interfaces, Prefixes: w.prefixes, BitsPerS: w.bits, Measured: w.measured}
}

// compareWays orders the ways of a pair as people expect.
func compareWays(a, b *way) int {
	return cmp.Or(a.over().Compare(b.over()), compareChannels(a.channel, b.channel))
}

// portSpeed is the slower of what the interfaces at both ends negotiated; 0
// where one of them does not tell.
func (s *state) portSpeed(w *way, p pair) int64 {
	return min(s.nodes[p.a].portSpeed(w.interfaces[0]), s.nodes[p.b].portSpeed(w.interfaces[1]))
}

// portSpeed is what an interface negotiated; 0 where it does not tell.
func (n *Node) portSpeed(name string) int64 {
	for _, i := range n.interfaces() {
		if i.Name == name && i.SpeedBitsPerS != nil {
			return max(*i.SpeedBitsPerS, 0)
		}
	}
	return 0
}

// permitted reports whether unencrypted traffic may use the way.
func (s *state) permitted(w *way) bool {
	return w.thunderbolt || s.permits.Has(w.interfaces, w.addresses)
}

// socketChannels are what can join a pair by sockets, the best first: cables alone, and none
// where a network that is permitted comes before them; or the best of all, and with it, if it
// is a wire, the other wires that carry traffic of their own beside it.
func (s *state) socketChannels(p pair, networks bool) []channel {
	key := socketKey{p, networks}
	out, known := s.sockets[key]
	if known {
		return out
	}
	ways := slices.DeleteFunc(slices.Clone(s.ways[p]), func(w *way) bool { return !s.permitted(w) })
	over := make([]topology.Network, len(ways))
	for i, w := range ways {
		over[i] = w.over()
	}
	chosen := topology.Choose(over)
	if len(chosen) > 0 && !networks && !ways[chosen[0]].thunderbolt {
		chosen = nil
	}
	for _, i := range chosen {
		if networks || ways[i].thunderbolt {
			out = append(out, ways[i].channel)
		}
	}
	if len(out) > 0 && chosen[0] > 0 {
		out[0].notes = append(slices.Clone(out[0].notes), s.passed(p, ways[chosen[0]], ways[0]))
	}
	s.sockets[key] = out
	return out
}

// socketKey is a pair, with other networks than cables or without.
type socketKey struct {
	pair
	networks bool
}

// passed says that a network is used in the place of another one of a better kind.
func (s *state) passed(p pair, w, other *way) api.Cause {
	a, b := s.nodes[p.a], s.nodes[p.b]
	return api.Errorf(api.ReasonNetworkFaster, pairSubject(a, b), "%s and %s talk over %s, measured at %s, and not over %s: that is less than half as fast (%s)",
		a.name(), b.name(), w.called(), gigabits(w.bits), other.called(), gigabits(other.bits)).Cause()
}

// called is a way for people.
func (w *way) called() string {
	if w.network == "" {
		return fmt.Sprintf("the cable (%s)", w.kind)
	}
	return fmt.Sprintf("%s (%s)", w.network, w.kind)
}

// noWay is the first thing that keeps a pair from a ring over sockets.
func (s *state) noWay(p pair) api.Cause {
	a, b := s.nodes[p.a], s.nodes[p.b]
	subject := pairSubject(a, b)
	for _, w := range s.ways[p] {
		if !w.thunderbolt && !s.permitted(w) {
			return api.Errorf(api.ReasonNetworkNotTrusted, subject, "%s <-> %s: they reach each other only over %s, which is not Thunderbolt, not named for this job and not trusted", a.name(), b.name(), w.called()).Cause()
		}
	}
	return api.Errorf(api.ReasonNoPath, subject, "%s <-> %s: neither reaches an IPv4 address of the other", a.name(), b.name()).Cause()
}
