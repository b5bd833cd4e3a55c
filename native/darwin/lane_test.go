package darwin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

// TestRecordedLanes reads lanes and routers of real machines, where the recordings
// are: no value of theirs is unknown.
func TestRecordedLanes(t *testing.T) {
	folder := os.Getenv("FULMEN_FIXTURES")
	if folder == "" {
		t.Skip("FULMEN_FIXTURES names no folder with recordings of real Macs")
	}
	for _, name := range []string{"switch_port_properties_real.json"} {
		is := is.New(t)
		text, err := os.ReadFile(filepath.Join(folder, "ioreg", name))
		is.NoErr(err)
		var all map[string]any
		is.NoErr(json.Unmarshal(text, &all))
		read := 0
		for what, of := range all {
			properties, ok := fromJSON(listMap(of)["properties"]).(map[string]any)
			if !ok {
				continue
			}
			e := &entry{class: listText(of, "class"), properties: properties}
			t.Run(what, func(t *testing.T) {
				is := is.New(t)
				if e.class == kindPort && isLane(e) {
					_, why := linkOf(e)
					is.Equal(why, native.Reason(""))
				} else if depth, _ := e.number("Depth"); depth > 0 {
					h, ok := hubOf(e, &entry{}, "")
					is.True(ok)
					is.True(h.Name != "" && h.Vendor != "")
				}
			})
			read++
		}
		is.True(read > 0)
	}
}

func TestPlaces(t *testing.T) {
	is := is.New(t)
	nodes := []entry{
		{properties: map[string]any{"acio-parent": []byte{0x41, 0, 0, 0}, "port-location": []byte("back-left\x00")}},
		{properties: map[string]any{"acio-parent": []byte{0x42, 0, 0, 0}, "port-location": "front-right"}},
		{properties: map[string]any{"acio-parent": []byte{0x43, 0, 0}, "port-location": "short"}},
		{properties: map[string]any{"acio-parent": int64(0x44), "port-location": "number"}},
		{properties: map[string]any{"acio-parent": []byte{0x45, 0, 0, 0}, "port-location": []byte{0}}},
	}
	places := placesOf(nodes)
	is.Equal(len(places), 2)
	place, ok := placeOf(&entry{properties: map[string]any{"^AAPL,phandle": []byte{0x41, 0, 0, 0}}}, places)
	is.True(ok)
	is.Equal(place, "back-left")
}

// TestALinkBelowOneOfTwoPorts: where a controller has two and the link hangs from
// neither's lanes, neither is called empty.
func TestALinkBelowOneOfTwoPorts(t *testing.T) {
	is := is.New(t)
	lane := func(id uint64, socket string) entry {
		return entry{id: id, parent: 2, kind: kindPort, properties: map[string]any{
			"Adapter Type": int64(1), "Socket ID": socket, "Current Link Speed": int64(0), "Current Link Width": int64(0),
		}}
	}
	all := []entry{
		{id: 1, kind: kindController}, {id: 2, parent: 1, kind: kindSwitch}, lane(3, "1"), lane(4, "2"),
		{id: 5, parent: 1, kind: kindPeer, properties: map[string]any{"Domain UUID": "x"}},
	}
	for _, p := range thunderbolt(newTree(all), nil).Ports {
		is.Equal(p.Status, native.PortStatus(""))
		is.Equal(p.Peers, nil)
		is.Equal(p.Unknown["peers"].Key(), native.ReasonSourceMalformed.Key())
	}
	all[4].parent = 4
	ports := thunderbolt(newTree(all), nil).Ports
	is.Equal([]native.PortStatus{ports[0].Status, ports[1].Status}, []native.PortStatus{native.PortEmpty, native.PortPeer})
}

// TestThatNoPortCanDoRDMA is known only where each says what it can.
func TestThatNoPortCanDoRDMA(t *testing.T) {
	silent := native.Port{Unknown: native.Reasons{"capability": native.ReasonNoOS}}
	for _, c := range []struct {
		ports []native.Port
		is    *bool
	}{
		{[]native.Port{{Capability: native.TB4}, {Capability: native.TB5}}, new(true)},
		{[]native.Port{{Capability: native.TB4}}, new(false)},
		{[]native.Port{silent, {Capability: native.TB5}}, new(true)},
		{[]native.Port{{Capability: native.TB4}, silent}, nil},
		{nil, new(false)},
	} {
		is := is.New(t)
		r := &native.RDMA{}
		setHardware(c.ports, r)
		is.Equal(r.HardwareCapable, c.is)
		is.Equal(r.Unknown["hardware_capable"] != "", c.is == nil)
	}
}
