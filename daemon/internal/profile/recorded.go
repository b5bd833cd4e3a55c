package profile

import "fulmen/daemon/api"

// recordedGPU takes what the scenario records of the GPU.
func (p *Profiler) recordedGPU(t *task) *api.Error {
	tflops, rate, ok := p.cfg.Scenario.GPU()
	if !ok {
		return api.Errorf(api.ReasonNotInScenario, string(p.cfg.Node), "The scenario records nothing of this Mac's GPU.")
	}
	now := p.conditions(t.ctx)
	now.value.MLXVersion = "" // it was not this machine's that gave these numbers
	p.mu.Lock()
	value := api.GPUProfile{Device: api.MLXDeviceMetal, FP16TFLOPS: &tflops, MemoryBytesPerS: &rate, Conditions: now.value}
	value.MeasuredAt = p.date(p.gpuKey())
	value.History = p.last.History[:0:0]
	p.last = value
	p.mu.Unlock()
	why := absent(value, now.unknown)
	for field, reason := range why {
		if reason == api.ReasonNotMeasured {
			why[field] = api.ReasonNotInScenario
		}
	}
	if err := p.cfg.Scenario.Put(api.KindGPUProfile, "", value, why); err != nil {
		return api.AsError(err)
	}
	return nil
}
