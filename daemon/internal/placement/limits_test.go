package placement

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// reported are the limits of a device of a MacBook Pro, as somebody has reported them.
var reported = api.RDMALimits{QueuePairs: 10, CompletionQueues: 11, MemoryRegions: 100, ProtectionDomains: 11}

// with are the limits with a change.
func with(change func(*api.RDMALimits)) api.RDMALimits {
	l := reported
	change(&l)
	return l
}

// limit gives every device of a node the same limits.
func (d *scenario) limit(node int, l api.RDMALimits) *scenario {
	d.nodes[node].Limits = map[api.PortNumber]api.RDMALimits{}
	for r := range api.PortNumber(8) {
		d.nodes[node].Limits[r] = l
	}
	return d
}

// TestDeviceLimits places two ranks on two nodes of which one has a device of these limits.
func TestDeviceLimits(t *testing.T) {
	for _, c := range []struct {
		name    string
		backend api.Backend
		version string
		limits  api.RDMALimits
		reports string // empty where there is a plan
	}{
		{"as reported", api.BackendJACCL, "0.32.4", reported, ""},
		{"a mesh", api.BackendJACCL, "0.32.4", with(func(l *api.RDMALimits) { l.MemoryRegions = 63 }),
			"jaccl needs 64 memory regions of the RDMA device of port 1 of mac-1, for 1 connection over it, and the device has 63"},
		{"a mesh of an older MLX", api.BackendJACCL, "0.32.0", with(func(l *api.RDMALimits) { l.MemoryRegions = 63 }), ""},
		{"a mesh of an MLX that is not known", api.BackendJACCL, "", with(func(l *api.RDMALimits) { l.MemoryRegions = 63 }),
			"jaccl needs 64 memory regions of the RDMA device of port 1 of mac-1, for 1 connection over it, and the device has 63"},
		{"less than any mesh", api.BackendJACCL, "0.31.2", with(func(l *api.RDMALimits) { l.MemoryRegions = 31 }),
			"jaccl needs 32 memory regions of the RDMA device of port 1 of mac-1, for 1 connection over it, and the device has 31"},
		{"a ring of two has two connections", api.BackendJACCLRing, "0.32.4", with(func(l *api.RDMALimits) { l.QueuePairs = 1 }),
			"jaccl-ring needs 2 queue pairs of the RDMA device of port 1 of mac-1, for 2 connections over it, and the device has 1"},
		{"a ring of two", api.BackendJACCLRing, "0.32.4", with(func(l *api.RDMALimits) { l.QueuePairs = 3 }), ""},
		{"no second domain", api.BackendJACCLRing, "0.32.4", with(func(l *api.RDMALimits) { l.ProtectionDomains = 1 }),
			"jaccl-ring needs 2 protection domains of the RDMA device of port 1 of mac-1, for 2 connections over it, and the device has 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d := newScenario(2).plug(0, 1, 80).limit(1, c.limits)
			for i := range d.nodes {
				d.nodes[i].MLX.Version = c.version
			}
			r := Plan(d.input(api.Placement{Ranks: 2, Backend: c.backend}, nil))
			if c.reports == "" {
				is.True(r.Plan != nil)
				return
			}
			is.True(r.Plan == nil)
			is.True(errors.Is(r.Err(), api.ReasonRDMADeviceTooSmall))
			is.True(strings.HasSuffix(r.Err().Message, c.reports))
			is.True(r.Err().Data.Causes[0].Remedy != "")
		})
	}
}

// Each cable of a pair is a connection of its own, at a device of its own, and takes as much
// of it as the only one would: a mesh has as many cables as its devices can carry.
func TestDeviceLimitsOfEveryCable(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits func(api.PortNumber) api.RDMALimits
		cables int
		note   string
	}{
		{"just enough", func(api.PortNumber) api.RDMALimits {
			return api.RDMALimits{QueuePairs: 1, CompletionQueues: 1, MemoryRegions: 64, ProtectionDomains: 1}
		}, 2, ""},
		{"one too small", func(port api.PortNumber) api.RDMALimits {
			if port == 2 {
				return with(func(l *api.RDMALimits) { l.MemoryRegions = 63 })
			}
			return reported
		}, 1, "is not used: jaccl needs 64 memory regions of the RDMA device of port 2 of mac-1, for 1 connection over it, and the device has 63"},
		{"no domain left", func(port api.PortNumber) api.RDMALimits {
			if port == 1 {
				return with(func(l *api.RDMALimits) { l.ProtectionDomains = 0 })
			}
			return reported
		}, 1, "is not used: jaccl needs 1 protection domain of the RDMA device of port 1 of mac-1, for 1 connection over it, and the device has 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d := newScenario(2).plug(0, 1, 80).plug(0, 1, 80).limit(1, reported)
			for i := range d.nodes {
				d.nodes[i].MLX.Version = "0.32.4"
			}
			for port := range d.nodes[1].Limits {
				d.nodes[1].Limits[port] = c.limits(port)
			}
			r := Plan(d.input(api.Placement{Ranks: 2, Backend: api.BackendJACCL}, nil))
			is.True(r.Plan != nil)
			is.Equal(r.Plan.Cables(), c.cables)
			note := ""
			for _, n := range r.Plan.Notes {
				if n.Reason == api.ReasonCableNotUsed {
					note = n.Message
				}
			}
			is.True(strings.HasSuffix(note, c.note) && (note == "") == (c.note == ""))
		})
	}
}

