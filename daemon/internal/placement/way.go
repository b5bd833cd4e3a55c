package placement

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// way is everything over one cable, or over one network, that joins a pair by
// sockets.
type way struct {
	channel
	thunderbolt bool
	trusted     bool
	// reachable are the addresses of each end that the other reaches; said those that
	// the end itself says it speaks from.
	reachable, reported [2][]netip.Addr
	interfaces          [2]string
	best                *api.LinkRow
}

// indexPaths sorts the graph's live paths by pair and way. MLX's ring reads
// IPv4 addresses only, so others count for dialling alone.
func (s *state) indexPaths() {
	s.ways = map[pair][]*way{}
	list := s.in.Graph.List()
	rows, cables := measuredPaths(list.Rows), map[api.LinkID]*api.Cable{}
	for i := range list.Cables {
		if c := &list.Cables[i]; c.Link.Valid() {
			cables[c.Link] = c
		}
	}
	ways := map[wayKey]*way{}
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
			s.take(ways, rows, p, from, to)
		}
	}
	for key, w := range ways {
		if s.finish(w, key.pair, cables[w.link]) {
			s.ways[key.pair] = append(s.ways[key.pair], w)
		}
	}
	for _, all := range s.ways {
		slices.SortFunc(all, func(x, y *way) int { return compareChannels(x.channel, y.channel) })
	}
}

// wayKey tells ways apart: by cable, or by the interfaces at both ends.
type wayKey struct {
	pair
	link       api.LinkID
	interfaces [2]string
}

// take adds a path to its way.
func (s *state) take(ways map[wayKey]*way, rows map[api.LinkRowKey]*api.LinkRow, p *topology.Path, from, to int) {
	key := wayKey{pair: pairOf(from, to), link: p.Link}
	near := 0 // the end of From
	if from > to {
		near = 1
	}
	if !p.Link.Valid() {
		key.interfaces[near], key.interfaces[1-near] = p.Interface, p.PeerInterface
	}
	w := ways[key]
	if w == nil {
		w = &way{channel: channel{kind: p.Kind, link: p.Link}, thunderbolt: p.Thunderbolt()}
		w.interfaces[near], w.interfaces[1-near] = p.Interface, p.PeerInterface
		ways[key] = w
	}
	w.thunderbolt = w.thunderbolt && p.Thunderbolt()
	w.trusted = w.trusted || p.Trusted
	w.reachable[1-near] = append(w.reachable[1-near], p.Address)
	if p.Source.Is4() && s.owns(s.nodes[from], p.Source) {
		w.reported[near] = append(w.reported[near], p.Source)
	}
	name := api.PeerAddress{Peer: p.To, Address: p.Address}.String()
	w.documents = append(w.documents, api.Key{Node: p.From, Kind: api.KindReach, Name: name})
	row := rows[api.LinkRowKey{From: p.From, To: p.To, Transport: api.TransportSocket, Name: name}]
	if row != nil && (w.best == nil || topology.Newer(row, w.best)) {
		w.best = row
	}
}

// owns reports whether a node says that an address is its own.
func (s *state) owns(n *Node, address netip.Addr) bool {
	return slices.ContainsFunc(n.interfaces(), func(i api.Interface) bool {
		return slices.ContainsFunc(i.Addresses, func(a api.InterfaceAddress) bool { return a.Address.Addr().Unmap() == address })
	})
}

// finish settles a way's addresses and speed; false where an end cannot be found
// by the other.
func (s *state) finish(w *way, p pair, c *api.Cable) bool {
	for end := range w.addresses {
		all := w.reachable[end]
		if len(all) == 0 { // the other end says nothing: what this one speaks from is as good
			all = w.reported[end]
			ends := []*Node{s.nodes[p.a], s.nodes[p.b]}
			w.notes = append(w.notes, api.Errorf(api.ReasonSourcesDisagree, pairSubject(ends[0], ends[1]), "only %s says that it and %s reach each other", ends[end].name(), ends[1-end].name()).Cause())
		}
		if len(all) == 0 {
			return false
		}
		w.addresses[end] = slices.MinFunc(all, netip.Addr.Compare)
	}
	switch {
	case w.best != nil:
		w.speed = speedOf(w.best)
	case c != nil:
		w.speed = speed{bits: c.NegotiatedBitsPerS()}
	case !w.thunderbolt:
		w.speed = speed{bits: s.portSpeed(w, p)}
	}
	if !w.thunderbolt {
		w.network = cmp.Or(w.interfaces[0], w.interfaces[1], w.addresses[0].String())
	}
	return true
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
	if w.thunderbolt || w.trusted {
		return true
	}
	for _, a := range w.addresses {
		if s.demand.named(a, w.interfaces[0], w.interfaces[1]) || contained(s.in.Trusted, a) {
			return true
		}
	}
	return false
}

// socketChannels are the ways of a pair for so many connections: over
// Thunderbolt, and over a network that is permitted where that is faster.
func (s *state) socketChannels(p pair, networks bool) (thunderbolt []channel, network *channel) {
	for _, w := range s.ways[p] {
		switch {
		case w.thunderbolt:
			thunderbolt = append(thunderbolt, w.channel)
		case networks && network == nil && s.permitted(w):
			network = &w.channel
		}
	}
	return thunderbolt, network
}

// noWay is the first thing that keeps a pair from a ring over sockets.
func (s *state) noWay(p pair) api.Cause {
	a, b := s.nodes[p.a], s.nodes[p.b]
	subject := pairSubject(a, b)
	for _, w := range s.ways[p] {
		if !w.thunderbolt && !s.permitted(w) {
			over := string(w.kind)
			if w.network != "" {
				over = fmt.Sprintf("%s (%s)", w.network, w.kind)
			}
			return api.Errorf(api.ReasonNetworkNotTrusted, subject, "%s <-> %s: they reach each other only over %s, which is not Thunderbolt, not named for this job and not trusted", a.name(), b.name(), over).Cause()
		}
	}
	return api.Errorf(api.ReasonNoPath, subject, "%s <-> %s: neither reaches an IPv4 address of the other", a.name(), b.name()).Cause()
}
