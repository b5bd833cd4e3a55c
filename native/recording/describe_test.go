package recording_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/recording"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every kind is recognised by what it holds; a name is not needed.
func TestDescribe(t *testing.T) {
	for file, c := range map[string]struct{ kind, holds string }{
		"../systemprofiler/testdata/hub.json":   {recording.KindThunderbolt, `"name":"TB5 Hub"`},
		"../networksetup/testdata/ports.txt":    {recording.KindHardwarePorts, `"receptacle":12`},
		"../networksetup/testdata/order.txt":    {recording.KindServiceOrder, `"name":"Fulmen Thunderbolt 2"`},
		"../sim/scenario/shipped/hub-3.toml":    {recording.KindScenario, `"macbook-1"`},
		"../networksetup/testdata/odd.txt":      {recording.KindHardwarePorts, `"receptacle":2`},
		"../sim/scenario/shipped/ring-5.toml":   {recording.KindScenario, `"title":"Five M3 Ultra`},
		"../systemprofiler/testdata/intel.json": {recording.KindThunderbolt, `"tb3"`},
	} {
		for _, name := range []string{file, "-"} {
			t.Run(name+" "+filepath.Base(file), func(t *testing.T) {
				is := is.New(t)
				kind, facts, _, err := recording.Describe(name, append([]byte("\ufeff\n"), read(t, file)...))
				is.NoErr(err)
				is.Equal(kind, c.kind)
				text, err := json.Marshal(facts)
				is.NoErr(err)
				is.True(strings.Contains(string(text), c.holds))
			})
		}
	}
}

// A list in another language has none of the words that tell it.
func TestDescribeAnotherLanguage(t *testing.T) {
	is := is.New(t)
	kind, _, notes, err := recording.Describe("-", []byte("Hardware-Anschluss: Thunderbolt 2\nGerät: en2\nEthernet-Adresse: 02:00:5e:10:00:03\n"))
	is.NoErr(err)
	is.Equal(kind, recording.KindHardwarePorts)
	is.True(len(notes) > 0)
}

// What is clearly meant to be of one kind fails with that kind's own reason;
// the rest with the list of kinds.
func TestDescribeFails(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		unknown bool
		reports string
	}{
		"text form":     {"Thunderbolt/USB4:\n  Thunderbolt/USB4 Bus 2:\n", false, "system_profiler -json"},
		"other chapter": {`{"SPUSBDataType":[]}`, false, "SPUSBDataType"},
		"x.toml":        {"[[mac", false, "x.toml"},
		"prose":         {"nothing of the kind\n", true, "networksetup -listallhardwareports"},
		"empty":         {"", true, recording.KindScenario},
		"binary":        {"\x00\x01\x02\xff", true, recording.KindServiceOrder},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, _, _, err := recording.Describe(name, []byte(c.text))
			is.True(err != nil)
			is.Equal(errors.Is(err, recording.ErrUnknown), c.unknown)
			is.True(strings.Contains(err.Error(), c.reports))
		})
	}
}

func FuzzDescribe(f *testing.F) {
	for _, text := range []string{`{"SPThunderboltDataType":[{"_name":"thunderboltusb4_bus_0"}]}`, "Hardware Port: Thunderbolt 1\nDevice: en2\n",
		"(1) Wi-Fi\n(Hardware Port: Wi-Fi, Device: en0)\n", "title = \"x\"\n[[mac]]\nname = \"a\"\n", ""} {
		f.Add("-", []byte(text))
		f.Add("x.toml", []byte(text))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		kind, facts, _, err := recording.Describe(name, data)
		if (err == nil) != (facts != nil) || err == nil && kind == "" {
			t.Fatalf("%q, %v, %v", kind, facts, err)
		}
		if _, err := json.Marshal(facts); err != nil {
			t.Fatal(err)
		}
	})
}
