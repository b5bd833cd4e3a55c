package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api/worker"
)

const (
	// bandwidthGoal is by how many percent a measured bandwidth may differ from
	// iperf3's on a path that has one of its own.
	bandwidthGoal = 5.0
	// refreshGoal is the processor time in milliseconds of a refresh, both ends
	// together, that lets four watched nodes with a path to each other stay within
	// 0.5 % of a core: each takes part in six refreshes, at one end, every 5 min.
	refreshGoal = 0.005 * 300e3 / 3
)

// pathRows compare what paths are measured to give with what iperf3 and ping say
// of them.
func (b *run) pathRows() error {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return errNotMeasured("paths to compare are made of network namespaces, and they need Linux and root")
	}
	return b.goBench(goBenches()["paths"], b.left())
}

// offRow is a row of how far ratios are from 1, either way.
func offRow(m metric, method string, ratios []float64) Row {
	e := Median(ratios)
	percent := func(ratio float64) float64 { return math.Abs(ratio-1) * 100 }
	off := e
	off.Value, off.Low, off.High = percent(e.Value), min(percent(e.Low), percent(e.High)), max(percent(e.Low), percent(e.High))
	if e.Low <= 1 && e.High >= 1 {
		off.Low = 0
	}
	return newRow(m.name, off, "% off", Lower, new(bandwidthGoal), fmt.Sprintf("iperf3 with as many connections; ratio %v, %v to %v", Number(e.Value), Number(e.Low), Number(e.High)), method)
}

const (
	// gpuTime is how long each measurement takes.
	gpuTime = 8 * time.Second
	// gpuShortest is the shortest.
	gpuShortest = 500 * time.Millisecond
	// gpuGoal is by how much a result may differ from MLX Python's, and from the
	// result before, on an idle machine.
	gpuGoal = 0.02
)

// gpuRows compare what the worker measures of the device with what the same
// operations take in MLX Python with the same BLAS, and with itself.
func (b *run) gpuRows() error {
	theirs, err := b.pythonServer()
	if err != nil {
		return err
	}
	defer theirs.close()
	takes := gpuTime
	if b.shortest {
		takes = gpuShortest
	}
	of := map[string]*[2][]float64{} // seconds of an operation: the worker's, MLX Python's
	return b.sample("the device against MLX Python", least+1, b.left(), func(int) error {
		ours, err := measuredOperations(b.ctx, b.worker, takes)
		if err != nil {
			return err
		}
		for name, took := range ours {
			python, err := bestOf(theirs, name, takes/8)
			if err != nil {
				return err
			}
			if of[name] == nil {
				of[name] = &[2][]float64{}
			}
			of[name][0], of[name][1] = append(of[name][0], took), append(of[name][1], python)
		}
		return nil
	}, func() []Row { return deviceRows(of) })
}

// deviceRows are the rows of the operations that are compared, each at the size at which it was measured most often.
func deviceRows(of map[string]*[2][]float64) (rows []Row) {
	for _, what := range gpuOperations() {
		name, times := commonest(of, what)
		rows = append(rows, newRow("device, "+name, Median(Ratios(times[0], times[1])), "ratio of times", Lower, new(1+gpuGoal),
			fmt.Sprintf("MLX Python, %.3g ms", Median(times[1]).Value*1e3), "the best run of a measurement by the worker, and the best of a second in Python, in turn"))
		var apart []float64
		for i := range max(len(times[0])-1, 0) {
			apart = append(apart, math.Abs(times[0][i+1]-times[0][i])/min(times[0][i], times[0][i+1]))
		}
		rows = append(rows, newRow("device, two runs apart, "+name, Median(apart), "ratio", Lower, new(gpuGoal), "the run before", "measurements one after the other"))
	}
	return rows
}

// gpuOperations are the operations that are compared, whatever their size: the
// worker chooses it by how fast the device is.
func gpuOperations() []string { return []string{"matmul:float16:", "sum:float32:"} }

// commonest is the size of an operation that was measured most often, with its times.
func commonest(of map[string]*[2][]float64, operation string) (name string, times [2][]float64) {
	for _, one := range slices.Sorted(maps.Keys(of)) {
		if strings.HasPrefix(one, operation) && len(of[one][0]) > len(times[0]) {
			name, times = one, *of[one]
		}
	}
	return name, times
}

// measuredOperations measures the device, and gives the seconds of each operation
// by its name for mlxops.py.
func measuredOperations(ctx context.Context, program string, takes time.Duration) (map[string]float64, error) {
	var gpu worker.GPU
	out, err := exec.CommandContext(ctx, program, "gpu", "-device", "cpu", "-time", takes.String()).Output()
	if err == nil {
		err = json.Unmarshal(out, &gpu)
	}
	if err != nil {
		return nil, fmt.Errorf("%s gpu: %w", program, err)
	}
	all := map[string]float64{}
	for _, m := range gpu.MatMul {
		all[fmt.Sprintf("matmul:%s:%d", m.DType, m.N)] = m.BestS
	}
	for _, s := range gpu.Bandwidth {
		all[fmt.Sprintf("sum:%s:%d", s.DType, s.BufferBytes)] = s.BestS
	}
	return all, nil
}

// bestOf is the best time of an operation in some time.
func bestOf(s *server, name string, within time.Duration) (float64, error) {
	var all []float64
	until := time.Now().Add(within)
	for time.Now().Before(until) || len(all) < 3 {
		one, err := s.do(name, 1)
		if err != nil {
			return 0, err
		}
		all = append(all, one)
	}
	return slices.Min(all), nil
}
