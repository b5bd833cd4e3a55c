package scenario

import "testing"

// BenchmarkLoadSixteen is the largest shipped file, read and checked.
func BenchmarkLoadSixteen(b *testing.B) {
	for b.Loop() {
		if _, err := Load("sixteen"); err != nil {
			b.Fatal(err)
		}
	}
}
