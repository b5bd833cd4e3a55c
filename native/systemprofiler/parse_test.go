package systemprofiler_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/systemprofiler"
)

// A computer behind a hub, which is where a cable's other end is easily lost.
func TestPeerBehindAHub(t *testing.T) {
	is := is.New(t)
	port, ok := parse(t, "testdata/hub.json").Thunderbolt.Port(2)
	is.True(ok)
	is.Equal(port.Status, native.PortPeer)
	is.Equal(len(port.Peers), 1)
	chain, err := port.Chain(port.Peers[0])
	is.NoErr(err)
	is.Equal(len(chain), 1)
	is.Equal(chain[0].Name, "TB5 Hub")
	for _, link := range []*native.Link{port.Negotiated, chain[0].Negotiated, port.Peers[0].Negotiated} {
		is.Equal(link.Speed().String(), "80 Gb/s")
	}
}

// The slowest hop of each way counts, and the speed of a hop that only the hub
// tells is found by what its other devices say.
func TestPathsBehindTwoHubs(t *testing.T) {
	port, _ := parse(t, "testdata/deep.json").Thunderbolt.Port(1)
	for i, want := range []struct{ name, hub, speed string }{{"Mac16,9", "0x301", "40 Gb/s"}, {"studio-linux", "0x1", "80 Gb/s"}} {
		t.Run(want.name, func(t *testing.T) {
			is := is.New(t)
			peer := port.Peers[i]
			is.Equal(peer.Name, want.name)
			is.Equal(peer.Hub, want.hub)
			is.Equal(peer.Negotiated.Speed().String(), want.speed)
		})
	}
}

// The service is known by its number, whatever stands beside it.
func TestRDMAServiceWhateverItsKey(t *testing.T) {
	is := is.New(t)
	for _, portItem := range []int{1, 2} {
		port, _ := parse(t, "testdata/hub.json").Thunderbolt.Port(portItem)
		offered, known := port.Peers[0].Offers(native.ProtocolRDMA)
		is.True(offered)
		is.True(known)
	}
	port, _ := parse(t, "testdata/tb4.json").Thunderbolt.Port(1)
	offered, known := port.Peers[0].Offers(native.ProtocolRDMA)
	is.True(!offered)
	is.True(known)
	port, _ = parse(t, "testdata/odd.json").Thunderbolt.Port(2) // one of its services could not be read
	_, known = port.Peers[0].Offers(native.ProtocolRDMA)
	is.True(!known)
}

// What a receptacle's speed tells of its capability and of its link.
func TestSpeeds(t *testing.T) {
	const connected, idle = "receptacle_connected", "receptacle_no_devices_connected"
	for _, c := range []struct {
		bus, status, speed, mode string
		capability               native.ThunderboltVersion
		link                     string
	}{
		{"thunderboltusb4_bus_0", idle, "Up to 120 Gb/s", "", native.TB5, "down"},
		{"thunderboltusb4_bus_0", idle, "Up to 80 Gb/s", "", native.TB5, "down"},
		{"thunderboltusb4_bus_0", idle, "Up to 40 Gb/s", "", native.TB4, "down"},
		{"thunderbolt_bus_0", idle, "Up to 40 Gb/s", "", native.TB3, "down"},
		{"something_0", idle, "Up to 40 Gb/s", "", "", "down"},
		{"thunderboltusb4_bus_0", idle, "Up to 20 Gb/s", "", "", "down"},
		{"thunderboltusb4_bus_0", connected, "80 Gb/s", "usb_four_v2", native.TB5, "80 Gb/s gen4"},
		{"thunderboltusb4_bus_0", connected, "40 Gb/s", "thunderbolt_three", "", "40 Gb/s gen3"},
		{"thunderboltusb4_bus_0", connected, "40 Gb/s", "usb_four", "", "40 Gb/s gen3"},
		{"thunderboltusb4_bus_0", connected, "40 Gb/s", "usb_four_v2", "", "40 Gb/s "},
		{"thunderboltusb4_bus_0", connected, "20 Gb/s", "usb_four", "", "20 Gb/s "},
		{"thunderboltusb4_bus_0", connected, "10 Gb/s", "", "", "10 Gb/s gen2"},
		{"thunderboltusb4_bus_0", connected, "120/40 Gb/s", "usb_four_v2", native.TB5, "120/40 Gb/s gen4"},
		{"thunderboltusb4_bus_0", connected, "120 Gb/s", "usb_four_v2", native.TB5, "not_supported_by_os"},
		{"thunderboltusb4_bus_0", connected, "Up to 120 Gb/s", "usb_four_v2", native.TB5, "not_supported_by_os"},
		{"thunderboltusb4_bus_0", connected, "33 Gb/s", "usb_four_v2", "", "source_malformed"},
		{"thunderboltusb4_bus_0", connected, "80 Gb/s", "thunderbolt_three", native.TB5, "source_malformed"},
	} {
		t.Run(c.bus+" "+c.speed+" "+c.mode, func(t *testing.T) {
			is := is.New(t)
			items := ""
			if c.status == connected {
				items = fmt.Sprintf(`"_items":[{"mode_key":%q,"route_string_key":"1"}],`, c.mode)
			}
			result, err := systemprofiler.Parse(fmt.Appendf(nil, `{"SPThunderboltDataType":[{%s"_name":%q,"receptacle_1_tag":{"receptacle_id_key":"1","receptacle_status_key":%q,"current_speed_key":%q}}]}`,
				items, c.bus, c.status, c.speed))
			is.NoErr(err)
			is.Equal(problems(result), nil)
			port := result.Thunderbolt.Ports[0]
			is.Equal(port.Capability, c.capability)
			got := port.Unknown["negotiated"].Key()
			switch link := port.Negotiated; {
			case link != nil && link.State == native.LinkDown:
				got = "down"
			case link != nil:
				got = link.Speed().String() + " " + string(link.Generation)
			}
			is.Equal(got, c.link)
		})
	}
}

