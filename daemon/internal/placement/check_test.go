package placement

import (
	"fmt"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// checkPlan holds a plan against its spec and against what JACCL and MLX's ring
// accept. The first fault is returned.
func checkPlan(in Input, p *api.Plan) error {
	want := in.Spec.Placement
	n := len(p.Ranks)
	var nodes []api.NodeID
	for i, r := range p.Ranks {
		again := slices.Contains(nodes, r.Node) // several of a node follow each other
		if r.Rank != i || again != (i%want.PerNode() > 0) || again && nodes[i-1] != r.Node || r.GPU != in.Spec.Placement.GPU || want.ShareBy == "" && r.MemoryBytes != want.MemoryBytes {
			return fmt.Errorf("rank %d: %+v", i, r)
		}
		nodes = append(nodes, r.Node)
		at := slices.IndexFunc(in.Nodes, func(n Node) bool { return n.ID == r.Node })
		if at < 0 || !in.Nodes[at].Reached || in.Nodes[at].Refusal != "" || slices.Contains(want.ExcludedNodes, r.Node) {
			return fmt.Errorf("rank %d may not run on %s", i, r.Node)
		}
	}
	for _, id := range want.Nodes {
		if !slices.Contains(nodes, id) {
			return fmt.Errorf("%s is required", id)
		}
	}
	switch {
	case n%want.PerNode() != 0, want.Ranks > 0 && n != want.Ranks, n/want.PerNode() < want.MinNodes, want.MaxNodes > 0 && n/want.PerNode() > want.MaxNodes:
		return fmt.Errorf("%d ranks", n)
	case want.Rank0 != "" && nodes[0] != want.Rank0:
		return fmt.Errorf("rank 0 is on %s", nodes[0])
	case want.Backend != api.BackendAuto && p.Backend != want.Backend, p.Backend == api.BackendAuto:
		return fmt.Errorf("backend %s", p.Backend)
	}
	if n == 1 {
		if p.Shape != api.ShapeSingle || p.Hosts != nil || p.Devices != nil || p.Links != nil {
			return fmt.Errorf("one rank talks to nobody: %+v", p)
		}
		return nil
	}
	if p.Backend.RDMA() {
		return checkMatrix(in, p)
	}
	return checkHosts(in, p)
}

// checkMatrix is what JACCL accepts: no device to itself; in a mesh, of at most
// eight, as many to each other; in a ring as many, one to four, to each neighbour and
// none to others; none twice; and both ends of each connection those of one cable.
func checkMatrix(in Input, p *api.Plan) error {
	n := len(p.Ranks)
	if len(p.Devices) != n || p.Hosts != nil || p.Unencrypted {
		return fmt.Errorf("matrix of %d rows, %d hosts", len(p.Devices), len(p.Hosts))
	}
	mesh := p.Shape == api.ShapeMesh
	if mesh != (p.Backend == api.BackendJACCL) || mesh && n > 8 {
		return fmt.Errorf("%s of %d ranks for %s", p.Shape, n, p.Backend)
	}
	width := len(p.Devices[0][1])
	if width < 1 || width > 8 || !mesh && width > 4 {
		return fmt.Errorf("%d connections", width)
	}
	for i, row := range p.Devices {
		if len(row) != n || row[i] != nil {
			return fmt.Errorf("row %d: %v", i, row)
		}
		portNumbers := map[api.PortNumber]bool{}
		for j, cell := range row {
			neighbours := mesh && i != j || (i+1)%n == j || (j+1)%n == i
			if !neighbours && cell != nil || neighbours && len(cell) != width {
				return fmt.Errorf("cell %d %d: %v", i, j, cell)
			}
			for k, device := range cell {
				if slices.Contains(cell[:k], device) {
					return fmt.Errorf("cell %d %d has %s twice", i, j, device)
				}
				r, err := joined(in, p.Ranks[i].Node, device, p.Ranks[j].Node, p.Devices[j][i][k])
				if err != nil {
					return err
				}
				portNumbers[r] = true
			}
		}
		if len(portNumbers) != len(p.Ranks[i].PortNumbers) {
			return fmt.Errorf("rank %d is granted %v and uses %v", i, p.Ranks[i].PortNumbers, portNumbers)
		}
		for _, r := range p.Ranks[i].PortNumbers {
			if !portNumbers[r] {
				return fmt.Errorf("rank %d is granted receptacle %d for nothing", i, r)
			}
		}
	}
	return nil
}

// joined finds the cable between two devices.
func joined(in Input, a api.NodeID, deviceA string, b api.NodeID, deviceB string) (api.PortNumber, error) {
	for _, c := range in.Graph.List().Cables {
		if len(c.Ends) != 2 || c.RDMA != api.RDMAReady {
			continue
		}
		for k, e := range c.Ends {
			if o := c.Ends[1-k]; e.End.Node == a && e.Device == deviceA && o.End.Node == b && o.Device == deviceB {
				return e.End.PortNumber, nil
			}
		}
	}
	return 0, fmt.Errorf("no cable that is ready joins %s of %s and %s of %s", deviceA, a, deviceB, b)
}

// checkHosts is what MLX's ring accepts: as many addresses everywhere, each of
// the rank itself and reached by the one before, over Thunderbolt unless the
// plan says that it is not encrypted.
func checkHosts(in Input, p *api.Plan) error {
	n := len(p.Ranks)
	if len(p.Hosts) != n || p.Devices != nil || p.Shape != api.ShapeRing {
		return fmt.Errorf("%s with hosts %v", p.Shape, p.Hosts)
	}
	for i, all := range p.Hosts {
		if len(all) == 0 || len(all) != len(p.Hosts[0]) {
			return fmt.Errorf("hosts %v", p.Hosts)
		}
		before := p.Ranks[(i+n-1)%n].Node
		used := map[api.LinkID]bool{}
		for _, text := range all {
			address, err := netip.ParseAddr(text)
			if err != nil || !address.Is4() {
				return fmt.Errorf("%q is no IPv4 address", text)
			}
			if local := before == p.Ranks[i].Node; local || address.IsLoopback() {
				if !local || !address.IsLoopback() || len(p.Ranks[i].Addresses) > 0 {
					return fmt.Errorf("%s finds rank %d of %s at %s", before, i, p.Ranks[i].Node, text)
				}
				continue
			}
			at := -1
			for k, path := range in.Graph.Paths {
				if path.From == before && path.To == p.Ranks[i].Node && path.Address == address && path.State != api.PathFailed {
					at = k
				}
			}
			if at < 0 {
				return fmt.Errorf("%s does not reach %s at %s", before, p.Ranks[i].Node, text)
			}
			path := in.Graph.Paths[at]
			if !path.Thunderbolt() && !p.Unencrypted {
				return fmt.Errorf("%s is not over Thunderbolt", text)
			}
			if path.Link.Valid() && used[path.Link] {
				return fmt.Errorf("two addresses over cable %s", path.Link)
			}
			used[path.Link] = true
		}
	}
	return nil
}
