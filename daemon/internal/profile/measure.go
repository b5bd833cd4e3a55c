package profile

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
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

// measure does a measurement from beginning to end.
func (p *Profiler) measure(r *run, before conditions) {
	release, fault := p.await(r)
	if fault != nil {
		p.end(r, fault)
		return
	}
	record := p.cfg.Launch(r.ctx, p.command(r))
	release()
	after := p.conditions(context.WithoutCancel(r.ctx))
	for _, l := range record.Logs {
		p.cfg.Log.Info("worker", "level", string(l.Level), "text", l.Text)
	}
	var gpu worker.GPU
	fault = explain(record)
	if fault == nil {
		fault = decode(record, &gpu)
	}
	var err error
	switch {
	case fault == nil:
		err = p.succeeded(gpu, before.with(after))
	case fault.Code == api.CodeCancelled:
		if why, ok := errors.AsType[*api.Error](context.Cause(r.ctx)); ok {
			fault = why
		}
	default:
		p.cfg.Log.Error("measurement failed", "reason", string(fault.Data.Reason), "what", record.Sentence,
			"status", record.ExitCode, "signal", record.Signal, "max_rss_bytes", record.MaxRSSBytes, "stderr", record.Stderr.String())
		p.failed(fault, record)
	}
	if err != nil {
		fault = api.AsError(err)
	}
	p.end(r, fault)
}

// command is the worker to run.
func (p *Profiler) command(r *run) proc.Command {
	deadline := startUp + 3*p.cfg.Duration
	c := proc.Command{
		Who: who, Path: p.cfg.Worker, Env: p.cfg.Env,
		Args:     []string{string(worker.CommandGPU), "-time", p.cfg.Duration.String(), "-deadline", (deadline - grace).String()},
		Deadline: deadline, Silence: p.cfg.Silence,
		Progress: func(done worker.Progress) { p.progress(r, done) },
	}
	if p.cfg.Device != "" {
		c.Args = append(c.Args, "-device", p.cfg.Device)
	}
	return c
}

// progress tells the watchers how far it is.
func (p *Profiler) progress(r *run, done worker.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	item, ratio := r.item(), done.DoneRatio
	if item.DoneRatio != nil {
		ratio = max(ratio, *item.DoneRatio)
	}
	item.Step, item.DoneRatio = done.Stage, &ratio
	r.touch()
}

// end is the last change of a measurement. The document and the conditions are
// published by now, so whoever sees the end sees them too; and whoever asks
// again at the end begins anew.
func (p *Profiler) end(r *run, fault *api.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := api.MeasureDone
	switch {
	case fault == nil:
		one := 1.0
		r.item().DoneRatio = &one
	case fault.Data.Reason == api.ReasonCancelled || fault.Data.Reason == api.ReasonStopping:
		state = api.MeasureCancelled
	default:
		state = api.MeasureFailed
	}
	r.state.State, r.item().State, r.item().Error = state, state, fault
	r.item().Step, r.item().WaitingFor = "", ""
	r.ended = p.cfg.Clock.Boot()
	p.running = nil
	r.cancel(nil)
	r.touch()
}

// succeeded publishes a result.
func (p *Profiler) succeeded(gpu worker.GPU, now conditions) error {
	p.mu.Lock()
	value := fromWorker(gpu, now.value)
	value.MeasuredAt = p.now()
	value.History = history(p.last)
	p.last = value
	p.mu.Unlock()
	for _, code := range workerConditions() {
		p.condition(code, false, "")
	}
	p.condition(api.ReasonBLASSlow, gpu.BLAS != nil && gpu.BLAS.Name == "reference", "")
	p.condition(api.ReasonResultUnstable, unstable(value), "")
	return p.cfg.Documents.Put(api.KindGPUProfile, "", value, absent(value, now.unknown))
}

// failed publishes why there is no result. What was measured before stays.
func (p *Profiler) failed(fault *api.Error, record proc.Record) {
	p.mu.Lock()
	f := api.MeasureFailure{At: p.now(), Reason: fault.Data.Reason, Message: fault.Message, Retries: 1}
	if p.last.Failure != nil {
		f.Retries += p.last.Failure.Retries
	}
	p.last.Failure = &f
	value := p.last
	p.mu.Unlock()
	detail := record.Sentence
	if fault.Data.Reason != api.ReasonMLXMissing {
		// The condition has said already of whom it speaks.
		detail = "it" + strings.TrimPrefix(detail, who)
	}
	for _, code := range workerConditions() {
		p.condition(code, code == fault.Data.Reason, detail)
	}
	if err := p.cfg.Documents.Put(api.KindGPUProfile, "", value, absent(value, nil)); err != nil {
		p.cfg.Log.Error("the failure could not be published", "error", err)
	}
}

// condition raises or clears one. Where that fails there is nothing more to do
// than to say so: the measurement itself is not concerned.
func (p *Profiler) condition(code api.Reason, holds bool, detail string) {
	var err error
	if holds {
		err = p.cfg.Conditions.Raise(code, "", detail)
	} else {
		err = p.cfg.Conditions.Clear(code, "")
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
