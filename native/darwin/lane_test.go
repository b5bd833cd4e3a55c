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
