package linux

import (
	"testing"

	"fulmen/native/nativetest/benchmarks"
)

func TestBenchmarks(t *testing.T) { benchmarks.Once(t) }

// BenchmarkNetwork is one reading of the network, as after every hint.
func BenchmarkNetwork(b *testing.B) {
	var known devices
	var kernel dumps
	t := tree{proc: newKernelFiles("/proc"), sys: newKernelFiles("/sys"), etc: newKernelFiles("/etc")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.network(kernel.tables, &known); err != nil {
			b.Fatal(err)
		}
	}
}
