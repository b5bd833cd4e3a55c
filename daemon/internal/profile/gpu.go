package profile

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
	"fulmen/daemon/internal/topology/history"
)

// grace is how much sooner the worker's own deadline comes: it can say in what
// it was.
const grace = startUp / 8

// who is the worker in sentences for people.
const who = "The measuring process"

// workerConditions are the conditions that one measurement raises and the next
// clears.
func workerConditions() []api.Reason {
	return []api.Reason{
		api.ReasonMLXMissing, api.ReasonWorkerCrashed, api.ReasonWorkerAborted, api.ReasonWorkerHung, api.ReasonWorkerOutOfMemory,
	}
}

// measureGPU measures the GPU, or takes what the scenario records of it.
func (p *Profiler) measureGPU(t *task) *api.Error {
	if p.cfg.Recorded != nil {
		return p.recordedGPU(t)
	}
	var with madeWith
	var record proc.Record
	var gpu worker.GPU
	now, fault, over := p.inTurn(t, func(held context.Context) *api.Error {
		with.osBuild, with.mlx = p.cfg.System()
		record = p.cfg.Launch(held, p.command(t))
		if fault := explain(record); fault != nil {
			return fault
		}
		return decode(record, &gpu)
	})
	for _, l := range record.Logs {
		p.cfg.Log.Info("worker", "level", string(l.Level), "text", l.Text)
	}
	switch {
	case over != nil:
		return over
	case fault != nil:
		p.cfg.Log.Error("measurement failed", "reason", string(fault.Data.Reason), "what", record.Sentence,
			"status", record.ExitCode, "signal", record.Signal, "max_rss_bytes", record.MaxRSSBytes, "stderr", record.Stderr)
		p.gpuFailed(fault, record)
		return fault
	}
	p.mu.Lock()
	p.madeWith = with
	p.mu.Unlock()
	return api.AsError(p.gpuMeasured(gpu, now))
}

// command is the worker to run.
func (p *Profiler) command(t *task) proc.Command {
	deadline := startUp + 3*p.cfg.Duration
	return proc.Command{
		Who: who, Path: p.cfg.Worker, Env: p.cfg.Env,
		Args:     []string{string(worker.CommandGPU), "-time", p.cfg.Duration.String(), "-deadline", (deadline - grace).String()},
		Deadline: deadline, Silence: p.cfg.Silence,
		Progress: func(done worker.Progress) { p.progress(t, done.Stage, done.DoneRatio) },
	}
}

// gpuMeasured publishes a result.
func (p *Profiler) gpuMeasured(gpu worker.GPU, now conditions) error {
	p.mu.Lock()
	value := fromWorker(gpu, now.value)
	value.MeasuredAt = p.dateLocked(p.gpuKey())
	value = history.AddGPU(value, p.last)
	p.last = value
	p.mu.Unlock()
	for _, code := range workerConditions() {
		p.cfg.Conditions.Hold(code, "", false, "")
	}
	p.cfg.Conditions.Hold(api.ReasonBLASSlow, "", gpu.BLAS != nil && gpu.BLAS.Name == "reference", "")
	p.cfg.Conditions.Hold(api.ReasonResultUnstable, "", unstable(value), "")
	return p.putGPU(value, now.unknown)
}

// gpuFailed publishes why there is no result.
func (p *Profiler) gpuFailed(fault *api.Error, record proc.Record) {
	detail := record.Sentence
	if fault.Data.Reason != api.ReasonMLXMissing {
		// The condition names its subject already.
		detail = "it" + strings.TrimPrefix(detail, who)
	}
	for _, code := range workerConditions() {
		p.cfg.Conditions.Hold(code, "", code == fault.Data.Reason, detail)
	}
	p.failed(p.gpuKey(), Path{}, fault)
}

// failureLocked is the next failure of a document.
func (p *Profiler) failureLocked(key api.Key, fault *api.Error, before *api.MeasureFailure) *api.MeasureFailure {
	f := api.MeasureFailure{At: p.now(), Reason: fault.Data.Reason, Message: fault.Message, Retries: 1}
	if before != nil {
		f.Retries += before.Retries
	}
	key.Name = failedPrefix + key.Name
	p.stamps[key] = stamp{f.At, p.cfg.Clock.Boot()}
	return &f
}

// failedPrefix tells the stamp of a failure from that of a result.
const failedPrefix = "failed "

// conditions are the circumstances, and why some are not known.
type conditions struct {
	value   api.MeasureConditions
	unknown map[string]api.Reason
}

func (p *Profiler) conditions(ctx context.Context) conditions {
	value, unknown := p.cfg.Circumstances(ctx)
	return conditions{value, unknown}
}

// with joins the circumstances before and after: the worst heat counts, and of
// the rest what was so at the end.
func (c conditions) with(after conditions) conditions {
	order := api.ThermalState("").Values()
	after.value.ThermalState = slices.MaxFunc([]api.ThermalState{c.value.ThermalState, after.value.ThermalState},
		func(a, b api.ThermalState) int {
			return cmp.Compare(slices.Index(order, string(a)), slices.Index(order, string(b)))
		})
	return after
}

// recordedGPU takes what the scenario records of the GPU.
func (p *Profiler) recordedGPU(t *task) *api.Error {
	tflops, rate, ok := p.cfg.Recorded().GPU()
	if !ok {
		return api.Errorf(api.ReasonNotInScenario, string(p.cfg.Node), "The scenario has no measurement of this Mac's GPU.")
	}
	return p.inItsTurn(t, func(now conditions) *api.Error {
		now.value.MLXVersion = "" // it was not this machine's that gave these numbers
		p.mu.Lock()
		value := api.GPUProfile{Device: api.MLXDeviceMetal, FP16TFLOPS: &tflops, MemoryBytesPerS: &rate, Conditions: now.value}
		value.MeasuredAt = p.dateLocked(p.gpuKey())
		value.History = p.last.History[:0:0]
		p.last = value
		p.mu.Unlock()
		return api.AsError(p.putGPU(value, now.unknown))
	})
}