// A ring of three has one connection over each cable, so that a device of one will do.
func TestARingOfThreeOverSmallDevices(t *testing.T) {
	d := newScenario(3).meshed(evenly(80)).limit(1, with(func(l *api.RDMALimits) { l.QueuePairs = 1 }))
	for i := range d.nodes {
		d.nodes[i].MLX.Version = "0.32.4"
	}
	r := Plan(d.input(api.Placement{Ranks: 3, Backend: api.BackendJACCLRing}, nil))
	is.New(t).True(r.Plan != nil)
}

// Three nodes of which every two reach each other through one receptacle of the first, and
// a fourth with cables of its own: who can be in a mesh depends on what that device has.
func TestDeviceThatLeadsToSeveral(t *testing.T) {
	hub := func() *scenario {
		d := newScenario(4).meshed(evenly(80))
		d.wires[1].hubA, d.wires[0].hubA = true, true // mac-0 to mac-1 and to mac-2
		for i := range d.nodes {
			d.nodes[i].MLX.Version = "0.32.4"
		}
		return d.limit(0, reported)
	}
	is := is.New(t)
	r := Plan(hub().input(api.Placement{Ranks: 3, Backend: api.BackendJACCL}, nil))
	is.True(r.Plan != nil)
	is.Equal(nodesOf(r.Plan), ids(0, 1, 3)) // and not 0, 1, 2, which would need 128 of 100 memory regions

	r = Plan(hub().input(api.Placement{Ranks: 3, Nodes: ids(0, 1, 2), Backend: api.BackendJACCL}, nil))
	is.True(errors.Is(r.Err(), api.ReasonRDMADeviceTooSmall))
	is.True(strings.HasSuffix(r.Err().Message, "jaccl needs 128 memory regions of the RDMA device of port 1 of mac-0, for 2 connections over it, and the device has 100"))

	d := hub()
	d.nodes[0].Limits = nil // nobody has asked it
	r = Plan(d.input(api.Placement{Ranks: 3, Nodes: ids(0, 1, 2), Backend: api.BackendJACCL}, nil))
	is.True(r.Plan != nil)
	r = Plan(hub().input(api.Placement{Ranks: 3, Nodes: ids(0, 1, 2), Backend: api.BackendJACCLRing}, nil))
	is.True(r.Plan != nil) // 64 of 100

	d = hub().limit(0, with(func(l *api.RDMALimits) { l.QueuePairs = 1 }))
	r = Plan(d.input(api.Placement{Ranks: 3, Nodes: ids(0, 1, 2), Backend: api.BackendJACCLRing}, nil))
	is.True(errors.Is(r.Err(), api.ReasonRDMADeviceTooSmall)) // both neighbours are reached by one device
}

// Of a cable of which one direction alone is known nobody says that it is too slow.
func TestSpeedOfOneDirectionAlone(t *testing.T) {
	is := is.New(t)
	var c cable
	c.ForwardBitsPerS = new(int64(10 * gigabit))
	is.True((&state{}).tooSlow(c) == nil)
	c.ForwardBitsPerS, c.BackwardBitsPerS = nil, c.ForwardBitsPerS
	is.True((&state{}).tooSlow(c) == nil)
}

// What a device tells of itself reaches both who places a job and who looks at the cable.
func TestLimitsOfDocuments(t *testing.T) {
	is := is.New(t)
	on := draw(t, "two-studios").with()
	small := with(func(l *api.RDMALimits) { l.QueuePairs = 1 })
	for i := range on.docs {
		if on.docs[i].Node == on.other() {
			revise(t, &on.docs[i], api.KindRDMA, "4", func(r *api.RDMA) { r.Device.Limits = &small })
		}
	}
	in, _ := inputOf(source{Documents: on.docs})
	shown := map[api.RDMALimits]int{}
	for _, e := range in.Graph.Readiness()[0].Ends {
		shown[e.Limits]++
	}
	is.Equal(shown, map[api.RDMALimits]int{small: 1, {}: 1})
	r := on.place(t, api.Placement{Ranks: 2, Backend: api.BackendJACCLRing})
	is.True(errors.Is(r.Err(), api.ReasonRDMADeviceTooSmall))
}
