package profile

import (
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// plugged is what was seen of this node's cables: one that was gone and is back
// may be another one in the same ports, which no document tells.
type plugged struct {
	links   map[api.LinkID]bool // whether it is there now
	changed map[string]bool     // paths to measure anew, by name
}

// look takes over which cables there are; the caller holds mu.
func (s *plugged) look(paths []Path) {
	if s.links == nil {
		s.links, s.changed = map[api.LinkID]bool{}, map[string]bool{}
	}
	now := map[api.LinkID]bool{}
	for _, path := range paths {
		if path.Link.Valid() && path.Negotiated != nil {
			now[path.Link] = true
		}
	}
	for link, was := range s.links {
		s.links[link] = now[link]
		if was || !now[link] {
			continue
		}
		for _, path := range paths {
			if path.Link == link {
				s.changed[path.Name()] = true
			}
		}
	}
	for link := range now {
		s.links[link] = true
	}
}

// maxPaths is how many documents of paths that are no more are kept: addresses
// come and go, and a history is of use when its path comes back.
const maxPaths = 128

// prune ends the documents of those paths that were measured longest ago, of too
// many.
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
	names = names[:max(0, len(p.paths)-maxPaths)]
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
