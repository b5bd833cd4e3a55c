package main

import (
	"fmt"
	"os"
	"strings"
)

// comparison is an operation that MLX Python and a benchmark of mlxbridge both do.
type comparison struct {
	name, benchmark string
	count           int
	goal            *float64 // nil: reported only
}

// blas puts the worker's BLAS before MLX's own, where it has another.
func (b *run) blas() ([]string, error) {
	info, err := workerInfo(b.ctx, b.worker)
	if err != nil || info.BLAS.Name != "openblas" {
		return nil, err
	}
	return []string{"LD_PRELOAD=" + info.BLAS.Path}, nil
}

// pythonServer starts MLX Python, with the worker's BLAS.
func (b *run) pythonServer() (*server, error) {
	if _, err := os.Stat(b.python); err != nil {
		return nil, errNotMeasured("no Python that MLX has a wheel for (3.10 to 3.14): nothing to compare with")
	}
	blas, err := b.blas()
	if err != nil {
		return nil, err
	}
	return startServer(b.ctx, append([]string{"PYTHONPATH=build/mlx/current"}, blas...), b.python, "cmd/internal/bench/mlxops.py")
}

// bridge runs a benchmark of mlxbridge, with an environment.
func (b *run) bridge(program, benchmark string, environment []string) runs {
	return func(count int) (float64, error) {
		g := goBench{folder: "mlxbridge", name: benchmark, each: fmt.Sprintf("%dx", count)}
		out, err := b.benchmark(g, program, environment)
		if err != nil {
			return 0, err
		}
		took, err := metricOf(out, "ns/op")
		return took / 1e9, err
	}
}

func (b *run) againstPython() error {
	theirs, err := b.pythonServer()
	if err != nil {
		return err
	}
	defer theirs.close()
	blas, err := b.blas()
	if err != nil {
		return err
	}
	program, err := b.compiled(goBench{folder: "mlxbridge"})
	if err != nil {
		return err
	}
	all := []comparison{
		{"add of 16 elements, evaluated", "BenchmarkAdd16", 5000, new(0.9)},
		{"add of 16 elements, graph only", "BenchmarkBuild16", 50000, nil},
		{"matmul float32, n = 1024", "BenchmarkMatMul1024", 6, new(1.02)},
		{"sum float32, 256 MiB", "BenchmarkSum256", 2, new(1.02)},
	}
	for i, c := range all {
		if b.shortest {
			c.count = 1
		}
		row := func(first, second []float64) []Row {
			return []Row{newRow(c.name, Median(Ratios(first, second)), "ratio of times", Lower, c.goal,
				fmt.Sprintf("MLX Python, %.3g us", Median(second).Value*1e6),
				fmt.Sprintf("interleaved pairs of %d operations, the same MLX and BLAS", c.count))}
		}
		python := func(count int) (float64, error) {
			return theirs.do(strings.ToLower(strings.TrimPrefix(c.benchmark, "Benchmark")), count)
		}
		if err := b.pairs(c.name, b.bridge(program, c.benchmark, blas), python, c.count, len(all)-i, row); err != nil {
			return err
		}
	}
	return nil
}

func (b *run) blasGain() error {
	blas, err := b.blas()
	if err != nil {
		return err
	}
	if blas == nil {
		return errNotMeasured("the worker's BLAS is that of MLX's wheel")
	}
	program, err := b.compiled(goBench{folder: "mlxbridge"})
	if err != nil {
		return err
	}
	const product = "BenchmarkMatMul1024"
	return b.pairs("OpenBLAS", b.bridge(program, product, nil), b.bridge(program, product, blas), 1, 1, func(first, second []float64) []Row {
		return []Row{newRow("OpenBLAS, matmul float32, n = 1024", Median(Ratios(first, second)), "times as fast", Higher, nil,
			"the BLAS of MLX's wheel", "interleaved pairs of 1 operation")}
	})
}
