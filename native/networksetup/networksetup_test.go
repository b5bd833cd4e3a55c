package networksetup_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/networksetup"
)

var update = flag.Bool("update", false, "write the golden files again")

func golden(t *testing.T, name string, facts any, notes []string) {
	t.Helper()
	is := is.New(t)
	is.Equal(native.CheckUnknown(facts), nil)
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	is.NoErr(enc.Encode(map[string]any{"facts": facts, "notes": notes}))
	path := filepath.Join("testdata", name+".golden")
	if *update {
		is.NoErr(os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(got.String(), string(want))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"ports", "odd"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			ports, err := networksetup.ParseHardwarePorts(read(t, "testdata/"+name+".txt"))
			is.NoErr(err)
			golden(t, name, ports, ports.Notes)
		})
	}
	t.Run("order", func(t *testing.T) {
		is := is.New(t)
		order, err := networksetup.ParseServiceOrder(read(t, "testdata/order.txt"))
		is.NoErr(err)
		golden(t, "order", order, order.Notes)
	})
}

// The receptacle is in the name of a Thunderbolt port itself, and in no other's.
func TestPorts(t *testing.T) {
	is := is.New(t)
	ports, err := networksetup.ParseHardwarePorts(read(t, "testdata/ports.txt"))
	is.NoErr(err)
	got := map[string]int{}
	for _, p := range ports.Ports {
		if p.PortNumber != nil {
			got[p.Device] = *p.PortNumber
		}
	}
	is.Equal(got, map[string]int{"en7": 1, "en3": 12})
}

// The line ends of another system change nothing.
func TestLineEnds(t *testing.T) {
	is := is.New(t)
	want, err := networksetup.ParseHardwarePorts(read(t, "testdata/ports.txt"))
	is.NoErr(err)
	got, err := networksetup.ParseHardwarePorts(bytes.ReplaceAll(read(t, "testdata/ports.txt"), []byte("\n"), []byte("\r\n")))
	is.NoErr(err)
	is.Equal(got, want)
}

func TestWhatIsNoList(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "prose": "one\ntwo\nthree\n", "fields": "one: a\ntwo: b\nthree: c\n",
		"large": strings.Repeat("Hardware Port: a\nDevice: en0\n\n", 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := networksetup.ParseHardwarePorts([]byte(text))
			is.True(err != nil)
			is.Equal(errors.Is(err, networksetup.ErrNoPorts), name != "large")
			_, err = networksetup.ParseServiceOrder([]byte(text))
			is.True(err != nil)
			is.Equal(errors.Is(err, networksetup.ErrNoServices), name != "large")
		})
	}
}

func TestRecordings(t *testing.T) {
	folder := os.Getenv("FULMEN_FIXTURES")
	if folder == "" {
		t.Skip("FULMEN_FIXTURES names no folder with recordings of real Macs")
	}
	t.Run("three receptacles", func(t *testing.T) {
		is := is.New(t)
		ports, err := networksetup.ParseHardwarePorts(read(t, filepath.Join(folder, "net", "networksetup_listallhardwareports_m5max_macs_synthetic.txt")))
		is.NoErr(err)
		is.Equal(ports.Notes, nil)
		got := map[int]string{}
		for _, p := range ports.Ports {
			if p.PortNumber != nil {
				got[*p.PortNumber] = p.Device
			}
		}
		is.Equal(got, map[int]string{1: "en1", 2: "en6", 3: "en2"}) // no arithmetic gives these
	})
	t.Run("order", func(t *testing.T) {
		is := is.New(t)
		order, err := networksetup.ParseServiceOrder(read(t, filepath.Join(folder, "net", "networksetup_listnetworkserviceorder_macos15_7.txt")))
		is.NoErr(err)
		is.Equal(order.Notes, nil)
		is.Equal(len(order.Services), 6)
		is.Equal(order.Services[4], networksetup.Service{Name: "Thunderbolt Bridge", HardwarePort: "Thunderbolt Bridge", Device: "bridge0", Enabled: true})
	})
}

func FuzzParseHardwarePorts(f *testing.F) {
	for _, name := range []string{"ports.txt", "odd.txt", "order.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ports, err := networksetup.ParseHardwarePorts(data)
		if err == nil && len(ports.Ports) == 0 {
			t.Fatal("no ports, and no error")
		}
		if found := native.CheckUnknown(ports); found != nil {
			t.Fatal(found)
		}
		seen := map[string]bool{}
		for _, p := range ports.Ports {
			if p.Name == "" || p.Device == "" || seen[p.Device] || p.PortNumber != nil && *p.PortNumber < 1 {
				t.Fatalf("%+v", p)
			}
			seen[p.Device] = true
		}
		if len(ports.Notes) > 65 {
			t.Fatal("too many notes")
		}
	})
}

func FuzzParseServiceOrder(f *testing.F) {
	data, err := os.ReadFile("testdata/order.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		order, err := networksetup.ParseServiceOrder(data)
		if err == nil && len(order.Services) == 0 {
			t.Fatal("no services, and no error")
		}
		for _, s := range order.Services {
			if s.Name == "" || strings.ContainsAny(s.Device, " ,:()") {
				t.Fatalf("%+v", s)
			}
		}
	})
}
