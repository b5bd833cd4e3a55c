package profile

import (
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// tellWaiting publishes why a subject that is due is not measured now; nil that
// it is not so any more. What is told already is not told again.
func (p *Profiler) tellWaiting(key api.Key, why *api.MeasureWait) {
	if key.Kind == api.KindLinkProfile {
		p.tellPathWaiting(key.Name, why)
		return
	}
	p.mu.Lock()
	if isTold(p.last.Waiting, why) {
		p.mu.Unlock()
		return
	}
	p.last.Waiting = since(why, p.now())
	value := p.last
	p.mu.Unlock()
	put := p.cfg.Documents.Put
	if p.cfg.Scenario != nil {
		put = p.cfg.Scenario.Put
	}
	if err := put(api.KindGPUProfile, "", value, absent(value, nil)); err != nil {
		p.cfg.Log.Error("why the GPU is not measured could not be published", "error", err)
	}
}

func (p *Profiler) tellPathWaiting(name string, why *api.MeasureWait) {
	path, isThere := p.pathOf(name)
	p.mu.Lock()
	value, known := p.paths[name]
	if isTold(value.Waiting, why) || !isThere && why != nil {
		p.mu.Unlock()
		return
	}
	switch {
	case !isThere: // gone while it waited
		path = Path{Transport: value.Transport, Peer: value.Peer, Interface: value.Interface, Source: value.Source, Sink: value.Sink, Kind: value.LinkKind, Link: value.Link}
	case !known:
		value = describe(path)
	}
	value.Waiting = since(why, p.now())
	p.paths[name] = value
	p.mu.Unlock()
	if err := p.putPath(path, value, nil); err != nil {
		p.cfg.Log.Error("why a path is not measured could not be published", "path", name, "error", err)
	}
}

// waiting are the subjects whose documents say that they wait.
func (p *Profiler) waiting() []api.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	var keys []api.Key
	if p.last.Waiting != nil {
		keys = append(keys, p.gpuKey())
	}
	for _, name := range slices.Sorted(maps.Keys(p.paths)) {
		if p.paths[name].Waiting != nil {
			keys = append(keys, p.pathKey(name))
		}
	}
	return keys
}

// isTold reports whether two reasons to wait are one.
func isTold(told, now *api.MeasureWait) bool {
	if told == nil || now == nil {
		return told == now
	}
	return told.Reason == now.Reason && told.Message == now.Message
}

// since dates a reason to wait.
func since(why *api.MeasureWait, at api.Time) *api.MeasureWait {
	if why == nil {
		return nil
	}
	dated := *why
	dated.Since = at
	return &dated
}
