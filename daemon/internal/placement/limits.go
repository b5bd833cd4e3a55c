package placement

import (
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// scatterBuffers is the first MLX whose mesh has buffers for scattering beside its
// others.
const scatterBuffers = "0.32.1"

// needOf is what one connection of JACCL's takes of the device that carries it: a
// protection domain, a completion queue and a queue pair of its own, and its buffers, each
// a memory region. They are of 8 sizes and 2 of each: in a ring one to send and one to
// receive for either direction, in a mesh one of each for a peer, and as many again for
// scattering. MLX's mesh.cpp and ring.cpp have them. A version that is not known counts as
// a new one: where a region is refused, JACCL ends with a crash.
func needOf(shape api.PlanShape, version string) api.RDMALimits {
	const each = 8 * 2
	need := api.RDMALimits{QueuePairs: 1, CompletionQueues: 1, ProtectionDomains: 1, MemoryRegions: 2 * each}
	if shape == api.ShapeMesh && !olderThan(version, scatterBuffers) {
		need.MemoryRegions = 4 * each
	}
	return need
}

// exceeds says what of a node's device so many connections need more of than it can have;
// nil where it can have them, or does not tell.
func (s *state) exceeds(i int, r api.PortNumber, connections int, t tier) *api.Cause {
	n := s.nodes[i]
	has, reported := n.Limits[r]
	if !reported {
		return nil
	}
	need := needOf(t.shape, n.MLX.Version)
	for _, of := range []struct {
		has, need int
		what      string
	}{
		{has.QueuePairs, need.QueuePairs, "queue pair"},
		{has.CompletionQueues, need.CompletionQueues, "completion queue"},
		{has.ProtectionDomains, need.ProtectionDomains, "protection domain"},
		{has.MemoryRegions, need.MemoryRegions, "memory region"},
	} {
		if of.need*connections > of.has {
			return hindrance(api.ReasonRDMADeviceTooSmall, string(n.ID)+":"+r.String(), "%s needs %s of the RDMA device of port %d of %s, for %s over it, and the device has %d",
				t.backend, counted(of.need*connections, of.what), r, n.name(), counted(connections, "connection"), of.has)
		}
	}
	return nil
}

// tooSmall says which end of a cable cannot carry a pair alone; nil where both can. In a
// ring of two each is the other's neighbour on both sides, by a connection for each, and so
// it may be where one device leads to several nodes.
func (s *state) tooSmall(c cable, p pair, t tier) *api.Cause {
	for end, i := range []int{p.a, p.b} {
		connections := 1
		if r := c.portNumbers[end]; t.shape == api.ShapeRing && (s.demand.least == 2 || s.led[device{i, r}] > 1) {
			connections = 2
		}
		if cause := s.exceeds(i, c.portNumbers[end], connections, t); cause != nil {
			return cause
		}
	}
	return nil
}

// device is a receptacle of a node, by its place.
type device struct {
	node       int
	portNumber api.PortNumber
}

// bottleneck is a device that leads to more nodes of a field than a mesh can have over it.
type bottleneck struct {
	device
	bit   int
	peers set
	most  int
}

// holds reports whether a set asks too much of the device.
func (c bottleneck) holds(x set) bool { return x.has(c.bit) && (c.peers&x).size() > c.most }

// bottlenecks lists those of a field whose nodes are joined. One that leads to a single node
// is none: it joins them, or it is too small for that alone.
func (s *state) bottlenecks(f *field, t tier, width int) []bottleneck {
	var all []bottleneck
	for bit, i := range f.nodes {
		led := map[api.PortNumber]set{}
		for other, j := range f.nodes {
			if f.classes[bit][other] >= 0 {
				channels, _ := s.edge(pairOf(i, j), t, width)
				end := 0
				if i > j {
					end = 1
				}
				for _, c := range channels {
					led[c.portNumbers[end]] |= 1 << other
				}
			}
		}
		for _, r := range slices.Sorted(maps.Keys(led)) {
			c := bottleneck{device{i, r}, bit, led[r], led[r].size()}
			for c.most > 0 && s.exceeds(i, r, c.most, t) != nil {
				c.most--
			}
			if c.most < c.peers.size() {
				all = append(all, c)
			}
		}
	}
	return all
}

// overloaded is the first device of which a set asks too much.
func (f *field) overloaded(x set) (bottleneck, bool) {
	i := slices.IndexFunc(f.bottlenecks, func(c bottleneck) bool { return c.holds(x) })
	if i < 0 {
		return bottleneck{}, false
	}
	return f.bottlenecks[i], true
}
