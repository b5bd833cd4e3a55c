package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
)

// spreadLimit is how far the median may lie above the best run. An idle machine
// stays under 0.05; beyond this limit the number is a matter of luck.
const spreadLimit = 0.25

// plausible refuses a result without the two numbers that a profile is for, or
// with one that cannot be.
func plausible(g worker.GPU) error {
	if g.Device.Type != "gpu" && g.Device.Type != "cpu" {
		return fmt.Errorf("device type %.20q", g.Device.Type)
	}
	half := false
	for _, m := range g.MatMul {
		if !positive(m.SpeedTFLOPS) {
			return fmt.Errorf("%v TFLOPS in %.20s", m.SpeedTFLOPS, m.DType)
		}
		half = half || m.DType == "float16"
	}
	if !half {
		return fmt.Errorf("no product of float16 matrices")
	}
	if len(g.Bandwidth) == 0 {
		return fmt.Errorf("no memory bandwidth")
	}
	for _, b := range g.Bandwidth {
		if !positive(b.ReadBytesPerS) || b.ReadBytesPerS > 1e18 || b.BufferBytes > math.MaxInt64 {
			return fmt.Errorf("%v bytes per second over %d bytes", b.ReadBytesPerS, b.BufferBytes)
		}
	}
	return nil
}

func positive(f float64) bool { return f > 0 && !math.IsInf(f, 1) }

// fromWorker turns a plausible result into the value of the document.
func fromWorker(g worker.GPU, now api.MeasureConditions) api.GPUProfile {
	v := api.GPUProfile{Device: device(g.Device), DeviceName: g.Device.Name, TookS: g.ElapsedS, Conditions: now}
	v.Conditions.MLXVersion = g.MLXVersion
	if g.BLAS != nil {
		v.Conditions.BLAS = g.BLAS.Name
	}
	for _, m := range g.MatMul {
		speed, t := m.SpeedTFLOPS, timing(m.Timing)
		switch m.DType {
		case "float16":
			v.FP16TFLOPS, v.FP16Timing, v.MatrixSize = &speed, &t, m.N
		case "float32":
			v.FP32TFLOPS, v.FP32Timing = &speed, &t
		}
	}
	// A CPU converts float16 as it sums it, so the best of the types is what
	// its memory gives.
	best := slices.MaxFunc(g.Bandwidth, func(a, b worker.Bandwidth) int {
		if a.ReadBytesPerS < b.ReadBytesPerS {
			return -1
		}
		return 1
	})
	rate, t := int64(math.Round(best.ReadBytesPerS)), timing(best.Timing)
	v.MemoryBytesPerS, v.MemoryTiming, v.BufferBytes = &rate, &t, int64(best.BufferBytes)
	return v
}

// device is the kind of an MLX device. Metal calls its architectures applegpu.
func device(d worker.Device) api.MLXDevice {
	switch {
	case d.Type == "cpu":
		return api.MLXDeviceCPU
	case strings.HasPrefix(d.Architecture, "applegpu"):
		return api.MLXDeviceMetal
	}
	return api.MLXDeviceCUDA
}

func timing(t worker.Timing) api.Timing {
	return api.Timing{Runs: t.Runs, WarmUpS: t.WarmUpS, SpreadRatio: t.SpreadRatio}
}

// unstable reports whether runs of one measurement differ too much.
func unstable(v api.GPUProfile) bool {
	for _, t := range []*api.Timing{v.FP16Timing, v.MemoryTiming} {
		if t != nil && t.SpreadRatio > spreadLimit {
			return true
		}
	}
	return false
}

// absent gives the reason for every field of a profile that is not there.
// unknown has those of the circumstances.
func absent(v api.GPUProfile, unknown map[string]api.Reason) map[string]api.Reason {
	out := map[string]api.Reason{}
	add := func(field string, missing bool, why api.Reason) {
		if missing {
			out[field] = why
		}
	}
	for field, missing := range map[string]bool{
		"measured_at": v.MeasuredAt.IsZero(), "device": v.Device == "", "fp16_tflops": v.FP16TFLOPS == nil,
		"fp32_tflops": v.FP32TFLOPS == nil, "memory_bytes_per_s": v.MemoryBytesPerS == nil,
	} {
		add(field, missing, api.ReasonNotMeasured)
	}
	c := v.Conditions
	for field, missing := range map[string]bool{
		"os_build": c.OSBuild == "", "thermal_state": c.ThermalState == "", "power_source": c.PowerSource == "",
		"low_power_mode": c.LowPowerMode == nil,
	} {
		why, ok := unknown[field]
		if !ok {
			why = api.ReasonNotYetRead
		}
		add("conditions."+field, missing, why)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
