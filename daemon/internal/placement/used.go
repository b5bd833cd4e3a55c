package placement

import (
	"encoding/json"
	"slices"

	"fulmen/daemon/api"
)

// countedFields lists, by kind, the fields of a document that placement counts with.
// Facts that are large, such as lists of interfaces, are named by version alone.
func countedFields(kind api.Kind) []string {
	switch kind {
	case api.KindIdentity:
		return []string{"mlx_version", "mlx_backends", "gpu_memory"}
	case api.KindMemory:
		return []string{"gpu_working_set_bytes", "available_bytes"}
	case api.KindGPUProfile:
		return []string{"fp16_tflops", "measured_at"}
	case api.KindLinkProfile:
		return []string{"up_bits_per_s", "down_bits_per_s", "rtt_us", "together", "measured_at"}
	case api.KindThunderbolt:
		return []string{"negotiated"}
	case api.KindRDMA:
		return []string{"device"}
	case api.KindGrant:
		return []string{"gpu", "memory_bytes", "receptacles"}
	case api.KindReach:
		return []string{"kind", "state"}
	case api.KindNodeState:
		return []string{"state"}
	}
	return nil
}

// nodeKinds are the kinds that count for every chosen node, memory where it does.
func nodeKinds() []api.Kind {
	return []api.Kind{api.KindIdentity, api.KindMemory, api.KindSharing, api.KindGPUProfile, api.KindGrant, api.KindNodeState}
}

// inputs are the documents that the plan rests on, ordered by key.
func (w *writer) inputs() []api.PlanInput {
	if len(w.in.Documents) == 0 {
		return nil
	}
	chosen := map[api.NodeID]bool{}
	for _, i := range w.order {
		chosen[w.nodes[i].ID] = true
	}
	connections := map[api.Key]bool{}
	for _, k := range w.used {
		connections[k] = true
	}
	kinds, members := nodeKinds(), []api.NodeID{}
	for i := range w.in.Nodes {
		members = append(members, w.in.Nodes[i].ID)
	}
	if !CountsMemory(w.in.Spec.Placement, members) { // nobody has asked how much there is now
		kinds = slices.DeleteFunc(kinds, func(k api.Kind) bool { return k == api.KindMemory })
	}
	var out []api.PlanInput
	for i := range w.in.Documents {
		d := &w.in.Documents[i]
		if connections[d.Key()] || chosen[d.Node] && slices.Contains(kinds, d.Kind) {
			fields := countedFields(d.Kind)
			if d.Kind == api.KindMemory && w.in.Spec.Placement.ShareBy != "" {
				fields = append(fields, "pressure")
			}
			out = append(out, api.PlanInput{KeyVersion: api.KeyVersion{Key: d.Key(), Version: d.Version()}, Facts: factsOf(d, fields)})
		}
	}
	slices.SortFunc(out, func(a, b api.PlanInput) int { return a.Key.Compare(b.Key) })
	return out
}

// factsOf are the fields of a document that counted, as its writer wrote them.
func factsOf(d *api.Document, fields []string) map[string]json.RawMessage {
	if len(fields) == 0 {
		return nil
	}
	var all map[string]json.RawMessage
	if d.Decode(&all) != nil {
		return nil
	}
	facts := map[string]json.RawMessage{}
	for _, f := range fields {
		if v, is := all[f]; is {
			facts[f] = v
		}
	}
	if len(facts) == 0 {
		return nil
	}
	return facts
}
