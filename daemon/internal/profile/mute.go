package profile

import (
	"errors"
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// Mute keeps that a person does not want to be warned about a cable, or does
// again: in the document of the cable itself, and in those of the paths over it.
func (p *Profiler) Mute(link api.LinkID, peer api.NodeID, muted bool) error {
	p.mu.Lock()
	name := link.String()
	if _, known := p.paths[name]; !known && muted {
		p.paths[name] = api.LinkProfile{Transport: api.TransportRDMA, LinkKind: api.LinkRDMA, Peer: peer, Link: link}
	}
	var ended []string
	put := map[string]api.LinkProfile{}
	for _, name := range slices.Sorted(maps.Keys(p.paths)) {
		value := p.paths[name]
		if value.Link != link || value.Muted == muted {
			continue
		}
		value.Muted = muted
		if !muted && value.MeasuredAt.IsZero() && value.Failure == nil && len(value.History) == 0 {
			delete(p.paths, name)
			ended = append(ended, name)
			continue
		}
		p.paths[name], put[name] = value, value
	}
	p.mu.Unlock()
	var all []error
	for name, value := range put {
		path := Path{Transport: value.Transport, Peer: value.Peer, Sink: value.Sink, Link: value.Link, Kind: value.LinkKind}
		if there, ok := p.pathOf(name); ok {
			path = there
		}
		all = append(all, p.putPath(path, value, nil))
	}
	for _, name := range ended {
		all = append(all, p.cfg.Documents.Delete(api.KindLinkProfile, name))
	}
	p.Recheck()
	return errors.Join(all...)
}
