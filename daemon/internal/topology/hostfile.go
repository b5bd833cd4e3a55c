package topology

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// host is one line of a host file, as MLX reads it.
type host struct {
	SSH  string       `json:"ssh"`
	IPs  []netip.Addr `json:"ips"`
	RDMA []any        `json:"rdma,omitempty"`
}

// Hostfile is MLX's host file for the nodes in the order of their ranks (none:
// all, by id). MLX reads IPv4 addresses and host names only, so IPv6 is left out.
//
//   - ring: the addresses at which the rank before reaches each rank, as many
//     everywhere, over Thunderbolt or over networks that are named or trusted;
//   - jaccl, jaccl-ring: the addresses of each rank in the order of [Network], the
//     first of rank 0 being the one that all reach, and the device matrix;
//   - auto and the empty backend: the first of jaccl, jaccl-ring and ring that
//     is possible.
//
// The error names every missing pair and its cause. The notes are what a person
// should know about the file.
func (g Graph) Hostfile(nodes []api.NodeID, backend api.Backend) (string, []api.Cause, error) {
	ranks, err := g.ranksOf(nodes)
	if err != nil {
		return "", nil, err
	}
	switch backend {
	case api.BackendJACCL, api.BackendJACCLRing:
		return g.jacclHostfile(nodes, ranks, backend)
	case api.BackendRing:
		return g.ringHostfile(ranks)
	case api.BackendAuto, "":
		return g.autoHostfile(nodes, ranks)
	}
	return "", nil, api.Errorf(api.ReasonBadValue, "backend", "%q is not a backend of a host file", string(backend))
}

// autoHostfile prefers RDMA. Where that cannot be, the notes say why.
func (g Graph) autoHostfile(nodes []api.NodeID, ranks []*node) (string, []api.Cause, error) {
	text, notes, noRDMA := g.jacclHostfile(nodes, ranks, api.BackendAuto)
	if noRDMA == nil {
		return text, notes, nil
	}
	text, notes, err := g.ringHostfile(ranks)
	if err != nil {
		return "", nil, err
	}
	why := api.AsError(noRDMA)
	return text, slices.Concat([]api.Cause{why.Cause()}, why.Data.Causes, notes), nil
}

// hostfileText writes the file, a host a line.
func hostfileText(backend api.Backend, hosts []host) string {
	word, err := json.Marshal(backend)
	if err != nil {
		word = []byte(`""`) // a string: cannot be
	}
	return jsonLines("{\n  \"backend\": "+string(word)+",\n  \"hosts\": [", hosts, "  ]\n}")
}

func (g Graph) ringHostfile(ranks []*node) (string, []api.Cause, error) {
	edges := make([][]Network, len(ranks)) // that lead to each rank
	before := func(i int) *node { return ranks[(i+len(ranks)-1)%len(ranks)] }
	var notes, missing noteList
	width, rows := 0, g.speeds()
	for i, n := range ranks {
		edges[i] = g.ringEdge(before(i), n, rows, &notes, &missing)
		if w := len(edges[i]); i == 0 || w < width {
			width = w
		}
	}
	if len(missing) > 0 {
		return "", nil, refusal(api.ReasonNoPath, missing.sorted(), "ring needs a path between all neighbours of the %d nodes", len(ranks))
	}
	hosts := make([]host, len(ranks))
	for i, n := range ranks {
		hosts[i].SSH = n.displayName()
		for _, over := range edges[i][:width] { // MLX refuses a rank with more connections on one side
			hosts[i].IPs = append(hosts[i].IPs, over.Addresses[1])
			if !over.thunderbolt() {
				low, high, iface := before(i), n, over.Interfaces[0]
				if high.ID < low.ID { // of two ranks each is before the other, and it is one note
					low, high, iface = high, low, over.Interfaces[1]
				}
				notes.add(api.ReasonUnencrypted, pairSubject(low, high), "unencrypted: %s and %s talk over %s", low.displayName(), high.displayName(), iface)
			}
		}
	}
	return hostfileText(api.BackendRing, hosts), notes.sorted(), nil
}

