package daemon

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/topology"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// recordings is what a simulated Mac's scenario records, in the form that the
// profiler has use for.
type recordings struct {
	documents // say that they are simulated
	paths     *measured
}

// GPU is the profiler's.
func (r *recordings) GPU() (fp16TFLOPS float64, memoryBytesPerS int64, ok bool) {
	now := r.paths.recordings()
	if now == nil {
		return 0, 0, false
	}
	gpu := now.gpu
	if gpu == nil || gpu.FP16TFLOPS == 0 || gpu.MemoryBytesPerS == 0 {
		return 0, 0, false
	}
	return gpu.FP16TFLOPS, int64(gpu.MemoryBytesPerS), true
}

// Path is the profiler's.
func (r *recordings) Path(path profile.Path) (reading profile.Reading, ok, isReal bool) {
	if path.Kind == api.LinkLoopback {
		return reading, false, true
	}
	if now := r.paths.recordings(); now != nil {
		reading, ok = now.path(path)
	}
	return reading, ok, false
}

// recorded is what is recorded of this Mac and its paths, with the other Macs' names.
type recorded struct {
	self  api.NodeID
	gpu   *scenario.GPUMeasurement
	paths []sim.RecordedPath
	reach []sim.Reach
	macs  map[api.NodeID]string
}

// recorded reads what the scenario records of this Mac, as the world is now. A
// world that is gone records nothing.
func (d *daemon) recorded(graph topology.Graph) *recorded {
	now, err := d.options.Simulation.World.Recorded(d.options.Simulation.Mac)
	if err != nil {
		d.logs.part("profile").Warn("what the scenario records could not be read", "error", err)
	}
	r := &recorded{self: d.identity.Node, gpu: now.GPU, paths: now.Paths, reach: now.Reach, macs: map[api.NodeID]string{}}
	for _, p := range graph.Paths {
		if mac := r.macAt(p.Interface, p); p.From == r.self && mac != "" {
			r.macs[p.To] = mac
		}
	}
	return r
}

// macAt is which Mac answers at a path's address.
func (r *recorded) macAt(iface string, p topology.Path) string {
	at := slices.IndexFunc(r.reach, func(one sim.Reach) bool {
		return one.Interface == iface && one.Address == p.Address.WithZone("")
	})
	if at < 0 {
		return ""
	}
	return r.reach[at].Peer
}

// path is the recording of a path; false where there is none.
func (r *recorded) path(path profile.Path) (profile.Reading, bool) {
	near, isCable := path.Link.End(r.self)
	far := path.Link.Low
	if far == near {
		far = path.Link.High
	}
	for _, one := range r.paths {
		isSame := one.Transport == string(path.Transport) && one.To == r.macs[path.Peer]
		switch {
		case !isSame:
		case path.Transport == api.TransportRDMA:
			isSame = isCable && one.Receptacle == int(near.Receptacle) && one.PeerReceptacle == int(far.Receptacle)
		case one.Receptacle != 0 && isCable:
			isSame = one.Receptacle == int(near.Receptacle)
		default:
			isSame = slices.Contains(one.Interfaces, path.Interface)
		}
		if isSame {
			return readingOf(one.LinkMeasurement), true
		}
	}
	return profile.Reading{}, false
}

func readingOf(m scenario.LinkMeasurement) profile.Reading {
	return profile.Reading{
		UpBitsPerS: someInt(m.UpBitsPerS), DownBitsPerS: someInt(m.DownBitsPerS), RTTUS: some(m.RTTUS), JitterUS: some(m.JitterUS),
	}
}
