package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestMetricOf(t *testing.T) {
	is := is.New(t)
	out := []byte("BenchmarkX-2   1   100 ns/op   12.5 p99-us   3 up-ratio\n")
	value, err := metricOf(out, "p99-us")
	is.NoErr(err)
	is.Equal(value, 12.5)
	value, err = metricOf(out, "ns/op")
	is.NoErr(err)
	is.Equal(value, 100.0)
	_, err = metricOf(out, "p50-us")
	is.True(err != nil)
	_, err = metricOf(out, "up") // a part of a unit is none
	is.True(err != nil)
}

func TestSkipOf(t *testing.T) {
	is := is.New(t)
	why, skipped := skipOf("goos: linux\nBenchmarkSixteen\n    browser_test.go:140: no Chromium here: deps.sh fetches it\n--- SKIP: BenchmarkSixteen\nPASS\n")
	is.True(skipped)
	is.Equal(why, "no Chromium here: deps.sh fetches it")
	_, skipped = skipOf("BenchmarkX 1 100 ns/op\nPASS\n")
	is.True(!skipped)
}

// The benchmarks that are run, and the units that are read, are those that the packages have.
func TestBenchmarksOfPackages(t *testing.T) {
	for group, g := range goBenches() {
		t.Run(group, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join("../../..", g.folder, "*_test.go"))
			is.New(t).NoErr(err)
			text := ""
			for _, f := range files {
				one, err := os.ReadFile(f)
				is.New(t).NoErr(err)
				text += string(one)
			}
			if !strings.Contains(text, "func "+g.name+"(b *testing.B)") {
				t.Fatalf("%s has no %s", g.folder, g.name)
			}
			for _, m := range g.metrics {
				unit := m.unit[strings.LastIndex(strings.TrimSuffix(m.unit, "-us"), "-")+1:] // path-up-ratio is put together
				if unit != "ns/op" && !strings.Contains(text, unit+`"`) {
					t.Errorf("%s reports no %s", g.name, m.unit)
				}
			}
		})
	}
}
