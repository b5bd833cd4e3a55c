package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"fulmen/cmd/internal/bench/stats"
)

// deadline bounds the whole of make bench.
const deadline = 45 * time.Minute

func main() {
	out := flag.String("out", "build/bench.json", "where the numbers go")
	program := flag.String("worker", "build/bin/fulmen-rank", "the worker")
	only := flag.String("only", "", "one group of rows alone: cgo, python, blas, lifecycle, daemon, measure, watched, cluster, job, jaccl, dashboard")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, deadline)
	rows, err := bench(ctx, *program, *only)
	cancel()
	stop()
	if err == nil {
		printTable(os.Stdout, rows)
		err = write(*out, rows)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make bench:", err)
		os.Exit(1)
	}
	fmt.Println("\nwritten to", *out)
}

// bench runs everything, or one group.
func bench(ctx context.Context, program, only string) ([]Row, error) {
	folder, err := os.MkdirTemp("", "fulmen-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	ours := filepath.Join(folder, "mlxops")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", ours, "./cmd/internal/bench/mlxops").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, text)
	}
	info, err := workerInfo(ctx, program)
	if err != nil {
		return nil, err
	}
	b := &run{ctx: ctx, ours: ours, worker: program, python: "build/tools/bin/python3"}
	if info.BLAS.Name == "openblas" {
		b.blas = []string{"LD_PRELOAD=" + info.BLAS.Path}
	}
	ran := false
	for _, group := range []struct {
		name string
		run  func() error
	}{
		{"cgo", b.cgo}, {"python", b.againstPython}, {"blas", b.blasGain}, {"lifecycle", b.lifecycle},
		{"daemon", b.daemonRows}, {"measure", b.measureRows}, {"watched", b.watchedRows}, {"cluster", b.clusterRows}, {"job", b.jobRows}, {"jaccl", b.jacclRows},
		{"dashboard", b.dashboardRows},
	} {
		if only != "" && only != group.name {
			continue
		}
		ran = true
		if err := group.run(); err != nil {
			return nil, err
		}
	}
	if !ran {
		return nil, fmt.Errorf("-only: there is no group %q", only)
	}
	return b.rows, nil
}

// run collects rows.
type run struct {
	ctx                  context.Context
	ours, worker, python string
	blas                 []string // puts the worker's BLAS before MLX's own
	rows                 []Row
}

func (b *run) cgo() error {
	fmt.Fprintln(os.Stderr, "bench: calls into C")
	values, err := cgoCalls(b.ctx, 15)
	if err != nil {
		return err
	}
	b.rows = append(b.rows, newRow("cgo call", stats.Median(values), "ns", Lower, nil, "", "an empty C function, runs of 0.1 s"))
	return nil
}

// comparison is an operation that mlxbridge and MLX Python both do.
type comparison struct {
	name, operation string
	count, rounds   int
	goal            float64 // 0: reported only
}

func (b *run) againstPython() error {
	if _, err := os.Stat(b.python); err != nil {
		fmt.Fprintln(os.Stderr, "bench: no Python that MLX has a wheel for (3.10 to 3.14): nothing to compare with")
		return nil
	}
	ours, err := startServer(b.ctx, "mlxops", b.blas, b.ours)
	if err != nil {
		return err
	}
	defer ours.close()
	theirs, err := startServer(b.ctx, "mlxops.py", append([]string{"PYTHONPATH=build/mlx/current"}, b.blas...), b.python, "cmd/internal/bench/mlxops.py")
	if err != nil {
		return err
	}
	defer theirs.close()
	for _, c := range []comparison{
		{"add of 16 elements, evaluated", "add16", 5000, 41, 0.9},
		{"add of 16 elements, graph only", "build16", 50000, 41, 0},
		{"matmul float32, n = 1024", "matmul1024", 6, 41, 1.02},
		{"sum float32, 256 MiB", "sum256", 2, 41, 1.02},
	} {
		fmt.Fprintln(os.Stderr, "bench:", c.name)
		first, second, err := pairs(ours, theirs, c.operation, c.count, c.rounds)
		if err != nil {
			return err
		}
		var goal *float64
		if c.goal != 0 {
			goal = &c.goal
		}
		b.rows = append(b.rows, newRow(c.name, stats.Median(stats.Ratios(first, second)), "ratio of times", Lower, goal,
			fmt.Sprintf("MLX Python, %.3g us", stats.Median(second).Median*1e6),
			fmt.Sprintf("interleaved pairs of %d operations, the same MLX and BLAS", c.count)))
	}
	return nil
}

func (b *run) blasGain() error {
	if b.blas == nil {
		return nil
	}
	fmt.Fprintln(os.Stderr, "bench: OpenBLAS")
	with, err := startServer(b.ctx, "mlxops", b.blas, b.ours)
	if err != nil {
		return err
	}
	defer with.close()
	without, err := startServer(b.ctx, "mlxops without OpenBLAS", nil, b.ours)
	if err != nil {
		return err
	}
	defer without.close()
	first, second, err := pairs(without, with, "matmul1024", 1, 11)
	if err != nil {
		return err
	}
	b.rows = append(b.rows, newRow("OpenBLAS, matmul float32, n = 1024", stats.Median(stats.Ratios(first, second)), "times as fast", Higher, nil,
		"the BLAS of MLX's wheel", "interleaved pairs of 1 operation"))
	return nil
}

// lifecycle measures how the worker starts and ends.
func (b *run) lifecycle() error {
	fmt.Fprintln(os.Stderr, "bench: start and end of the worker")
	var starts, pythons, ends []float64
	for range 21 {
		took, err := startTime(b.ctx, nil, b.worker, "info")
		if err != nil {
			return fmt.Errorf("%s info: %w", b.worker, err)
		}
		starts = append(starts, took)
		if _, err := os.Stat(b.python); err == nil {
			took, err := startTime(b.ctx, []string{"PYTHONPATH=build/mlx/current"}, b.python, "-c", "import mlx.core")
			if err != nil {
				return fmt.Errorf("python: %w", err)
			}
			pythons = append(pythons, took)
		}
		took, err = endingTime(b.ctx, b.worker)
		if err != nil {
			return fmt.Errorf("%s gpu: %w", b.worker, err)
		}
		ends = append(ends, took)
	}
	if len(pythons) == len(starts) {
		b.rows = append(b.rows, newRow("start of the worker to its answer to info", stats.Median(stats.Ratios(starts, pythons)), "ratio of times", Lower, nil,
			fmt.Sprintf("python3 -c 'import mlx.core', %.3g ms", stats.Median(pythons).Median*1e3), "interleaved pairs"))
	}
	second := 1000.0
	b.rows = append(b.rows, newRow("SIGTERM to the end of a computing worker", stats.Median(ends), "ms", Lower, &second, "", "a worker in a matrix product"))
	return nil
}
