package daemon

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/server"
)

// jobHandlers are the methods about jobs.
func (d *daemon) jobHandlers() server.Handlers {
	return server.Handlers{
		"job.submit":    server.Handle(d.jobSubmit),
		"job.apply":     server.Handle(d.jobApply),
		"job.plan":      handleJob(d, d.jobs.Plan),
		"job.preflight": handleJob(d, d.jobs.Preflight),
		"job.list":      handleJob(d, d.jobs.List),
		"job.get":       server.Handle(d.jobGet),
		"job.watch":     server.Handle(d.jobWatch),
		"job.logs":      server.Handle(d.jobLogs),
		"job.input": server.Handle(func(ctx context.Context, c *server.Caller, p api.JobInputParams) (api.JobInputResult, error) {
			return d.attach.Input(ctx, d.jobCaller(c).Principal, p)
		}),
		"job.resize": server.Handle(func(ctx context.Context, c *server.Caller, p api.JobResizeParams) (api.Empty, error) {
			return api.Empty{}, d.attach.Resize(ctx, d.jobCaller(c).Principal, p)
		}),
		"job.stop":      handleWish(d, "job.stop", d.jobs.Stop),
		"job.retry":     handleJob(d, d.jobs.Retry),
		"job.take_over": handleWish(d, "job.take_over", d.jobs.TakeOver),
		"job.delete":    handleWish(d, "job.delete", d.jobs.Delete),
	}
}

// handleJob is a method of the controller as the server has it.
func handleJob[P, R any](d *daemon, f func(context.Context, job.Caller, P) (R, error)) server.Handler {
	return server.Handle(func(ctx context.Context, c *server.Caller, p P) (R, error) { return f(ctx, d.jobCaller(c), p) })
}

// handleWish is the same of one that changes something and answers nothing.
func handleWish[P any](d *daemon, method string, f func(context.Context, job.Caller, P) error) server.Handler {
	return server.Handle(func(ctx context.Context, c *server.Caller, p P) (api.Empty, error) {
		d.logs.Part("job").Info("asked to change a job", "method", method, "uid", c.UID)
		return api.Empty{}, f(ctx, d.jobCaller(c), p)
	})
}

// jobCaller is who asks, for the controller.
func (d *daemon) jobCaller(c *server.Caller) job.Caller {
	return job.Caller{Principal: c.Principal(), Admin: c.Class() == api.ClassAdmin}
}

// jobSubmit takes a job.
func (d *daemon) jobSubmit(ctx context.Context, c *server.Caller, p api.JobSubmitParams) (api.JobSubmitResult, error) {
	if err := d.publisher.Allows(p.Request.Publish); err != nil {
		return api.JobSubmitResult{}, err
	}
	result, err := d.jobs.Submit(ctx, d.jobCaller(c), p)
	if err == nil && !result.Existing {
		d.attended.Begin(result.Job)
		d.logs.Part("job").Info("submitted", "uid", c.UID, "job", result.Job)
	}
	return result, err
}

// jobApply declares a job.
func (d *daemon) jobApply(ctx context.Context, c *server.Caller, p api.JobApplyParams) (api.JobApplyResult, error) {
	if err := d.publisher.Allows(p.Request.Publish); err != nil {
		return api.JobApplyResult{}, err
	}
	result, err := d.jobs.Apply(ctx, d.jobCaller(c), p)
	if err == nil && !p.DryRun {
		d.logs.Part("job").Info("applied", "uid", c.UID, "job", result.Job, "outcome", result.Outcome)
	}
	return result, err
}

// jobGet is one job.
func (d *daemon) jobGet(ctx context.Context, c *server.Caller, p api.JobSelect) (api.JobGetResult, error) {
	result, err := d.jobs.Get(ctx, d.jobCaller(c), p)
	var one api.Job
	if err == nil && result.Job.Decode(&one) == nil && one.Principal == d.jobCaller(c).Principal {
		result.Published = d.publisher.Of(p.Job)
	}
	return result, err
}

// jobWatch is job.get, and every change after, up to the one end.
func (d *daemon) jobWatch(ctx context.Context, c *server.Caller, p api.JobSelect) (api.JobWatchResult, error) {
	caller := d.jobCaller(c)
	watch, err := d.jobs.Watch(ctx, caller, p)
	if err != nil {
		return api.JobWatchResult{}, err
	}
	leave := d.attended.Attend(watch.First, caller)
	sub, err := server.Deliver(c, "", watch.Next, func() { watch.Close(); leave() }, func(sub api.Subscription, n uint64, change api.JobChanged) any {
		change.Sub, change.N = sub, n
		return change
	}, func(change api.JobChanged) bool { return change.Terminal })
	return api.JobWatchResult{Sub: sub, JobGetResult: watch.First}, err
}

// jobLogs is what ranks printed, and print.
func (d *daemon) jobLogs(ctx context.Context, c *server.Caller, p api.JobLogsParams) (api.JobLogsResult, error) {
	// The reading goes on after the call; its end is the subscription's.
	logs, err := d.attach.Logs(context.WithoutCancel(ctx), d.jobCaller(c).Principal, p)
	if err != nil {
		return api.JobLogsResult{}, err
	}
	sub, err := server.Deliver(c, "", logs.Next, logs.Close, func(sub api.Subscription, n uint64, piece api.JobOutput) any {
		piece.Sub, piece.N = sub, n
		return piece
	}, func(piece api.JobOutput) bool { return piece.Terminal })
	return api.JobLogsResult{Sub: sub}, err
}
