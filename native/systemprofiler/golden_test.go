package systemprofiler_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/systemprofiler"
)

var update = flag.Bool("update", false, "write the golden files again")

// parse reads a recording and holds it to the rules that every answer keeps.
func parse(t *testing.T, path string) systemprofiler.Result {
	t.Helper()
	is := is.New(t)
	data, err := os.ReadFile(path)
	is.NoErr(err)
	result, err := systemprofiler.Parse(data)
	is.NoErr(err)
	is.Equal(problems(result), nil)
	return result
}

// problems lists what no answer may have: an unexplained gap, a peer behind a
// hub that is not there, a receptacle told twice.
func problems(result systemprofiler.Result) []string {
	found := native.CheckUnknown(result.Thunderbolt)
	seen := map[int]bool{}
	for _, port := range result.Thunderbolt.Ports {
		if port.PortNumber < 1 || seen[port.PortNumber] {
			found = append(found, "a receptacle that is none, or twice")
		}
		seen[port.PortNumber] = true
		for _, peer := range port.Peers {
			if _, err := port.Chain(peer); err != nil {
				found = append(found, err.Error())
			}
		}
	}
	return found
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"hub", "deep", "tb4", "intel", "odd"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			result := parse(t, filepath.Join("testdata", name+".json"))
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetIndent("", "  ")
			is.NoErr(enc.Encode(map[string]any{"thunderbolt": result.Thunderbolt, "notes": result.Notes}))
			path := filepath.Join("testdata", name+".golden")
			if *update {
				is.NoErr(os.WriteFile(path, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(path)
			is.NoErr(err)
			is.Equal(got.String(), string(want))
		})
	}
}