// ringEdge is the networks over which a rank is reached by the one before it: what that one
// reaches, or, where it says nothing of a path, what the other end says of it.
func (g Graph) ringEdge(from, to *node, rows map[api.LinkRowKey]int64, notes, missing *noteList) []Network {
	var over []Network
	isUntrusted := false
	take := func(p *Path, end int, a netip.Addr) {
		if !p.Thunderbolt() && !g.trusts(p) {
			isUntrusted = true
			return
		}
		over = append(over, g.network(p, end, a, rows))
	}
	for _, p := range g.pathsBetween(from, to) {
		take(p, 1, p.Address)
	}
	if len(over) == 0 {
		for _, p := range g.pathsBetween(to, from) {
			if len(to.byAddress[p.Source]) > 0 {
				take(p, 0, p.Source)
				notes.add(api.ReasonSourcesDisagree, pairSubject(from, to), "only %s says that %s and %s reach each other", to.displayName(), from.displayName(), to.displayName())
			}
		}
	}
	slices.SortFunc(over, func(a, b Network) int { return cmp.Or(a.Compare(b), a.Addresses[1].Compare(b.Addresses[1])) })
	var all []Network
	for _, i := range Choose(over) {
		all = append(all, over[i])
	}
	switch {
	case len(all) > 0:
	case isUntrusted:
		missing.add(api.ReasonNetworkNotTrusted, pairSubject(from, to), "%s reaches %s only over a network that is neither named nor trusted", from.displayName(), to.displayName())
	default:
		missing.add(api.ReasonNoPath, pairSubject(from, to), "%s reaches no IPv4 address of %s", from.displayName(), to.displayName())
	}
	return all
}

// network is a path as networks are chosen among, with the end that has an address second.
func (g Graph) network(p *Path, end int, a netip.Addr, rows map[api.LinkRowKey]int64) Network {
	n := Network{Kind: p.Kind, Addresses: [2]netip.Addr{p.Source, p.Address}, Interfaces: [2]string{p.Interface, p.PeerInterface}}
	n.Prefixes = [2]netip.Prefix{g.index.byID[p.From].prefixOf(p.Source), g.index.byID[p.To].prefixOf(p.Address)}
	n.BitsPerS = rows[api.LinkRowKey{From: p.From, To: p.To, Transport: api.TransportSocket, Name: p.target().String()}]
	n.Measured = n.BitsPerS > 0
	if end == 0 {
		slices.Reverse(n.Addresses[:])
		slices.Reverse(n.Interfaces[:])
		slices.Reverse(n.Prefixes[:])
	}
	return n
}

// prefixOf is the network of an address of the node; not valid where it has none.
func (n *node) prefixOf(address netip.Addr) netip.Prefix {
	for _, i := range n.byAddress[bareAddress(address)] {
		for _, a := range i.Addresses {
			if a.Address.Addr() == address {
				return a.Address.Masked()
			}
		}
	}
	return netip.Prefix{}
}

// trusts reports whether unencrypted traffic may use the network of a path.
func (g Graph) trusts(p *Path) bool {
	return Permit(g.Named, g.Trusted).Has([2]string{p.Interface, p.PeerInterface}, [2]netip.Addr{p.Source, p.Address})
}

// speeds are the slower directions of what was measured over sockets.
func (g Graph) speeds() map[api.LinkRowKey]int64 {
	all := map[api.LinkRowKey]int64{}
	for _, r := range g.List().Rows {
		if r.UpBitsPerS != nil && r.DownBitsPerS != nil {
			all[r.LinkRowKey] = min(*r.UpBitsPerS, *r.DownBitsPerS)
		}
	}
	return all
}

// pathsBetween lists the live paths with IPv4 addresses.
func (g Graph) pathsBetween(from, to *node) []*Path {
	var out []*Path
	for i := range g.Paths {
		p := &g.Paths[i]
		if p.From == from.ID && p.To == to.ID && p.State != api.PathFailed && !p.Stale && p.Address.Is4() {
			out = append(out, p)
		}
	}
	return out
}

