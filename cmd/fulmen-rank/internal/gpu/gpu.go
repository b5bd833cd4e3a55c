package gpu

import (
	"context"
	"fmt"
	"time"

	"fulmen/cmd/fulmen-rank/internal/machine"
	"fulmen/cmd/fulmen-rank/internal/measure"
	"fulmen/daemon/api/worker"
	"fulmen/mlxbridge"
)

// Progress hears what is measured now, and how much of all is done, 0 to 1.
type Progress func(stage string, ratio float64)

// Measure measures a device for about total.
func Measure(ctx context.Context, device mlxbridge.Device, total time.Duration, tell Progress) (worker.GPU, error) {
	began := time.Now()
	info, err := mlxbridge.Info(device)
	if err != nil {
		return worker.GPU{}, err
	}
	build, err := mlxbridge.Build()
	if err != nil {
		return worker.GPU{}, err
	}
	stream, err := mlxbridge.NewStream(device)
	if err != nil {
		return worker.GPU{}, err
	}
	result := worker.GPU{Device: machine.Device(info), MLXVersion: build.Version}
	types := []mlxbridge.Dtype{mlxbridge.Float16}
	if device.Type == mlxbridge.CPU {
		blas := machine.BLAS(build.BLAS)
		result.BLAS = &blas
		types = append(types, mlxbridge.Float32)
	}
	r := run{ctx: ctx, stream: stream, limits: limitsOf(result.Device), tell: tell, steps: 2 * len(types)}
	r.plan = measure.Default(total / time.Duration(r.steps))
	for _, dtype := range types {
		row, err := r.matMul(dtype)
		if err != nil {
			return result, fmt.Errorf("%v matmul: %w", dtype, err)
		}
		result.MatMul = append(result.MatMul, row)
	}
	for _, dtype := range types {
		row, err := r.bandwidth(dtype)
		if err != nil {
			return result, fmt.Errorf("%v sum: %w", dtype, err)
		}
		result.Bandwidth = append(result.Bandwidth, row)
	}
	result.ElapsedS = time.Since(began).Seconds()
	return result, nil
}

// limitsOf are a device's bounds. A GPU's memory is what it may use without
// being slowed, where it says so.
func limitsOf(device worker.Device) limits {
	l := limits{buffer: device.MaxBufferBytes, memory: device.MemoryBytes}
	if device.WorkingSetBytes != 0 {
		l.memory = device.WorkingSetBytes
	}
	return l
}

// run is one measurement of a device, in steps.
type run struct {
	ctx         context.Context
	stream      *mlxbridge.Stream
	limits      limits
	plan        measure.Plan
	tell        Progress
	step, steps int
}

// time measures one step's repeated work.
func (r *run) time(stage string, work func() error) (worker.Timing, error) {
	timing, err := r.plan.Do(r.ctx, time.Now, func(ratio float64) {
		r.tell(stage, (float64(r.step)+ratio)/float64(r.steps))
	}, work)
	r.step++
	return timing, err
}

// announce names a step before its first measurement.
func (r *run) announce(stage string) {
	r.tell(stage, float64(r.step)/float64(r.steps))
}

// matMul measures products of square matrices of one type.
func (r *run) matMul(dtype mlxbridge.Dtype) (worker.MatMul, error) {
	r.announce(fmt.Sprintf("matmul %v: choosing a size", dtype))
	for side := minSide; ; side *= 2 {
		product, err := newProduct(r.stream, side, dtype)
		if err != nil {
			return worker.MatMul{}, err
		}
		// The first product pays for compiling kernels and touching memory.
		took, err := second(product.run)
		if err == nil && r.ctx.Err() == nil && nextSide(side, took, uint64(dtype.Size()), r.limits) {
			product.close()
			continue
		}
		row := worker.MatMul{DType: dtype.String(), N: side}
		if err == nil {
			row.Timing, err = r.time(fmt.Sprintf("matmul %v, n = %d", dtype, side), product.run)
		}
		product.close()
		if row.BestS > 0 {
			n := float64(side)
			row.SpeedTFLOPS = 2 * n * n * n / row.BestS / 1e12
		}
		return row, err
	}
}

// second times the second of two runs.
func second(work func() error) (time.Duration, error) {
	if err := work(); err != nil {
		return 0, err
	}
	began := time.Now()
	err := work()
	return time.Since(began), err
}

// bandwidth measures sums over a buffer of one type.
func (r *run) bandwidth(dtype mlxbridge.Dtype) (worker.Bandwidth, error) {
	const probe = 64 << 20
	r.announce(fmt.Sprintf("sum %v: choosing a size", dtype))
	took, err := r.probe(probe, dtype)
	if err != nil {
		return worker.Bandwidth{}, err
	}
	size := bufferBytes(probe, took, r.limits)
	if size == 0 {
		return worker.Bandwidth{}, &worker.Error{
			Reason:  worker.ReasonOutOfMemory,
			Message: fmt.Sprintf("the device cannot hold a buffer of %d MiB, the least that is past the caches", minBuffer>>20),
			Remedy:  "close programs that use much memory, then measure again",
		}
	}
	buffer, err := newBuffer(r.stream, size, dtype)
	if err != nil {
		return worker.Bandwidth{}, err
	}
	defer buffer.close()
	row := worker.Bandwidth{DType: dtype.String(), BufferBytes: size}
	row.Timing, err = r.time(fmt.Sprintf("sum %v, %d MiB", dtype, size>>20), buffer.run)
	if row.BestS > 0 {
		row.ReadBytesPerS = float64(size) / row.BestS
	}
	return row, err
}

// probe times the sum over a small buffer.
func (r *run) probe(size uint64, dtype mlxbridge.Dtype) (time.Duration, error) {
	buffer, err := newBuffer(r.stream, size, dtype)
	if err != nil {
		return 0, err
	}
	defer buffer.close()
	return second(buffer.run)
}
