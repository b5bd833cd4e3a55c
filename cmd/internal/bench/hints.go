package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"fulmen/cmd/internal/bench/stats"
)

const (
	// hints is how many changes of the machine are timed in a round.
	hints = 700
	// hintRounds is how often; the worst of a round's 700 decide its p99.
	hintRounds = 3
	// hintGoal is the p99 in milliseconds of a change's way to its document.
	hintGoal = 10.0
)

// hintRows measure the way from a change of the machine to its document, at a
// watcher of the ledger and at a client.
func (b *run) hintRows() error {
	fmt.Fprintln(os.Stderr, "bench: from a change of the machine to its document, for two minutes")
	command := exec.CommandContext(b.ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkHint$",
		"-benchtime", strconv.Itoa(hints)+"x", "-count", strconv.Itoa(hintRounds), "./daemon")
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -bench: %w\n%s", err, out)
	}
	goal := hintGoal
	for _, metric := range []struct {
		unit, name string
		goal       *float64
	}{
		{"watcher-p50-us", "change to document, p50", nil},
		{"watcher-p99-us", "change to document, p99", &goal},
		{"client-p50-us", "change to client, same node, p50", nil},
		{"client-p99-us", "change to client, same node, p99", &goal},
	} {
		values, err := metricOf(out, metric.unit, hintRounds)
		if err != nil {
			return err
		}
		for i := range values {
			values[i] /= 1e3
		}
		b.rows = append(b.rows, newRow(metric.name, stats.Quantile(values, 0.5), "ms", Lower, metric.goal, "",
			fmt.Sprintf("%d changes of a Mac in memory a round, 3 areas in turn", hints)))
	}
	return nil
}
