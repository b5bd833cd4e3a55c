package profile

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
	"fulmen/daemon/internal/profile/history"
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
	if p.cfg.Scenario != nil {
		return p.recordedGPU(t)
	}
	held, release, fault := p.await(t)
	if fault != nil {
		return fault
	}
	build, mlx := p.cfg.System()
	before := p.conditions(held)
	record := p.cfg.Launch(held, p.command(t))
	preempted := context.Cause(held)
	release()
	after := p.conditions(context.WithoutCancel(t.ctx))
	for _, l := range record.Logs {
		p.cfg.Log.Info("worker", "level", string(l.Level), "text", l.Text)
	}
	var gpu worker.GPU
	fault = explain(record)
	if fault == nil {
		fault = decode(record, &gpu)
	}
	switch {
	case fault == nil:
		p.mu.Lock()
		p.madeWith = madeWith{build, mlx}
		p.mu.Unlock()
		if err := p.gpuMeasured(gpu, before.with(after)); err != nil {
			return api.AsError(err)
		}
	case fault.Code == api.CodeCancelled && t.ctx.Err() == nil && preempted != nil:
		return api.AsError(preempted)
	case fault.Code == api.CodeCancelled:
		return t.causeOf(fault)
	default:
		p.cfg.Log.Error("measurement failed", "reason", string(fault.Data.Reason), "what", record.Sentence,
			"status", record.ExitCode, "signal", record.Signal, "max_rss_bytes", record.MaxRSSBytes, "stderr", record.Stderr.String())
		p.gpuFailed(fault, record)
	}
	return fault
}

// command is the worker to run.
func (p *Profiler) command(t *task) proc.Command {
	deadline := startUp + 3*p.cfg.Duration
	c := proc.Command{
		Who: who, Path: p.cfg.Worker, Env: p.cfg.Env,
		Args:     []string{string(worker.CommandGPU), "-time", p.cfg.Duration.String(), "-deadline", (deadline - grace).String()},
		Deadline: deadline, Silence: p.cfg.Silence,
		Progress: func(done worker.Progress) { p.progress(t, done.Stage, done.DoneRatio) },
	}
	if p.cfg.Device != "" {
		c.Args = append(c.Args, "-device", p.cfg.Device)
	}
	return c
}

// gpuMeasured publishes a result.
func (p *Profiler) gpuMeasured(gpu worker.GPU, now conditions) error {
	p.mu.Lock()
	value := fromWorker(gpu, now.value)
	value.MeasuredAt = p.date(p.gpuKey())
	value = history.AddGPU(value, p.last)
	p.last = value
	p.mu.Unlock()
	for _, code := range workerConditions() {
		p.condition(code, "", false, "")
	}
	p.condition(api.ReasonBLASSlow, "", gpu.BLAS != nil && gpu.BLAS.Name == "reference", "")
	p.condition(api.ReasonResultUnstable, "", unstable(value), "")
	return p.cfg.Documents.Put(api.KindGPUProfile, "", value, absent(value, now.unknown))
}

// gpuFailed publishes why there is no result. What was measured before stays.
func (p *Profiler) gpuFailed(fault *api.Error, record proc.Record) {
	p.mu.Lock()
	p.last.Failure = p.failure(p.gpuKey(), fault, p.last.Failure)
	p.last.Waiting = nil
	value := p.last
	p.mu.Unlock()
	detail := record.Sentence
	if fault.Data.Reason != api.ReasonMLXMissing {
		// The condition has said already of whom it speaks.
		detail = "it" + strings.TrimPrefix(detail, who)
	}
	for _, code := range workerConditions() {
		p.condition(code, "", code == fault.Data.Reason, detail)
	}
	if err := p.cfg.Documents.Put(api.KindGPUProfile, "", value, absent(value, nil)); err != nil {
		p.cfg.Log.Error("the failure could not be published", "error", err)
	}
}

// failure is the next failure of a document; the caller holds mu.
func (p *Profiler) failure(key api.Key, fault *api.Error, before *api.MeasureFailure) *api.MeasureFailure {
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

// condition raises or clears one. Where that fails there is nothing more to do
// than to say so: the measurement itself is not concerned.
func (p *Profiler) condition(code api.Reason, subject string, holds bool, detail string) {
	var err error
	if holds {
		err = p.cfg.Conditions.Raise(code, subject, detail)
	} else {
		err = p.cfg.Conditions.Clear(code, subject)
	}
	if err != nil {
		p.cfg.Log.Error("a condition could not be published", "condition", string(code), "error", err)
	}
}

// conditions are the circumstances, and why some are not known.
type conditions struct {
	value   api.MeasureConditions
	unknown map[string]api.Reason
}

func (p *Profiler) conditions(ctx context.Context) conditions {
	if p.cfg.Circumstances == nil {
		return conditions{}
	}
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