func TestWhatIsNoRecording(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		notJSON bool
		reports string
	}{
		"text form": {"Thunderbolt/USB4:\n\n    Thunderbolt/USB4 Bus 2:\n", true, "-json"},
		"empty":     {"", true, "-json"},
		"a list":    {"[]", true, "-json"},
		"cut":       {`{"SPThunderboltDataType":[{`, true, "-json"},
		"other":     {`{"SPUSBDataType":[]}`, false, "SPUSBDataType"},
		"no list":   {`{"SPThunderboltDataType":{}}`, false, "no list"},
		"more":      {`{"SPThunderboltDataType":[]} {}`, false, "goes on after"},
		"large":     {strings.Repeat(" ", systemprofiler.MaxBytes+1), false, "at most"},
		"deep":      {strings.Repeat(`{"_items":[`, 20000), true, "-json"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := systemprofiler.Parse([]byte(c.text))
			is.True(err != nil)
			is.Equal(errors.Is(err, systemprofiler.ErrNotJSON), c.notJSON)
			is.True(strings.Contains(err.Error(), c.reports))
		})
	}
}

func TestNoThunderbolt(t *testing.T) {
	for _, text := range []string{`{"SPThunderboltDataType":[]}`, `{"SPThunderboltDataType":[{"Thunderbolt":"no_hardware"}]}`} {
		is := is.New(t)
		result, err := systemprofiler.Parse([]byte(text))
		is.NoErr(err)
		is.Equal(problems(result), nil)
		is.True(result.Thunderbolt.Ports != nil)
		is.Equal(len(result.Thunderbolt.Ports), 0)
	}
}

// A recording of absurd size is cut, and says so.
func TestBounds(t *testing.T) {
	is := is.New(t)
	nested := strings.Repeat(`{"route_string_key":"1","_items":[`, 100) + strings.Repeat(`]}`, 100)
	many := strings.Repeat(`{"route_string_key":"1"},`, 1000) + `{}`
	result, err := systemprofiler.Parse([]byte(`{"SPThunderboltDataType":[{"_name":"thunderboltusb4_bus_0","_items":[` + nested + `]},{"_name":"thunderboltusb4_bus_1","_items":[` + many + `]}]}`))
	is.NoErr(err)
	is.Equal(problems(result), nil)
	is.True(len(result.Notes) <= 65)
	port, _ := result.Thunderbolt.Port(1)
	is.True(len(port.Hubs) <= 17)
	port, _ = result.Thunderbolt.Port(2)
	is.Equal(len(port.Hubs), 256)
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no testdata: ", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		result, err := systemprofiler.Parse(data)
		if err != nil {
			return
		}
		if found := problems(result); found != nil {
			t.Fatal(found)
		}
		if found := systemprofiler.CrossCheck(result.Thunderbolt, result.Thunderbolt); found != nil {
			t.Fatal(found)
		}
	})
}
