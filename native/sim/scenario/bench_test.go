package scenario

import (
	"testing"

	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkLoadSixteen is the largest shipped file, read and checked.
func BenchmarkLoadSixteen(b *testing.B) {
	for b.Loop() {
		if _, err := Load("sixteen"); err != nil {
			b.Fatal(err)
		}
	}
}
