package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
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
