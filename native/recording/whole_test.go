package recording_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/recording"
	"fulmen/native/sim/scenario"
)

// Whatever a recording of a whole Mac says of its names, versions and switches, what is made
// of it can be written and read, or is refused.
func TestOddRecordingsOfWholeMacs(t *testing.T) {
	text := read(t, "../darwin/testdata/recording.json")
	for _, c := range []struct{ name, old, new string }{
		{"an interface without a proper name", `"name": "en0"`, `"name": "e n/0"`},
		{"an interface twice", `"name": "en0"`, `"name": "en2"`},
		{"a version of letters", `"kern.osproductversion": "26.2"`, `"kern.osproductversion": "twenty"`},
		{"no version", `"kern.osproductversion": "26.2"`, `"kern.osproductversion": ""`},
		{"a build of signs", `"kern.osversion": "25C56"`, `"kern.osversion": "25 C'56"`},
		{"an older system that has devices", `"kern.osproductversion": "26.2"`, `"kern.osproductversion": "26.1"`},
		{"a chip of two lines", `"machdep.cpu.brand_string": "Apple M3 Ultra"`, `"machdep.cpu.brand_string": "Apple\n\"M3\""`},
		{"a bridge without a proper name", `"bridge0": {`, `"bridge 0": {`},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			changed := strings.ReplaceAll(string(text), c.old, c.new)
			is.True(changed != string(text))
			is.True(json.Valid([]byte(changed)))
			made, _, err := recording.Rebuild("mac", []recording.File{{Name: "mac.json", Data: []byte(changed)}})
			if err != nil {
				t.Log(err)
				return
			}
			out, err := recording.Format(made)
			is.NoErr(err)
			if _, err = scenario.Parse("mac.toml", out); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}
