package placement

import (
	"fmt"
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// unusedCables says, of a plan over RDMA, why cables between its neighbours are not in it.
func (w *writer) unusedCables() []api.Cause {
	if !w.choice.tier.backend.RDMA() {
		return nil
	}
	used, joined := map[api.LinkID]bool{}, map[pair]bool{}
	for _, l := range w.plan.Links {
		used[l.Link] = true
		joined[pairOf(w.order[l.From], w.order[l.To])] = true
	}
	var out []api.Cause
	pairs := slices.SortedFunc(maps.Keys(joined), pair.compare)
	for _, p := range pairs {
		for _, c := range w.cables[p] {
			if !used[c.Link] {
				out = append(out, api.Errorf(api.ReasonCableNotUsed, c.Link.String(), "%s is not used: %s", w.cableName(c.Cable), w.whyUnused(c, p, pairs)).Cause())
			}
		}
	}
	return out
}

// whyUnused says why a cable of a pair is not used where these pairs are neighbours.
func (w *writer) whyUnused(c cable, p pair, pairs []pair) string {
	t, width := w.choice.tier, w.choice.width
	if why := w.notForRDMA(c, p, t); why != "" {
		return why
	}
	if !slices.ContainsFunc(w.rdmaChannels(p, t), func(k channel) bool { return k.link == c.Link }) {
		return "a better cable uses the same port"
	}
	if width == t.widest() {
		return fmt.Sprintf("%s uses at most %s of a pair", t.backend, counted(width, "cable"))
	}
	for _, p := range pairs {
		if i := w.oldMesh(p, t); i >= 0 {
			return fmt.Sprintf("MLX on %s is %s, which uses one cable of a pair before %s", w.nodes[i].name(), w.nodes[i].MLX.Version, meshCables)
		}
	}
	for _, p := range pairs {
		if len(w.rdmaChannels(p, t)) == width {
			return fmt.Sprintf("each pair uses as many as %s and %s have, which is %d", w.nodes[p.a].name(), w.nodes[p.b].name(), width)
		}
	}
	return "with as many cables for each pair the job would be slower, or an RDMA device too small"
}

// notForRDMA says why a cable cannot carry RDMA in a tier; empty where it can.
func (s *state) notForRDMA(c cable, p pair, t tier) string {
	if c.busy != nil {
		return c.busy.Message
	}
	if !c.named || c.RDMA != api.RDMAReady && (c.RDMA != api.RDMAUnknown || !t.unsure) {
		if slow := s.tooSlow(c); slow != nil {
			return slow.Message
		}
		return "RDMA is not ready over it"
	}
	if small := s.tooSmall(c, p, t); small != nil {
		return small.Message
	}
	return ""
}
