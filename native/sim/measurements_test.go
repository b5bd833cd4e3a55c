package sim_test

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// links are what is recorded of a transport between two Macs, as seen from the first.
func (b *bench) links(from, to, transport string) []scenario.LinkMeasurement {
	b.t.Helper()
	recorded, err := b.Recorded(from)
	is.New(b.t).NoErr(err)
	var all []scenario.LinkMeasurement
	for _, p := range recorded.Paths {
		if p.To == to && p.Transport == transport {
			all = append(all, p.LinkMeasurement)
		}
	}
	return all
}

func TestMeasurementsOfWhatIsPluggedAsRecorded(t *testing.T) {
	is := is.New(t)
	s := cluster(3, "a.tb1 b.tb2", "c.tb1 hub.up", "hub.1 b.tb1")
	s.Measurements = scenario.Measurements{
		GPUs: []scenario.GPUMeasurement{{Mac: "a", FP16TFLOPS: 23.6, MemoryBytesPerS: 661e9}},
		Links: []scenario.LinkMeasurement{
			{From: "a", To: "b", Transport: "rdma", Over: "tb1", UpBitsPerS: 74.8e9, DownBitsPerS: 70e9, RTTUS: 18},
			{From: "a", To: "b", Transport: "socket", Over: "tb1", UpBitsPerS: 60.7e9, DownBitsPerS: 52.6e9, RTTUS: 340},
			{From: "a", To: "b", Transport: "socket", Over: "office", UpBitsPerS: 9.4e9, DownBitsPerS: 9.4e9, RTTUS: 200},
			{From: "c", To: "b", Transport: "socket", Over: "tb1", UpBitsPerS: 63.6e9, DownBitsPerS: 60.9e9, RTTUS: 340},
		},
	}
	b := newBench(t, s)
	none, err := b.Recorded("b")
	is.NoErr(err)
	is.Equal(none.GPU, nil)
	is.Equal(b.links("a", "b", "rdma")[0].UpBitsPerS, 74.8e9)
	is.Equal(b.links("b", "a", "rdma")[0], scenario.LinkMeasurement{From: "b", To: "a", Transport: "rdma", Over: "tb2", UpBitsPerS: 70e9, DownBitsPerS: 74.8e9, RTTUS: 18})
	is.Equal(len(b.links("a", "c", "socket")), 0)
	is.Equal(len(b.links("a", "b", "socket")), 2)
	is.Equal(b.links("b", "c", "socket")[0].UpBitsPerS, 60.9e9)

	b.do("set b.rdma off")
	is.Equal(len(b.links("a", "b", "rdma")), 0)
	b.do("set b.rdma on", "retrain a.tb1 40G")
	is.Equal(len(b.links("a", "b", "rdma")), 0)
	is.Equal(len(b.links("a", "b", "socket")), 1) // the network's
	b.do("unplug a.tb1", "plug a.tb1 b.tb2")
	is.True(len(b.links("a", "b", "rdma")) > 0)
	b.do("set office.isolated yes")
	is.Equal(len(b.links("a", "b", "socket")), 1)
	b.do("unplug a.tb1", "plug a.tb1 b.tb3") // another receptacle
	is.Equal(len(b.links("a", "b", "rdma")), 0)
	b.do("unplug a.tb1", "plug a.tb2 b.tb2")
	is.Equal(len(b.links("a", "b", "rdma")), 0)

	b.do("plug a.tb1 hub.2") // another Mac on the hub changes nothing
	is.True(len(b.links("c", "b", "socket")) > 0)
	b.do("retrain hub.up 40G") // but the hub's own cable does, as seen from either side
	is.Equal(len(b.links("c", "b", "socket")), 0)
	is.Equal(len(b.links("b", "c", "socket")), 0)
}

// What is recorded of a Mac comes with the interfaces that it goes over, and with
// who answers there.
func TestRecorded(t *testing.T) {
	is := is.New(t)
	s := cluster(2, "a.tb1 b.tb2")
	s.Measurements = scenario.Measurements{
		GPUs: []scenario.GPUMeasurement{{Mac: "a", FP16TFLOPS: 23.6, MemoryBytesPerS: 661e9}},
		Links: []scenario.LinkMeasurement{
			{From: "b", To: "a", Transport: "rdma", Over: "tb2", UpBitsPerS: 74.8e9, DownBitsPerS: 70e9, RTTUS: 18},
			{From: "a", To: "b", Transport: "socket", Over: "office", UpBitsPerS: 9.4e9, DownBitsPerS: 9.3e9, RTTUS: 200},
		},
	}
	b := newBench(t, s)
	got, err := b.Recorded("a")
	is.NoErr(err)
	is.Equal(got.GPU.FP16TFLOPS, 23.6)
	is.Equal(len(got.Paths), 2)
	lan, cable := got.Paths[0], got.Paths[1]
	is.Equal(lan.To, "b")
	is.Equal(lan.PortNumber, 0)
	is.Equal(len(lan.Interfaces), 1)
	is.Equal(cable.UpBitsPerS, 70e9) // turned round
	is.Equal(cable.PortNumber, 1)
	is.Equal(cable.PeerPortNumber, 2)
	is.True(len(cable.Interfaces) >= 1)
	is.True(len(got.Reach) > 0 && got.Reach[0].Peer == "b")
	b.do("unplug a.tb1")
	got, err = b.Recorded("a")
	is.NoErr(err)
	is.Equal(len(got.Paths), 1)
	_, err = b.Recorded("nobody")
	is.True(errors.Is(err, native.ErrNotFound))
}
