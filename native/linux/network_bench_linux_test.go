package linux

import (
	"os"
	"testing"

	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkNetwork is one reading of the network, as after every hint.
func BenchmarkNetwork(b *testing.B) {
	t := tree{proc: os.DirFS("/proc"), sys: os.DirFS("/sys"), etc: os.DirFS("/etc")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.network(dumpTables); err != nil {
			b.Fatal(err)
		}
	}
}
