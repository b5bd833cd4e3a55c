package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"fulmen/cmd/internal/bench/stats"
)

// dashboardRows measures the page of sixteen Macs by its own benchmark.
func (b *run) dashboardRows() error {
	const rounds = 7 // the fewest of which a median has an interval, and one more
	fmt.Fprintln(os.Stderr, "bench: the dashboard of sixteen Macs")
	command := exec.CommandContext(b.ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkSixteen$",
		"-benchtime", "1x", "-count", strconv.Itoa(rounds), "./assets/dashboard/browser")
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -bench: %w\n%s", err, out)
	}
	if strings.Contains(string(out), "SKIP") {
		fmt.Fprintf(os.Stderr, "bench: no page to measure, or no browser:\n%s", out)
		return nil
	}
	for _, metric := range []struct {
		unit, name, shown string
		goal              float64
	}{
		{"busy-percent", "dashboard of 16 Macs, all joined, every number moving: main thread", "% of a core", 25},
		{"busy-networks-percent", "the same with the lines of networks too", "% of a core", 25},
		{"render-ms", "dashboard of 16 Macs: drawn after the page was asked for", "ms", 1000},
	} {
		values, err := metricOf(out, metric.unit, rounds)
		if err != nil {
			return err
		}
		b.rows = append(b.rows, newRow(metric.name, stats.Median(values), metric.shown, Lower, &metric.goal, "", "Chromium without a graphics processor, 1440 x 900"))
	}
	return nil
}