func (g Graph) jacclHostfile(nodes []api.NodeID, ranks []*node, backend api.Backend) (string, []api.Cause, error) {
	backend, matrix, matrixNotes, err := g.matrix(nodes, backend)
	if err != nil {
		return "", nil, err
	}
	notes := noteList(matrixNotes)
	coordinator, err := g.coordinator(ranks, &notes)
	if err != nil {
		return "", nil, err
	}
	hosts := make([]host, len(ranks))
	for i, row := range api.DeviceRows(matrix) {
		hosts[i] = host{SSH: ranks[i].displayName(), IPs: coordinator, RDMA: row}
		if i > 0 {
			hosts[i].IPs = addressesOf(g.named(ranks[0], ranks[i]))
		}
	}
	return hostfileText(backend, hosts), notes.sorted(), nil
}

// coordinator lists the addresses of rank 0 that every other rank reaches:
// JACCL takes the first for the exchange before RDMA runs.
func (g Graph) coordinator(ranks []*node, notes *noteList) ([]netip.Addr, error) {
	reached := map[netip.Addr]int{}
	var all []*Path
	for _, n := range ranks[1:] {
		paths := g.named(n, ranks[0])
		for _, p := range paths {
			reached[p.Address]++
		}
		all = append(all, paths...)
	}
	var common []netip.Addr
	for _, a := range addressesOf(all) {
		if reached[a] == len(ranks)-1 {
			common = append(common, a)
		}
	}
	if len(common) == 0 {
		return nil, g.noCoordinator(ranks, all, reached)
	}
	for _, p := range all {
		if p.Address == common[0] && !g.trusts(p) && !p.Thunderbolt() {
			notes.add(api.ReasonNetworkNotTrusted, p.target().String(), "the exchange at the start, of connection data only, runs over a network that is neither named nor trusted")
		}
	}
	return common, nil
}

// noCoordinator names the ranks that do not reach the address that most do.
func (g Graph) noCoordinator(ranks []*node, all []*Path, reached map[netip.Addr]int) error {
	var best netip.Addr
	for _, a := range addressesOf(all) {
		if reached[a] > reached[best] {
			best = a
		}
	}
	var missing noteList
	for _, n := range ranks[1:] {
		at := func(p *Path) bool { return p.From == n.ID && p.Address == best }
		if slices.ContainsFunc(all, at) {
			continue
		}
		where := "any IPv4 address"
		if best.IsValid() {
			where = best.String()
		}
		if len(g.named(n, ranks[0])) == 0 && len(g.pathsBetween(n, ranks[0])) > 0 {
			missing.add(api.ReasonNetworkNotTrusted, pairSubject(n, ranks[0]), "%s reaches %s only over a tunnel, or over what is not known, and that is neither named nor trusted", n.displayName(), ranks[0].displayName())
			continue
		}
		missing.add(api.ReasonNoPath, pairSubject(n, ranks[0]), "%s does not reach %s at %s", n.displayName(), ranks[0].displayName(), where)
	}
	return refusal(api.ReasonNoPath, missing.sorted(), "no address of %s is reached by all other ranks", ranks[0].displayName())
}

// named lists those of the live paths that may carry JACCL's exchange: tunnels, and what is
// not known, only where they are named or trusted.
func (g Graph) named(from, to *node) []*Path {
	return slices.DeleteFunc(g.pathsBetween(from, to), func(p *Path) bool {
		return (Network{Kind: p.Kind}).kindOrder() > 2 && !g.trusts(p)
	})
}

// addressesOf lists the addresses of paths once, in the order of [Network]: what JACCL
// exchanges over sockets is so small that speeds do not count.
func addressesOf(paths []*Path) []netip.Addr {
	of := func(p *Path) Network { return Network{Kind: p.Kind, Addresses: [2]netip.Addr{p.Address}} }
	ordered := slices.SortedFunc(slices.Values(paths), func(a, b *Path) int {
		return cmp.Or(of(a).Compare(of(b)), a.Address.Compare(b.Address))
	})
	out := []netip.Addr{}
	for _, p := range ordered {
		if !slices.Contains(out, p.Address) {
			out = append(out, p.Address)
		}
	}
	return out
}
