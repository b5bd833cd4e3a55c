package liveness

import "fulmen/daemon/api"

// add counts a node that is reached. What it does not know is left out, and
// never counted as nothing.
func add(t *api.Totals, f *facts) {
	t.Nodes++
	t.Simulated = t.Simulated || f.simulated
	if f.memory != nil {
		sum(&t.MemoryTotalBytes, f.memory.TotalBytes)
		sum(&t.MemoryUsedBytes, f.memory.UsedBytes)
	}
	if f.gpu != nil && f.gpu.FP16TFLOPS != nil {
		sum(&t.FP16TFLOPS, f.gpu.FP16TFLOPS)
		sum(&t.MemoryBytesPerS, f.gpu.MemoryBytesPerS)
		t.MeasuredNodes++
	}
	if f.system != nil {
		power := f.system.SystemPowerWatts
		if power == nil {
			power = f.system.PackagePowerWatts
		}
		if power != nil {
			sum(&t.PowerWatts, power)
			t.PowerNodes++
		}
	}
}

// sum adds a number that is known.
func sum[T int64 | float64](total **T, more *T) {
	switch {
	case more == nil:
	case *total == nil:
		*total = new(*more)
	default:
		*total = new(**total + *more)
	}
}
