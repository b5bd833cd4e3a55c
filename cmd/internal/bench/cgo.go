package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"

	"fulmen/cmd/internal/bench/stats"
)

// cgoCalls measures the cost of a call into C and back, in nanoseconds, by
// mlxbridge's own benchmark.
func cgoCalls(ctx context.Context, rounds int) ([]float64, error) {
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkCgoCall$",
		"-benchtime", "100ms", "-count", strconv.Itoa(rounds), "./mlxbridge")
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go test -bench: %w\n%s", err, out)
	}
	var values []float64
	for _, found := range regexp.MustCompile(`(?m)^BenchmarkCgoCall\S*\s+\d+\s+([0-9.]+) ns/op`).FindAllSubmatch(out, -1) {
		value, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	if len(values) != rounds {
		return nil, fmt.Errorf("go test -bench printed %d results, not %d:\n%s", len(values), rounds, out)
	}
	return values, nil
}

// fanOut measures 100 watchers by the server's own benchmark.
func (b *run) fanOut() error {
	const rounds = 9
	command := exec.CommandContext(b.ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkFanOut100$",
		"-benchtime", "500ms", "-count", strconv.Itoa(rounds), "./daemon/internal/server")
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -bench: %w\n%s", err, out)
	}
	for _, metric := range []struct {
		unit, name, shown string
		better            Better
	}{
		{"events/s", "events to 100 watchers", "events/s", Higher},
		{"p50-us", "events to 100 watchers, p50", "us", Lower},
		{"p99-us", "events to 100 watchers, p99", "us", Lower},
	} {
		values, err := metricOf(out, metric.unit, rounds)
		if err != nil {
			return err
		}
		b.rows = append(b.rows, newRow(metric.name, stats.Median(values), metric.shown, metric.better, nil, "", "real Unix sockets, as fast as they go"))
	}
	return nil
}

// metricOf reads a benchmark's metric out of what go test printed, once a round.
func metricOf(out []byte, unit string, rounds int) ([]float64, error) {
	var values []float64
	for _, found := range regexp.MustCompile(`([0-9.e+]+) `+unit+`\b`).FindAllSubmatch(out, -1) {
		value, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	if len(values) != rounds {
		return nil, fmt.Errorf("go test -bench printed %d results of %s, not %d:\n%s", len(values), unit, rounds, out)
	}
	return values, nil
}
