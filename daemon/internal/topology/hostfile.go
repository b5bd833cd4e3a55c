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
//     everywhere, over Thunderbolt or over networks that both ends trust;
//   - jaccl, jaccl-ring: the addresses of each rank, Ethernet first, the first
//     of rank 0 being the one that all reach, and the device matrix;
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
	edges := make([]ringEdge, len(ranks))
	var notes, missing noteList
	onlyThunderbolt := true
	for i, n := range ranks {
		before := ranks[(i+len(ranks)-1)%len(ranks)]
		edges[i] = g.ringEdge(before, n, &missing)
		onlyThunderbolt = onlyThunderbolt && len(edges[i].thunderbolt) > 0
	}
	if len(missing) > 0 {
		return "", nil, refusal(api.ReasonNoPath, missing.sorted(), "ring needs a path between all neighbours of the %d nodes", len(ranks))
	}
	hosts := make([]host, len(ranks))
	width := 0
	for i, e := range edges {
		hosts[i] = host{SSH: ranks[i].displayName(), IPs: e.thunderbolt}
		if !onlyThunderbolt {
			hosts[i].IPs = slices.Concat(e.thunderbolt, e.trusted)
		}
		if n := len(hosts[i].IPs); i == 0 || n < width {
			width = n
		}
		notes = append(notes, e.notes...)
	}
	for i := range hosts {
		hosts[i].IPs = hosts[i].IPs[:width] // MLX refuses a rank with more connections on one side
	}
	return hostfileText(api.BackendRing, hosts), notes.sorted(), nil
}

// ringEdge is the addresses at which a rank is reached by the one before it.
type ringEdge struct {
	thunderbolt, trusted []netip.Addr
	notes                noteList
}

// ringEdge collects what the rank before reaches, and, where it says nothing of
// a path, what the other end says of it.
func (g Graph) ringEdge(from, to *node, missing *noteList) ringEdge {
	var e ringEdge
	untrusted := false
	take := func(p *Path, a netip.Addr) {
		switch {
		case slices.Contains(e.thunderbolt, a) || slices.Contains(e.trusted, a):
		case p.Thunderbolt():
			e.thunderbolt = append(e.thunderbolt, a)
		case p.Trusted:
			e.trusted = append(e.trusted, a)
		default:
			untrusted = true
		}
	}
	for _, p := range g.pathsBetween(from, to) {
		take(p, p.Address)
	}
	if len(e.thunderbolt)+len(e.trusted) == 0 {
		for _, p := range g.pathsBetween(to, from) {
			if len(to.byAddress[p.Source]) > 0 {
				take(p, p.Source)
				e.notes.add(api.ReasonSourcesDisagree, pairSubject(from, to), "only %s says that %s and %s reach each other", to.displayName(), from.displayName(), to.displayName())
			}
		}
	}
	switch {
	case len(e.thunderbolt)+len(e.trusted) > 0:
	case untrusted:
		missing.add(api.ReasonNetworkNotTrusted, pairSubject(from, to), "%s reaches %s only over a network that is not trusted", from.displayName(), to.displayName())
	default:
		missing.add(api.ReasonNoPath, pairSubject(from, to), "%s reaches no IPv4 address of %s", from.displayName(), to.displayName())
	}
	return e
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
			hosts[i].IPs = addressesOf(g.pathsBetween(ranks[0], ranks[i]))
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
		paths := g.pathsBetween(n, ranks[0])
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
		if p.Address == common[0] && !p.Trusted && !p.Thunderbolt() {
			notes.add(api.ReasonNetworkNotTrusted, p.target().String(), "the exchange at the start, of connection data only, runs over a network that is not trusted")
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
		missing.add(api.ReasonNoPath, pairSubject(n, ranks[0]), "%s does not reach %s at %s", n.displayName(), ranks[0].displayName(), where)
	}
	return refusal(api.ReasonNoPath, missing.sorted(), "no address of %s is reached by all other ranks", ranks[0].displayName())
}

// addressesOf lists the addresses of paths once, Ethernet first and Thunderbolt
// last: what JACCL exchanges over sockets is small, and must not stand in the
// way of RDMA.
func addressesOf(paths []*Path) []netip.Addr {
	ordered := slices.SortedFunc(slices.Values(paths), func(a, b *Path) int {
		return cmp.Or(cmp.Compare(coordinatorRank(a), coordinatorRank(b)), a.Address.Compare(b.Address))
	})
	out := []netip.Addr{}
	for _, p := range ordered {
		if !slices.Contains(out, p.Address) {
			out = append(out, p.Address)
		}
	}
	return out
}

func coordinatorRank(p *Path) int {
	switch {
	case p.Kind == api.LinkEthernet:
		return 0
	case p.Kind == api.LinkWiFi:
		return 1
	case p.Thunderbolt():
		return 4
	case p.Kind == api.LinkLoopback:
		return 5
	case p.Kind == api.LinkVPN:
		return 3
	}
	return 2
}
