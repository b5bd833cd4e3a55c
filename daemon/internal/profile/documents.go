package profile

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// isRecorded reports whether the numbers of paths of a kind, or of the GPU, are a
// simulation's: those of the machine's own loopback are real.
func (p *Profiler) isRecorded(kind api.LinkKind) bool {
	return p.cfg.Recorded != nil && kind != api.LinkLoopback
}

// outlet is what publishes documents, and why numbers are missing where nothing failed.
func (p *Profiler) outlet(kind api.LinkKind) (put func(api.Kind, string, any, map[string]api.Reason) error, missing api.Reason) {
	if p.isRecorded(kind) {
		return p.cfg.Simulated.Put, api.ReasonNotInScenario
	}
	return p.cfg.Documents.Put, api.ReasonNotMeasured
}

// putGPU publishes the GPU's document. unknown has the reasons of the circumstances.
func (p *Profiler) putGPU(v api.GPUProfile, unknown map[string]api.Reason) error {
	put, usual := p.outlet("")
	c, of := v.Conditions, map[string]api.Reason{}
	for field, missing := range map[string]bool{
		"os_build": c.OSBuild == "", "thermal_state": c.ThermalState == "", "power_source": c.PowerSource == "",
		"low_power_mode": c.LowPowerMode == nil,
	} {
		if missing {
			of[field] = cmp.Or(unknown[field], api.ReasonNotYetRead)
		}
	}
	return put(api.KindGPUProfile, "", v, absent(usual, of, map[string]bool{
		"measured_at": v.MeasuredAt.IsZero(), "device": v.Device == "", "fp16_tflops": v.FP16TFLOPS == nil,
		"fp32_tflops": v.FP32TFLOPS == nil, "memory_bytes_per_s": v.MemoryBytesPerS == nil,
	}))
}

// putPath publishes a path's document. A number is missing for the reason for which the
// last measurement failed.
func (p *Profiler) putPath(name string, v api.LinkProfile, unknown map[string]api.Reason) error {
	put, usual := p.outlet(v.LinkKind)
	if v.Failure != nil {
		usual = cmp.Or(v.Failure.Reason, usual)
	}
	return put(api.KindLinkProfile, name, v, absent(usual, unknown, map[string]bool{
		"measured_at": v.MeasuredAt.IsZero(), "up_bits_per_s": v.UpBitsPerS == nil, "down_bits_per_s": v.DownBitsPerS == nil,
		"rtt_us": v.RTTUS == nil, "jitter_us": v.JitterUS == nil, "loss_ratio": v.LossRatio == nil,
	}))
}

// absent gives the reason for each field that is missing; unknown has those of the
// circumstances.
func absent(usual api.Reason, unknown map[string]api.Reason, missing map[string]bool) map[string]api.Reason {
	why := map[string]api.Reason{}
	for field, is := range missing {
		if is {
			why[field] = usual
		}
	}
	for field, reason := range unknown {
		why["conditions."+field] = reason
	}
	if len(why) == 0 {
		return nil
	}
	return why
}

// amend changes why a subject has no result or waits for one, and publishes that where
// change says that it did. What was measured before stays.
func (p *Profiler) amend(key api.Key, path Path, change func(failure **api.MeasureFailure, waiting **api.MeasureWait) bool) {
	p.mu.Lock()
	gpu := p.last
	link, known := p.paths[key.Name]
	if !known {
		link = describe(path)
	}
	publish := func() error { return p.putPath(key.Name, link, nil) }
	changed := false
	if key.Kind == api.KindGPUProfile {
		publish = func() error { return p.putGPU(gpu, nil) }
		if changed = change(&gpu.Failure, &gpu.Waiting); changed {
			p.last = gpu
		}
	} else if changed = change(&link.Failure, &link.Waiting); changed {
		p.paths[key.Name] = link
	}
	p.mu.Unlock()
	if !changed {
		return
	}
	if err := publish(); err != nil {
		p.cfg.Log.Error("why something is not measured could not be published", "document", key.String(), "error", err)
	}
}

// failed publishes why there is no result.
func (p *Profiler) failed(key api.Key, path Path, fault *api.Error) {
	p.amend(key, path, func(failure **api.MeasureFailure, waiting **api.MeasureWait) bool {
		*failure, *waiting = p.failureLocked(key, fault, *failure), nil
		return true
	})
}

// notifyWaiting publishes why a subject that is due is not measured now; nil that
// it is not so any more. What is told already is not told again.
func (p *Profiler) notifyWaiting(key api.Key, why *api.MeasureWait) {
	path, isThere := p.pathOf(key.Name)
	p.amend(key, path, func(_ **api.MeasureFailure, waiting **api.MeasureWait) bool {
		if isReported(*waiting, why) || why != nil && !isThere && key.Kind == api.KindLinkProfile {
			return false
		}
		if *waiting = nil; why != nil {
			*waiting = &api.MeasureWait{Reason: why.Reason, Message: why.Message, Since: p.now()}
		}
		return true
	})
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

// isReported reports whether two reasons to wait are one.
func isReported(reported, now *api.MeasureWait) bool {
	if reported == nil || now == nil {
		return reported == now
	}
	return reported.Reason == now.Reason && reported.Message == now.Message
}

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
		all = append(all, p.putPath(name, value, nil))
	}
	for _, name := range ended {
		all = append(all, p.cfg.Documents.Delete(api.KindLinkProfile, name))
	}
	p.Recheck()
	return errors.Join(all...)
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
