package main

import (
	"fmt"
	"os"
)

// comparison is an operation that mlxbridge and MLX Python both do.
type comparison struct {
	name, operation string
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
	return startServer(b.ctx, "mlxops.py", append([]string{"PYTHONPATH=build/mlx/current"}, blas...), b.python, "cmd/internal/bench/mlxops.py")
}

// bridgeServer starts mlxbridge, with an environment.
func (b *run) bridgeServer(name string, environment []string) (*server, error) {
	program, err := b.built("./cmd/internal/bench/mlxops")
	if err != nil {
		return nil, err
	}
	return startServer(b.ctx, name, environment, program)
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
	ours, err := b.bridgeServer("mlxops", blas)
	if err != nil {
		return err
	}
	defer ours.close()
	all := []comparison{
		{"add of 16 elements, evaluated", "add16", 5000, new(0.9)},
		{"add of 16 elements, graph only", "build16", 50000, nil},
		{"matmul float32, n = 1024", "matmul1024", 6, new(1.02)},
		{"sum float32, 256 MiB", "sum256", 2, new(1.02)},
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
		if err := b.pairs(c.name, ours, theirs, c.operation, c.count, len(all)-i, row); err != nil {
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
	with, err := b.bridgeServer("mlxops", blas)
	if err != nil {
		return err
	}
	defer with.close()
	without, err := b.bridgeServer("mlxops without OpenBLAS", nil)
	if err != nil {
		return err
	}
	defer without.close()
	return b.pairs("OpenBLAS", without, with, "matmul1024", 1, 1, func(first, second []float64) []Row {
		return []Row{newRow("OpenBLAS, matmul float32, n = 1024", Median(Ratios(first, second)), "times as fast", Higher, nil,
			"the BLAS of MLX's wheel", "interleaved pairs of 1 operation")}
	})
}
