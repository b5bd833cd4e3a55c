package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/nativetest/testkit"
)

// measured are the numbers of a page that shows sixteen Macs of which every
// number moves, by their names in sixteen.load.ts.
func measured(t testing.TB, how string) map[string]float64 {
	t.Helper()
	is := is.New(t)
	out := filepath.Join(t.TempDir(), "found.json")
	vitest := exec.CommandContext(t.Context(), tool("node"), "node_modules/vitest/vitest.mjs", "run", "--config", "browser/load/vitest.config.ts")
	vitest.Dir = ".."
	vitest.Env = append(os.Environ(), "FULMEN_CHROMIUM="+needs(t), "FULMEN_LOAD="+how, "FULMEN_LOAD_OUT="+out, "NO_COLOR=1")
	reported, err := vitest.CombinedOutput()
	t.Logf("%s", reported)
	is.NoErr(err) // the output says which number is too large
	text, err := os.ReadFile(out)
	is.NoErr(err)
	found := map[string]float64{}
	is.NoErr(json.Unmarshal(text, &found))
	return found
}

// The main thread of a page that shows sixteen Macs is free for three quarters of
// the time, and ten minutes of cables and Macs that come and go leave no memory
// behind. FULMEN_SOAK=1 has it run, for a quarter of an hour.
func TestSixteenForLong(t *testing.T) {
	if os.Getenv("FULMEN_SOAK") == "" {
		t.Skip("FULMEN_SOAK is not set")
	}
	is := is.New(t)
	found := measured(t, "soak")
	is.True(found["busy_percent"] > 0)
	is.True(found["heap_last_bytes"] > 0)
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkSixteen measures what the page of sixteen Macs takes of its main
// thread, and how soon it is drawn, in Chromium without a graphics processor.
func BenchmarkSixteen(b *testing.B) {
	how := "bench"
	if testing.Short() {
		how = "shortest"
	}
	for b.Loop() {
		found := measured(b, how)
		b.ReportMetric(found["busy_percent"], "busy-percent")
		b.ReportMetric(found["busy_networks_percent"], "busy-networks-percent")
		b.ReportMetric(found["render_ms"], "render-ms")
		b.ReportMetric(found["pulled_ms"], "pulled-ms")
	}
}
