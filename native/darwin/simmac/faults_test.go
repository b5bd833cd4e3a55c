//go:build cgo && linux && darwinsim

package simmac_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin/simfw"
)

var thunderboltAreas = []native.Area{native.AreaThunderbolt, native.AreaRDMA, native.AreaNetwork}

// plugged is a desk with a cable and a peer behind a hub.
func plugged(t *testing.T) *machines {
	t.Helper()
	d := newMachines(t, pair(t))
	do(t, d, "plug A.tb2 B.tb1 80G")
	do(t, d, "plug A.tb3 dock.up 80G")
	do(t, d, "plug dock.2 B.tb3 40G")
	return d
}

func TestAnIteratorThatBecomesInvalid(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := plugged(t)
	before := d.snapshot(t, "A", native.AreaThunderbolt).Thunderbolt
	for _, times := range []int{1, 2, 5} {
		d.macs["A"].Machine.Arm(simfw.FaultInvalidate, times)
		is.Equal(d.snapshot(t, "A", native.AreaThunderbolt).Thunderbolt, before) // read again
		d.macs["A"].Machine.Arm(simfw.FaultInvalidate, 0)
	}
	d.macs["A"].Machine.Arm(simfw.FaultInvalidate, 1000)
	s := d.snapshot(t, "A", thunderboltAreas...)
	is.True(s.Thunderbolt == nil)
	is.Equal(s.Unknown["thunderbolt"].Key(), native.ReasonReadFailed.Key())
	d.macs["A"].Machine.Arm(simfw.FaultInvalidate, 0)
	is.Equal(d.snapshot(t, "A", native.AreaThunderbolt).Thunderbolt, before)
}

// Whatever goes while it is read, the rest is told and nothing is made up.
func TestWhatGoesWhileItIsRead(t *testing.T) {
	clean(t)
	d := plugged(t)
	for fault, name := range map[simfw.Fault]string{
		simfw.FaultVanish: "properties", simfw.FaultGone: "entries", simfw.FaultMatch: "matching", simfw.FaultStore: "configd",
	} {
		for times := range 60 {
			t.Run(fmt.Sprint(name, times), func(t *testing.T) {
				machine := d.macs["A"].Machine
				machine.Arm(fault, times)
				d.snapshot(t, "A", thunderboltAreas...)
				d.snapshot(t, "A", native.AllAreas()...)
				machine.Arm(fault, 0)
			})
		}
	}
}

// malformed are values that a property should not have.
func malformed() map[string]any {
	return map[string]any{
		"negative": -1, "large": uint64(1) << 62, "real": 2.5, "text": "seven", "no text": "", "no UTF-8": "Mac\xff\xfe", "data": []byte{1, 2, 3},
		"boolean": true, "array": []any{1, "two"}, "map": map[string]any{"a": []any{map[string]any{"b": 1}}}, "zero byte": "a",
		"deep": nested(40),
	}
}

func nested(depth int) any {
	var v any = 1
	for range depth {
		v = []any{v}
	}
	return v
}

func TestMalformedProperties(t *testing.T) {
	clean(t)
	d := plugged(t)
	d.snapshot(t, "A", thunderboltAreas...)
	mac := d.macs["A"]
	asked := []native.Area{native.AreaThunderbolt, native.AreaRDMA}
	for _, n := range mac.Nodes() {
		if strings.Contains(n.Key, "acio0") {
			continue // like the others, with nothing plugged in
		}
		for key, right := range n.Properties {
			for name, wrong := range malformed() {
				id, _ := mac.ID(n.Key)
				n.Properties[key] = wrong
				if err := mac.Machine.SetProperties(false, id, n.Properties, simfw.PropertyChange); err != nil {
					t.Fatal(err)
				}
				s, err := d.platforms["A"].Facts.Snapshot(t.Context(), asked...)
				if problems := s.Check(asked); err != nil || len(problems) > 0 {
					t.Errorf("%s of %s is %s: %v %v", key, n.Key, name, problems, err)
				}
			}
			n.Properties[key] = right
			id, _ := mac.ID(n.Key)
			if err := mac.Machine.SetProperties(false, id, n.Properties, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestARegistryThatIsACircle(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := plugged(t)
	before := d.snapshot(t, "A", native.AreaThunderbolt).Thunderbolt
	mac := d.macs["A"]
	var ids []uint64
	for _, n := range mac.Nodes() {
		id, _ := mac.ID(n.Key)
		ids = append(ids, id)
	}
	for i := range ids {
		unloop, err := mac.Machine.Loop(ids[len(ids)-1-i], ids[i])
		is.NoErr(err)
		d.snapshot(t, "A", native.AreaThunderbolt)
		unloop()
	}
	is.Equal(d.snapshot(t, "A", native.AreaThunderbolt).Thunderbolt, before)
}

func TestSymbolsThatAreMissing(t *testing.T) {
	is := is.New(t)
	clean(t)
	d := plugged(t)
	machine := d.macs["A"].Machine
	device := func() native.RDMADevice {
		for _, device := range d.snapshot(t, "A", native.AreaRDMA).RDMA.Devices {
			if device.PortState == native.RDMAPortActive {
				return device
			}
		}
		t.Fatal("no port is active")
		return native.RDMADevice{}
	}
	is.True(len(device().GIDs) > 0)
	for _, symbol := range []string{
		"librdma.dylib", "ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_name", "ibv_open_device", "ibv_close_device", "ibv_query_port", "ibv_query_gid",
	} {
		machine.SetMissing(symbol, true)
		d := device() // by its power state
		is.Equal(d.Unknown["gids"].Key(), native.ReasonNoOS.Key())
		machine.SetMissing(symbol, false)
	}
	is.True(len(device().GIDs) > 0)
}
