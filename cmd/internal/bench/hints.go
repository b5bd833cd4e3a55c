package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"fulmen/cmd/internal/bench/stats"
)

const (
	// hints is how many changes of the machine are timed in a round.
	hints = 700
	// callbacks is how many changes of the simulated macOS are timed in a round.
	callbacks = 200
	// hintRounds is how often; the worst of a round decide its p99.
	hintRounds = 3
	// hintGoal is the p99 in milliseconds of a change's way to its document.
	hintGoal = 10.0
)

// hintMetric is what a benchmark of changes reports, in microseconds.
type hintMetric struct {
	unit, name string
	hasGoal    bool
}

// hintRows measure the way from a change of the machine to its document, at a
// watcher of the ledger and at a client.
func (b *run) hintRows() error {
	fmt.Fprintln(os.Stderr, "bench: from a change of the machine to its document, for two minutes")
	err := b.changeRows(hints, hintRounds, fmt.Sprintf("%d changes of a Mac in memory a round, 3 areas in turn", hints), []hintMetric{
		{"watcher-p50-us", "change to document, p50", false},
		{"watcher-p99-us", "change to document, p99", true},
		{"client-p50-us", "change to client, same node, p50", false},
		{"client-p99-us", "change to client, same node, p99", true},
	}, "-bench", "^BenchmarkHint$", "./daemon")
	if err != nil || runtime.GOOS != "linux" {
		return err
	}
	// The same way from a callback on, through the C for macOS. The simulated
	// frameworks are for Linux alone.
	fmt.Fprintln(os.Stderr, "bench: from a callback of the simulated macOS to its document, for two minutes")
	return b.changeRows(callbacks, hintRounds, fmt.Sprintf("%d changes of a lane's speed a round, over simulated frameworks", callbacks), []hintMetric{
		{"document-p50-us", "callback of macOS to document, p50", false},
		{"document-p99-us", "callback of macOS to document, p99", true},
	}, "-tags", "darwinsim", "-bench", "^BenchmarkOverDarwin$", "./daemon/internal/facts")
}

// changeRows runs a benchmark of so many changes some times, and makes rows of
// what it reports.
func (b *run) changeRows(changes, rounds int, method string, metrics []hintMetric, arguments ...string) error {
	command := exec.CommandContext(b.ctx, "go", append([]string{"test", "-run", "^$", "-benchtime", strconv.Itoa(changes) + "x",
		"-count", strconv.Itoa(rounds)}, arguments...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -bench: %w\n%s", err, out)
	}
	for _, metric := range metrics {
		values, err := metricOf(out, metric.unit, rounds)
		if err != nil {
			return err
		}
		for i := range values {
			values[i] /= 1e3
		}
		var goal *float64
		if metric.hasGoal {
			goal = new(hintGoal)
		}
		b.rows = append(b.rows, newRow(metric.name, stats.Quantile(values, 0.5), "ms", Lower, goal, "", method))
	}
	return nil
}
