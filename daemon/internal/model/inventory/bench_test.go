package inventory

import (
	"fmt"
	"path/filepath"
	"testing"

	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkFirstList is from nothing to the list of 10,000 files in 200 repositories of
// Hugging Face's cache; again is the list after it, where nothing has changed.
func BenchmarkFirstList(b *testing.B) {
	cache, repositories := b.TempDir(), 200
	if testing.Short() {
		repositories = 2
	}
	for n := range repositories {
		repo := filepath.Join(cache, fmt.Sprintf("models--org--model-%d", n))
		hubFile(b, repo, revision, "config.json", config, false)
		for file := range 49 {
			hubFile(b, repo, revision, fmt.Sprintf("model-%05d-of-00049.safetensors", file+1), safetensors(n*49+file), true)
		}
		write(b, filepath.Join(repo, "refs", "main"), revision)
	}
	places := Places{Home: b.TempDir(), HubCache: cache}
	listed := func(i *Inventory) {
		b.Helper()
		if models := i.List().Models; len(models) != repositories || models[0].FileCount != 50 || models[0].Complete == nil || !*models[0].Complete {
			b.Fatalf("%d models, the first %+v", len(models), models[:min(1, len(models))])
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			i := Open(places)
			listed(i)
			if err := i.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N), "first-ms")
	})
	b.Run("again", func(b *testing.B) {
		i := Open(places)
		defer i.Close()
		listed(i)
		for b.Loop() {
			listed(i)
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N), "again-ms")
	})
}
