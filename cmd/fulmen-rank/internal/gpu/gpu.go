package gpu

import (
	"context"
	"fmt"
	"time"

	"fulmen/cmd/fulmen-rank/internal/machine"
	"fulmen/daemon/api/worker"
	"fulmen/mlxbridge"
)

// Progress hears what is measured now, and how much of all is done, 0 to 1.
type Progress func(stage string, ratio float64)

// Measure measures a device for about total.
func Measure(ctx context.Context, device mlxbridge.Device, total time.Duration, progress Progress) (worker.GPU, error) {
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
	r := run{ctx: ctx, stream: stream, limits: limitsOf(result.Device), progress: progress, steps: 2 * len(types)}
	r.plan = DefaultPlan(total / time.Duration(r.steps))
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
	plan        Plan
	progress    Progress
	step, steps int
}

// time measures one step's repeated work.
func (r *run) time(stage string, work func() error) (worker.Timing, error) {
	timing, err := r.plan.Do(r.ctx, time.Now, func(ratio float64) {
		r.progress(stage, (float64(r.step)+ratio)/float64(r.steps))
	}, work)
	r.step++
	return timing, err
}

// announce names a step before its first measurement.
func (r *run) announce(stage string) {
	r.progress(stage, float64(r.step)/float64(r.steps))
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
			Message: fmt.Sprintf("the device cannot hold a buffer of %d MiB, the smallest that does not fit its caches", minBuffer>>20),
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

const (
	// The sides of matrices that are tried, and how long one product should
	// take. On an M3 Ultra at 23.6 TFLOPS, 8192 takes 47 ms in float16.
	minSide, maxSide = 256, 8192
	productTarget    = 60 * time.Millisecond

	// The sizes of the buffer that is summed, and how long one sum may take.
	minBuffer, maxBuffer = 256 << 20, 2 << 30
	sumTarget            = 300 * time.Millisecond
)

// limits are a device's bounds in bytes; 0 is unknown, and bounds nothing.
type limits struct {
	buffer, memory uint64
}

// fits reports whether count buffers of size bytes are within the limits. Half
// of the memory is left to everybody else.
func (l limits) fits(size uint64, count uint64) bool {
	return (l.buffer == 0 || size <= l.buffer) && (l.memory == 0 || size*count <= l.memory/2)
}

// nextSide tells whether a product with twice the side is worth trying, when
// one with this side took took.
func nextSide(side int, took time.Duration, itemBytes uint64, l limits) bool {
	double := uint64(2 * side)
	return 2*side <= maxSide && 8*took <= 2*productTarget && l.fits(double*double*itemBytes, 3)
}

// bufferBytes is the size of the buffer to sum, when a sum over probe bytes
// took took: a power of two. The smallest is asked for even where it is slow,
// but not where it does not fit; then 0.
func bufferBytes(probe uint64, took time.Duration, l limits) uint64 {
	size := uint64(maxBuffer)
	for size > minBuffer && (!l.fits(size, 1) || time.Duration(float64(took)*float64(size)/float64(probe)) > sumTarget) {
		size /= 2
	}
	if !l.fits(size, 1) {
		return 0
	}
	return size
}
