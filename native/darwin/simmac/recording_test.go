//go:build cgo && linux && darwinsim

package simmac_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin"
)

// TestARecordingTellsWhatTheMacTold: what is recorded, written, read and told
// again is what the Mac tells, but for what is masked.
func TestARecordingTellsWhatTheMacTold(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := plugged(t)
	is.NoErr(d.platforms["A"].Network.SetBridgeMember(t.Context(), "bridge0", "en3", false))
	_, err := d.platforms["A"].Network.CreateService(t.Context(), spec)
	is.NoErr(err)
	is.NoErr(d.macs["A"].Project())
	recorded, replaced := d.macs["A"].Record(d.time)
	text, err := json.MarshalIndent(recorded, "", " ")
	is.NoErr(err)
	if *update {
		is.NoErr(os.WriteFile("../testdata/recording.json", append(text, '\n'), 0o644))
	}
	r, err := darwin.ParseRecording(text)
	is.NoErr(err)
	live := d.snapshot(t, "A", native.AreaThunderbolt, native.AreaRDMA, native.AreaNetwork)
	for _, secret := range []string{live.Thunderbolt.Ports[1].DomainUUID, "192.168.1.11", spec.Name, "169.254.9.1"} {
		is.True(secret != "" && !strings.Contains(string(text), secret))
		is.True(slices.ContainsFunc(replaced, func(r darwin.Replaced) bool { return r.Was == secret && r.Is != secret })) // and it is said
	}
	reported := r.Facts()
	is.Equal(reported.Check([]native.Area{native.AreaThunderbolt, native.AreaRDMA, native.AreaNetwork}), nil)
	is.Equal(len(reported.Thunderbolt.Ports), len(live.Thunderbolt.Ports))
	for i, p := range live.Thunderbolt.Ports {
		again := reported.Thunderbolt.Ports[i]
		is.True(again.DomainUUID != p.DomainUUID)
		p.DomainUUID, again.DomainUUID = "", ""
		for k := range p.Peers {
			p.Peers[k].DomainUUID, again.Peers[k].DomainUUID = "", ""
		}
		is.Equal(again, p)
	}
	is.Equal(reported.RDMA.Switch, live.RDMA.Switch)
	is.Equal(len(reported.RDMA.Devices), len(live.RDMA.Devices))
	is.Equal(reported.Network.PrimaryInterface, "en0")
	is.Equal(len(reported.Network.Services), len(live.Network.Services))
	is.Equal(len(reported.Network.Interfaces), len(live.Network.Interfaces))
	for i, was := range live.Network.Interfaces {
		again := reported.Network.Interfaces[i]
		is.Equal(len(again.Addresses), len(was.Addresses))
		for k, a := range was.Addresses {
			is.Equal(again.Addresses[k].Address.Bits(), a.Address.Bits())
			is.Equal(again.Addresses[k].Origin, a.Origin)
		}
		is.True(was.HardwareAddress == "" || again.HardwareAddress != was.HardwareAddress)
		was.Addresses, again.Addresses, was.HardwareAddress, again.HardwareAddress = nil, nil, "", ""
		was.Unknown, again.Unknown, was.SpeedBitsPerS = nil, nil, nil // speeds are asked of drivers, which are not recorded
		is.Equal(again, was)
	}
}
