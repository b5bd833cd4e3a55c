//go:build cgo && linux && darwinsim

package simmac_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// TestShippedScenarios: what the C files tell of each Mac of each scenario is what
// the simulation tells, before its time line has been played and after.
func TestShippedScenarios(t *testing.T) {
	for _, name := range scenario.Shipped() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			clean(t)
			s, err := scenario.Load(name)
			is.NoErr(err)
			d := newMachines(t, s)
			d.agree(t)
			for _, event := range s.TimeLine {
				is.NoErr(d.Do(event.Op))
			}
			d.time.Advance(time.Minute) // addresses that come late
			for _, mac := range d.macs {
				is.NoErr(mac.Project())
			}
			d.agree(t)
		})
	}
}

// agree compares what both tell of every Mac, without what one of them lacks a
// word for.
func (d *machines) agree(t *testing.T) {
	t.Helper()
	is := is.New(t)
	areas := []native.Area{native.AreaThunderbolt, native.AreaRDMA, native.AreaNetwork}
	for _, name := range d.world.Macs() {
		source, err := d.world.Platform(name)
		is.NoErr(err)
		want, err := source.Facts.Snapshot(t.Context(), areas...)
		is.NoErr(err)
		is.NoErr(source.Close())
		got := d.snapshot(t, name, areas...)
		is.Equal(portsOf(got), bare(portsOf(want), portsOf(got)))
		is.Equal(got.Network.PrimaryInterface, want.Network.PrimaryInterface)
		is.Equal(len(got.Network.Interfaces), len(want.Network.Interfaces))
		is.Equal(got.Network.Bridges, want.Network.Bridges)
		is.Equal(got.Network.Services, want.Network.Services)
		for _, device := range want.RDMA.Devices {
			own := deviceOf(got, device.Name)
			is.Equal(own.PortState, device.PortState)
			is.Equal(own.GIDs, device.GIDs)
			if device.Limits != nil {
				is.Equal(own.Limits, device.Limits)
			}
		}
		is.Equal(len(got.RDMA.Devices), len(want.RDMA.Devices))
	}
}

// bare takes over from the other what a scenario cannot say, or a Mac does not.
func bare(ports, from []native.Port) []native.Port {
	for i := range ports {
		if i < len(from) {
			ports[i].BesideEthernet, ports[i].Unknown = from[i].BesideEthernet, from[i].Unknown
			for k := range ports[i].Hubs {
				ports[i].Hubs[k].Unknown = from[i].Hubs[k].Unknown
			}
			for k := range ports[i].Peers {
				ports[i].Peers[k].Unknown = from[i].Peers[k].Unknown
			}
		}
	}
	return ports
}

func deviceOf(s native.Snapshot, name string) native.RDMADevice {
	for _, device := range s.RDMA.Devices {
		if device.Name == name {
			return device
		}
	}
	return native.RDMADevice{}
}
