//go:build cgo && linux && darwinsim

package simmac_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/recording"
	"fulmen/native/sim/scenario"
)

// TestRecordedMachinesIsSimulatedAgain records every Mac of a desk, makes a scenario of the
// recordings alone, and simulates it: each Mac has the same receptacles, cables, interfaces,
// bridges and RDMA devices again. Names and addresses were replaced, and are no part of it.
func TestRecordedMachinesIsSimulatedAgain(t *testing.T) {
	for _, name := range []string{"as-delivered", "two-studios", "hub-27", "unready", "mixed", "tb4-pair"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			clean(t)
			s, err := scenario.Load(name)
			is.NoErr(err)
			d := newMachines(t, s)
			var files []recording.File
			for _, mac := range d.world.Macs() {
				r, _ := d.macs[mac].Record(d.time)
				text, err := json.Marshal(r)
				is.NoErr(err)
				files = append(files, recording.File{Name: mac + ".json", Data: text})
			}
			made, _, err := recording.Rebuild("again", files)
			is.NoErr(err)
			text, err := recording.Format(made)
			is.NoErr(err)
			back, err := scenario.Parse("again.toml", text)
			is.NoErr(err)
			again := newMachines(t, back)
			areas := []native.Area{native.AreaIdentity, native.AreaThunderbolt, native.AreaRDMA, native.AreaNetwork}
			for _, mac := range d.world.Macs() {
				was, is2 := recorded(d.snapshot(t, mac, areas...)), recorded(again.snapshot(t, mac, areas...))
				a, err := json.MarshalIndent(was, "", " ")
				is.NoErr(err)
				b, err := json.MarshalIndent(is2, "", " ")
				is.NoErr(err)
				is.Equal(string(b), string(a))
			}
		})
	}
}

// recorded is what a recording tells of a Mac, as far as a simulation has it.
func recorded(s native.Snapshot) map[string]any {
	out := map[string]any{"model": s.Identity.Model, "system": s.Identity.OSVersion + "/" + s.Identity.OSBuild, "switch": s.RDMA.Switch}
	var ports, devices, interfaces, bridges []any
	for _, p := range s.Thunderbolt.Ports {
		peers := []any{}
		for _, peer := range p.Peers {
			peers = append(peers, map[string]any{"model": peer.Name, "negotiated": peer.Negotiated, "services": peer.Services, "hub": peer.Hub})
		}
		hubs := len(p.Hubs)
		ports = append(ports, map[string]any{
			"receptacle": p.PortNumber, "capability": p.Capability, "interface": p.Interface, "place": p.Place,
			"status": p.Status, "negotiated": p.Negotiated, "peers": peers, "hubs": hubs,
		})
	}
	for _, dev := range s.RDMA.Devices {
		devices = append(devices, map[string]any{"name": dev.Name, "interface": dev.Interface, "state": dev.PortState, "limits": dev.Limits})
	}
	for _, i := range s.Network.Interfaces {
		if i.Type == native.InterfaceThunderbolt || i.Type == native.InterfaceEthernet || i.Type == native.InterfaceWiFi {
			interfaces = append(interfaces, map[string]any{"name": i.Name, "type": i.Type, "receptacle": i.PortNumber})
		}
	}
	for _, b := range s.Network.Bridges {
		members := slices.Sorted(slices.Values(b.StoredMembers))
		bridges = append(bridges, b.Name+" "+strings.Join(members, " "))
	}
	out["ports"], out["devices"], out["interfaces"], out["bridges"] = ports, devices, interfaces, bridges
	return out
}
