package history

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// AddGPU makes the value of a GPU's next document: the new result with what was
// known before as its history. The best and the median are of those results that
// were made with the same system, MLX and BLAS.
func AddGPU(now, before api.GPUProfile) api.GPUProfile {
	now.History = slices.Clone(before.History)
	if r, ok := gpuResult(before); ok {
		now.History = slices.Insert(now.History, 0, r)
	}
	now.History = now.History[:min(len(now.History), api.HistoryLength)]
	newest, ok := gpuResult(now)
	if !ok {
		return now
	}
	alike := []api.GPUResult{newest}
	for _, r := range now.History {
		if r.Conditions.OSBuild == newest.Conditions.OSBuild && r.Conditions.MLXVersion == newest.Conditions.MLXVersion &&
			r.Conditions.BLAS == newest.Conditions.BLAS {
			alike = append(alike, r)
		}
	}
	best, usual := newest, newest
	best.FP16TFLOPS = slices.MaxFunc(alike, byCompute).FP16TFLOPS
	best.MemoryBytesPerS = slices.MaxFunc(alike, byMemory).MemoryBytesPerS
	slices.SortFunc(alike, byCompute)
	usual.FP16TFLOPS = alike[len(alike)/2].FP16TFLOPS
	slices.SortFunc(alike, byMemory)
	usual.MemoryBytesPerS = alike[len(alike)/2].MemoryBytesPerS
	now.Best, now.Median = &best, &usual
	return now
}

func byCompute(a, b api.GPUResult) int { return cmp.Compare(a.FP16TFLOPS, b.FP16TFLOPS) }
func byMemory(a, b api.GPUResult) int  { return cmp.Compare(a.MemoryBytesPerS, b.MemoryBytesPerS) }

// gpuResult is what a profile says; false where it has not both numbers.
func gpuResult(p api.GPUProfile) (api.GPUResult, bool) {
	if p.FP16TFLOPS == nil || p.MemoryBytesPerS == nil {
		return api.GPUResult{}, false
	}
	return api.GPUResult{MeasuredAt: p.MeasuredAt, FP16TFLOPS: *p.FP16TFLOPS, MemoryBytesPerS: *p.MemoryBytesPerS, Conditions: p.Conditions}, true
}
