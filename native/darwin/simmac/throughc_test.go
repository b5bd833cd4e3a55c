//go:build cgo && linux && darwinsim

package simmac_test

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin"
	"fulmen/native/darwin/simfw"
	"fulmen/native/darwin/simmac"
	"fulmen/native/nativetest"
)

// loaded is native/darwin over a registry, with what system_profiler says beside it.
func loaded(t testing.TB, root *simmac.Node, profiler ...func(context.Context) (native.Thunderbolt, error)) (native.Platform, *simfw.Machine, *nativetest.Clock) {
	t.Helper()
	m := simfw.New()
	next := uint64(0x100000500)
	ids := map[*simmac.Node]uint64{root: 0}
	root.Walk(func(parent, n *simmac.Node) {
		next++
		ids[n] = next
		if err := m.AddEntry(false, ids[parent], next, n.Name, n.Location, n.Class, n.Properties); err != nil {
			t.Fatal(err)
		}
	})
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	of := darwin.Simulated{
		Machine: m, Clock: clock, Interfaces: func() []darwin.SimulatedInterface { return nil },
		Sysctl: func(name string) ([]byte, bool) {
			value := map[string]string{"kern.osproductversion": "26.2\x00", "hw.model": "Mac15,14\x00"}[name]
			return []byte(value), value != ""
		},
	}
	for _, one := range profiler {
		of.Profiler = one
	}
	p, err := darwin.OpenSimulated(of)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		m.Close()
	})
	return p, m, clock
}

// TestRegistriesFromFiles reads whole registries through the C files.
func TestRegistriesFromFiles(t *testing.T) {
	for file, root := range trees(t) {
		t.Run(file, func(t *testing.T) {
			is := is.New(t)
			clean(t)
			p, m, _ := loaded(t, root)
			for n, place := range map[byte]string{0x41: "back-right", 0x45: "front-right"} {
				is.NoErr(m.AddEntry(true, 0, uint64(n), "hpm"+string('0'+n-0x41), "", "IOService", map[string]any{
					"port-location": append([]byte(place), 0), "acio-parent": []byte{n, 0, 0, 0},
				}))
			}
			s, err := p.Facts.Snapshot(t.Context(), native.AreaThunderbolt, native.AreaRDMA)
			is.NoErr(err)
			is.Equal(s.Check([]native.Area{native.AreaThunderbolt, native.AreaRDMA}), nil)
			golden(t, file, s)
		})
	}
}

// TestTheSlowReread: what changes without a word is found once a minute, hinted
// as such, and only then.
func TestTheSlowReread(t *testing.T) {
	is := is.New(t)
	clean(t)
	p, m, clock := loaded(t, trees(t)["testdata/tb4.plist"])
	var hints []native.Hint
	stop, err := p.Facts.Watch(func(h native.Hint) { hints = append(hints, h) })
	is.NoErr(err)
	clock.Advance(3 * time.Minute)
	is.Equal(len(hints), 0)
	s, err := p.Facts.Snapshot(t.Context(), native.AreaThunderbolt)
	is.NoErr(err)
	is.Equal(s.Thunderbolt.Ports[1].Status, native.PortEmpty)
	node := laneOf(t)
	is.NoErr(m.SetProperties(false, node, map[string]any{"Adapter Type": 1, "Socket ID": "7"}, 0)) // in silence
	clock.Advance(time.Minute)
	is.True(len(hints) > 0)
	for _, h := range hints {
		is.Equal(h.Source, "safety.reread")
	}
	reported := len(hints)
	clock.Advance(5 * time.Minute)
	is.Equal(len(hints), reported)
	is.NoErr(stop())
	is.Equal(clock.Pending(), 0)
}

// TestTheSlowRereadAfterAnEvent: what changes in silence after an announced change, in
// the same minute, is found as well, and no event is counted as missing.
func TestTheSlowRereadAfterAnEvent(t *testing.T) {
	is := is.New(t)
	clean(t)
	p, m, clock := loaded(t, trees(t)["testdata/tb4.plist"])
	hints := make(chan native.Hint, 100)
	stop, err := p.Facts.Watch(func(h native.Hint) { hints <- h })
	is.NoErr(err)
	clock.Advance(time.Minute)
	lane := func(socket string) map[string]any { return map[string]any{"Adapter Type": 1, "Socket ID": socket} }
	is.NoErr(m.SetProperties(false, laneOf(t), lane("7"), simfw.PropertyChange))
	for h := range hints {
		if h.Area == native.AreaRDMA { // the last of the event
			break
		}
	}
	is.NoErr(m.SetProperties(false, laneOf(t), lane("8"), 0)) // in silence
	clock.Advance(time.Minute)
	is.NoErr(stop())
	close(hints)
	found := map[native.Area]string{}
	for h := range hints {
		found[h.Area] = h.Source
	}
	is.Equal(found, map[native.Area]string{native.AreaThunderbolt: "reread.after_events", native.AreaRDMA: "reread.after_events"})
}

// laneOf is the registry id of a lane of the second receptacle.
func laneOf(t *testing.T) uint64 {
	t.Helper()
	id, found := uint64(0x100000500), uint64(0)
	trees(t)["testdata/tb4.plist"].Walk(func(_, n *simmac.Node) {
		if id++; n.Properties["Socket ID"] == "2" && found == 0 {
			found = id
		}
	})
	return found
}

// FuzzRegistry spoils one property after another of a registry, and reads it
// through the C files.
func FuzzRegistry(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{40, 3, 200, 41, 3, 1, 42, 0, 0, 255, 255, 9})
	f.Fuzz(func(t *testing.T, spoil []byte) {
		text := trees(t)["testdata/studio.plist"]
		var nodes []*simmac.Node
		text.Walk(func(_, n *simmac.Node) { nodes = append(nodes, n) })
		for len(spoil) >= 3 {
			n := nodes[int(spoil[0])%len(nodes)]
			keys := slices.Sorted(maps.Keys(n.Properties))
			if len(keys) > 0 {
				n.Properties[keys[int(spoil[1])%len(keys)]] = wrong(spoil[2:])
			}
			spoil = spoil[3:]
		}
		p, _, _ := loaded(t, text)
		areas := []native.Area{native.AreaThunderbolt, native.AreaRDMA}
		s, err := p.Facts.Snapshot(t.Context(), areas...)
		if problems := s.Check(areas); err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		for _, port := range portsOf(s) {
			for _, peer := range port.Peers {
				_, _ = port.Chain(peer) // never a panic
			}
		}
	})
}

func portsOf(s native.Snapshot) []native.Port {
	if s.Thunderbolt == nil {
		return nil
	}
	return s.Thunderbolt.Ports
}

// wrong makes a value of bytes: a text, data, a number or a list.
func wrong(b []byte) any {
	var wide [8]byte
	copy(wide[:], b)
	n := int64(binary.LittleEndian.Uint64(wide[:]))
	switch b[0] % 6 {
	case 0:
		return n
	case 1:
		return string(b)
	case 2:
		return append([]byte{}, b...)
	case 3:
		return []any{n, string(b)}
	case 4:
		return map[string]any{"CurrentPowerState": n}
	}
	return b[0]%2 == 0
}
