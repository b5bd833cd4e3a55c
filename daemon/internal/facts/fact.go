package facts

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Fact is one document's worth of what a machine says of itself.
type Fact struct {
	Kind api.Kind
	// Name is the receptacle's number for thunderbolt and rdma, else empty.
	Name  string
	Value any
	// Unknown tells, by field, why fields of the value are absent. Under the name
	// of the kind itself it tells that the source has fallen silent, and why: the
	// value is then what it said last.
	Unknown map[string]api.Reason
}

// Convert makes the facts of a whole reading, in the order in which an owner
// would publish them.
func Convert(all native.Snapshot, static Static) []Fact {
	k := knowledge{held: all, silent: map[native.Area]api.Reason{}}
	for _, area := range areas() {
		if !all.Has(area) {
			k.silent[area] = reasonOr(all.Unknown, string(area))
		}
	}
	var out []Fact
	for _, area := range areas() {
		out = append(out, k.facts(api.Kind(area), static)...)
	}
	return out
}

// knowledge is what the areas said last, and which of them have fallen silent.
type knowledge struct {
	held   native.Snapshot
	silent map[native.Area]api.Reason
}

// silence is why an area said nothing in a snapshot, and empty where it spoke. A
// list that was told before and that could not be read now counts as silence:
// taken as it is it would say that everything in it is gone.
func (k *knowledge) silence(area native.Area, s native.Snapshot) api.Reason {
	if !s.Has(area) {
		return reasonOr(s.Unknown, string(area))
	}
	lost := func(had, has bool, from native.Reasons, field string) api.Reason {
		if had && !has && from[field] != "" {
			return reasonOr(from, field)
		}
		return ""
	}
	switch area {
	case native.AreaNetwork:
		had := k.held.Network != nil && k.held.Network.Interfaces != nil
		return lost(had, s.Network.Interfaces != nil, s.Network.Unknown, "interfaces")
	case native.AreaThunderbolt:
		had := k.held.Thunderbolt != nil && k.held.Thunderbolt.Ports != nil
		return lost(had, s.Thunderbolt.Ports != nil, s.Thunderbolt.Unknown, "ports")
	case native.AreaRDMA:
		had := k.held.RDMA != nil && k.held.RDMA.Devices != nil
		return lost(had, s.RDMA.Devices != nil, s.RDMA.Unknown, "devices")
	}
	return ""
}

// take notes what was read of one area, or why nothing was.
func (k *knowledge) take(area native.Area, s native.Snapshot, why api.Reason) {
	if why != "" {
		k.silent[area] = why
		return
	}
	delete(k.silent, area)
	switch area {
	case native.AreaIdentity:
		k.held.Identity = s.Identity
	case native.AreaMemory:
		k.held.Memory = s.Memory
	case native.AreaSystem:
		k.held.System = s.System
	case native.AreaNetwork:
		k.held.Network = s.Network
	case native.AreaThunderbolt:
		k.held.Thunderbolt = s.Thunderbolt
	case native.AreaRDMA:
		k.held.RDMA = s.RDMA
	}
}

// facts makes the facts of a kind; none where the area has never spoken. Kinds
// are named as areas are.
func (k *knowledge) facts(kind api.Kind, static Static) []Fact {
	area := native.Area(kind)
	silent := k.silent[area]
	if !k.held.Has(area) && (area != native.AreaRDMA || silent == "") {
		return nil
	}
	var out []Fact
	one := func(value any, unknown map[string]api.Reason) {
		out = append(out, Fact{Kind: kind, Value: value, Unknown: unknown})
	}
	switch area {
	case native.AreaIdentity:
		one(identity(*k.held.Identity, static))
	case native.AreaMemory:
		one(memory(*k.held.Memory, static))
	case native.AreaSystem:
		one(system(*k.held.System))
	case native.AreaNetwork:
		value, why := network(*k.held.Network, k.held.Thunderbolt)
		static.claim(value)
		one(value, why)
	case native.AreaThunderbolt:
		for _, port := range k.ports() {
			one(thunderbolt(port))
		}
	case native.AreaRDMA:
		for _, port := range k.ports() {
			value, why := rdma(port, k.held.RDMA, silent)
			if static.Probes != nil && k.held.Identity != nil {
				value.ProbesSinceBoot = static.Probes(k.held.Identity.BootID, value.Receptacle)
			}
			one(value, why)
		}
	}
	for i := range out {
		switch value := out[i].Value.(type) {
		case api.Thunderbolt:
			out[i].Name = value.Receptacle.String()
		case api.RDMA:
			out[i].Name = value.Receptacle.String()
		}
		if silent != "" && k.held.Has(area) {
			out[i].Unknown[string(kind)] = silent
		}
	}
	return out
}

// ports are the receptacles in the order of their numbers, each once.
func (k *knowledge) ports() []native.Port {
	if k.held.Thunderbolt == nil {
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(k.held.Thunderbolt.Ports), func(p native.Port) bool {
		return p.Receptacle < 1 || p.Receptacle > api.MaxReceptacle
	})
	slices.SortStableFunc(all, func(a, b native.Port) int { return a.Receptacle - b.Receptacle })
	return slices.CompactFunc(all, func(a, b native.Port) bool { return a.Receptacle == b.Receptacle })
}

// follow are the kinds to convert again after an area was read: its own, and
// those that take a part of it.
func (k *knowledge) follow(area native.Area) []api.Kind {
	kinds := []api.Kind{api.Kind(area)}
	if area == native.AreaThunderbolt && k.held.Thunderbolt != nil {
		kinds = append(kinds, api.KindRDMA, api.KindNetwork)
	}
	return kinds
}
