package profile

import (
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// plugged is what was seen of this node's cables: one that was gone and is back
// may be another one in the same ports, which no document tells.
type plugged struct {
	links   map[api.LinkID]cableSeen
	changed map[string]bool // paths to measure anew, by name
}

// cableSeen is a cable as it was seen last.
type cableSeen struct {
	isThere bool // now
	speed   api.ThunderboltSpeed
}

// look takes over which cables there are; the caller holds mu. Over RDMA a cable is
// to be tested anew also where it only has another speed, and before it is ready.
func (s *plugged) look(paths []Path) {
	if s.links == nil {
		s.links, s.changed = map[api.LinkID]cableSeen{}, map[string]bool{}
	}
	now := map[api.LinkID]api.ThunderboltSpeed{}
	for _, path := range paths {
		if path.Link.Valid() && path.Negotiated != nil {
			now[path.Link] = *path.Negotiated
		}
	}
	for link, was := range s.links {
		speed, isThere := now[link]
		if !isThere {
			s.links[link] = cableSeen{false, was.speed}
			continue
		}
		if !was.isThere || was.speed.TxBitsPerS != speed.TxBitsPerS || was.speed.RxBitsPerS != speed.RxBitsPerS {
			s.changed[link.String()] = true
		}
		if was.isThere {
			continue
		}
		for _, path := range paths {
			if path.Link == link {
				s.changed[path.Name()] = true
			}
		}
	}
	for link, speed := range now {
		s.links[link] = cableSeen{true, speed}
	}
}

// maxPaths is how many documents of paths that are no more are kept: addresses
// come and go, and a history is of use when its path comes back.
const maxPaths = 128

// prune ends the documents of those paths that were measured longest ago, of too
// many, and those of paths that went before they were measured.
func (p *Profiler) prune(paths []Path) {
	there := map[string]bool{}
	for _, path := range paths {
		there[path.Name()] = true
	}
	p.mu.Lock()
	names := slices.DeleteFunc(slices.Collect(maps.Keys(p.paths)), func(name string) bool { return there[name] })
	slices.SortFunc(names, func(a, b string) int {
		return p.paths[a].MeasuredAt.Compare(p.paths[b].MeasuredAt.Time)
	})
	most := min(max(0, len(p.paths)-maxPaths), len(names)) // those that are there may be more alone
	names = slices.Concat(names[:most], slices.DeleteFunc(names[most:], func(name string) bool {
		v := p.paths[name]
		return !v.MeasuredAt.IsZero() || v.Failure != nil || v.Muted
	}))
	for _, name := range names {
		delete(p.paths, name)
		delete(p.long, name)
	}
	p.mu.Unlock()
	for _, name := range names {
		if err := p.cfg.Documents.Delete(api.KindLinkProfile, name); err != nil {
			p.cfg.Log.Error("an old measurement could not be removed", "path", name, "error", err)
		}
	}
}
