package placement

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// cable is a Thunderbolt cable between two members as RDMA sees it.
type cable struct {
	channel
	api.Cable
	// rank is its place among cables of a pair, before their speeds.
	rank int
	// busy says that a device of it is lent to another job; nil where not.
	busy *api.Cause
	// named says that there is a device at both ends.
	named bool
}

// indexCables sorts the graph's cables by pair, the best first.
func (s *state) indexCables() {
	s.cables, s.led = map[pair][]cable{}, map[device]int{}
	rows := s.in.Graph.Measured()
	for _, c := range s.in.Graph.Cables().Cables {
		if len(c.Ends) != 2 { // the other end is no member
			continue
		}
		a, isA := s.index[c.Ends[0].End.Node]
		b, isB := s.index[c.Ends[1].End.Node]
		if !isA || !isB || a == b {
			continue
		}
		k := cable{Cable: c, named: c.Ends[0].Device != "" && c.Ends[1].Device != ""}
		k.kind, k.link = api.LinkRDMA, c.Link
		for i, e := range c.Ends { // the lower end is that of the lower node
			k.devices[i], k.portNumbers[i] = e.Device, e.End.PortNumber
			name := e.End.PortNumber.String()
			k.documents = append(k.documents, api.Key{Node: e.End.Node, Kind: api.KindThunderbolt, Name: name}, api.Key{Node: e.End.Node, Kind: api.KindRDMA, Name: name})
			if busy := s.lentDevice(s.nodes[s.index[e.End.Node]], e.End.PortNumber); busy != nil && k.busy == nil {
				k.busy = busy
			}
		}
		k.speed = speed{bits: c.NegotiatedBitsPerS()}
		k.rank = topology.RDMARank(c, rows[c.Link])
		if row := rows[c.Link]; row != nil {
			k.speed = speedOf(row)
		}
		if c.OneSided {
			k.notes = append(k.notes, api.Errorf(api.ReasonRDMAOneSided, c.Link.String(), "only one end sees the cable %s", s.cableName(c)).Cause())
		}
		p := pairOf(a, b)
		s.cables[p] = append(s.cables[p], k)
	}
	for p, all := range s.cables {
		for end, i := range []int{p.a, p.b} {
			leads := map[device]struct{}{}
			for _, c := range all {
				leads[device{i, c.portNumbers[end]}] = struct{}{}
			}
			for d := range leads {
				s.led[d]++
			}
		}
		slices.SortFunc(all, func(x, y cable) int {
			return cmp.Or(cmp.Compare(x.rank, y.rank), compareChannels(x.channel, y.channel))
		})
	}
}

// lentDevice says which job the RDMA device of a receptacle is lent to; nil for none.
func (s *state) lentDevice(n *Node, r api.PortNumber) *api.Cause {
	for _, l := range n.Lent {
		if slices.Contains(l.PortNumbers, r) {
			return hindrance(api.ReasonRDMADeviceBusy, string(n.ID)+":"+r.String(), "the RDMA device of port %d of %s is lent to job %s", r, n.name(), l.Job)
		}
	}
	return nil
}

// cableName is a cable for people.
func (s *state) cableName(c api.Cable) string {
	name := func(e api.LinkEnd) string { return s.nodes[s.index[e.Node]].name() + ":" + e.PortNumber.String() }
	return name(c.Ends[0].End) + " - " + name(c.Ends[1].End)
}

// rdmaChannels are the cables of a pair that can carry a job's RDMA in a tier: those
// that are ready and, where it is unsure, those of which not everything is told. A
// stale one has an end that cannot be reached, and such a node never comes so far.
func (s *state) rdmaChannels(p pair, t tier) []channel {
	var out []channel
	for _, c := range s.cables[p] {
		if s.notForRDMA(c, p, t) != "" {
			continue
		}
		k := c.channel
		if c.RDMA == api.RDMAUnknown {
			k.notes = append(slices.Clone(k.notes), api.Errorf(api.ReasonRDMANotReady, c.Link.String(), "not everything is known about RDMA over %s; it is used because jaccl was asked for", s.cableName(c.Cable)).Cause())
		}
		out = append(out, k)
	}
	return topology.Disjoint(out, sharePort)
}

// noRDMA is the first thing that keeps a pair from RDMA in a tier.
func (s *state) noRDMA(p pair, t tier) api.Cause {
	a, b := s.nodes[p.a], s.nodes[p.b]
	between := func(c api.Cause) api.Cause {
		c.Message = fmt.Sprintf("%s <-> %s: %s", a.name(), b.name(), c.Message)
		return c
	}
	all := s.cables[p]
	for _, n := range []*Node{a, b} {
		if n.Thunderbolt5 != nil && !*n.Thunderbolt5 {
			return between(api.Errorf(api.ReasonNotThunderbolt5, string(n.ID), "%s has no Thunderbolt 5 port", n.name()).Cause())
		}
	}
	if len(all) == 0 {
		return between(api.Errorf(api.ReasonNotConnected, pairSubject(a, b), "no cable joins them").Cause())
	}
	for _, c := range all {
		if c.busy != nil {
			return between(*c.busy)
		}
	}
	for _, c := range all {
		if slow := s.tooSlow(c); slow != nil {
			return between(*slow)
		}
	}
	_, notes, err := s.in.Graph.Matrix([]api.NodeID{a.ID, b.ID}, api.BackendJACCL)
	if refused := (*api.Error)(nil); errors.As(err, &refused) && len(refused.Data.Causes) > 0 {
		return between(root(refused.Data.Causes))
	}
	if len(notes) > 0 {
		return between(root(notes))
	}
	for _, c := range all {
		if small := s.tooSmall(c, p, t); small != nil {
			return between(*small)
		}
	}
	return between(api.Errorf(api.ReasonRDMANotReady, pairSubject(a, b), "RDMA is not ready").Cause())
}

// root is the cause that explains others: a switch that is off also shows as a
// port that is down.
func root(all []api.Cause) api.Cause {
	order := []api.Reason{api.ReasonUnreachable, api.ReasonNotThunderbolt5, api.ReasonOSTooOld, api.ReasonRDMASwitchOff,
		api.ReasonLinkDown, api.ReasonLinkTooSlow, api.ReasonHubBetween, api.ReasonRDMANoDevice, api.ReasonInBridge, api.ReasonRDMANoIPv4GID}
	place := func(c api.Cause) int {
		if i := slices.Index(order, c.Reason); i >= 0 {
			return i
		}
		return len(order)
	}
	return slices.MinFunc(all, func(a, b api.Cause) int { return cmp.Compare(place(a), place(b)) })
}

// tooSlow says by how much a cable of ports that could do RDMA misses the speed
// that it needs; nil where speed is not the matter.
func (s *state) tooSlow(c cable) *api.Cause {
	if c.ForwardBitsPerS == nil || c.BackwardBitsPerS == nil || c.RDMA == api.RDMACannot || c.Verdict == api.VerdictDown {
		return nil
	}
	fastest := max(*c.ForwardBitsPerS, *c.BackwardBitsPerS)
	if fastest > api.MinRDMABitsPerS {
		return nil
	}
	reason := api.ReasonLinkTooSlow
	if len(c.Hubs) > 0 {
		reason = api.ReasonHubBetween
	}
	return hindrance(reason, c.Link.String(), "port %d runs at %s, and RDMA needs more than %s",
		c.portNumbers[0], gigabits(fastest), trimmed(float64(api.MinRDMABitsPerS)/1e9))
}
