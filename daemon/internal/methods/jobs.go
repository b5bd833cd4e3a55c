package methods

import (
	"context"
	"log/slog"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/job/attach"
	"fulmen/daemon/internal/server"
)

// Ports publishes ports of jobs; relay.Relay does.
type Ports interface {
	// Allows says why ports cannot be published here.
	Allows(ports []api.Publish) error
	// Of lists those of a job that are open here, or that cannot be opened.
	Of(job api.JobID) []api.PublishedPort
}

// Jobs are the methods about jobs.
type Jobs struct {
	Jobs        *job.Jobs
	Attach      *attach.Attach
	WatchedJobs *job.WatchedJobs
	Ports       Ports
	Log         *slog.Logger
}

// Handlers are the methods.
func (d Jobs) Handlers() server.Handlers {
	return server.Handlers{
		"job.submit":    server.Handle(d.jobSubmit),
		"job.apply":     server.Handle(d.jobApply),
		"job.plan":      handleJob(d.Jobs.Plan),
		"job.preflight": handleJob(d.Jobs.Preflight),
		"job.list":      handleJob(d.Jobs.List),
		"job.get":       server.Handle(d.jobGet),
		"job.watch":     server.Handle(d.jobWatch),
		"job.logs":      server.Handle(d.jobLogs),
		"job.input": server.Handle(func(ctx context.Context, c *server.Caller, p api.JobInputParams) (api.JobInputResult, error) {
			return d.Attach.Input(ctx, jobCaller(c).Principal, p)
		}),
		"job.resize": server.Handle(func(ctx context.Context, c *server.Caller, p api.JobResizeParams) (api.Empty, error) {
			return api.Empty{}, d.Attach.Resize(ctx, jobCaller(c).Principal, p)
		}),
		"job.stop":      handleNotice(d.Log, "job.stop", d.Jobs.Stop),
		"job.retry":     handleJob(d.Jobs.Retry),
		"job.take_over": handleNotice(d.Log, "job.take_over", d.Jobs.TakeOver),
		"job.delete":    handleNotice(d.Log, "job.delete", d.Jobs.Delete),
	}
}

// handleJob is a method of the controller as the server has it.
func handleJob[P, R any](f func(context.Context, job.Caller, P) (R, error)) server.Handler {
	return server.Handle(func(ctx context.Context, c *server.Caller, p P) (R, error) { return f(ctx, jobCaller(c), p) })
}

// handleNotice binds a method that changes a job and answers nothing, and logs who asked.
func handleNotice[P any](log *slog.Logger, method string, f func(context.Context, job.Caller, P) error) server.Handler {
	return server.Handle(func(ctx context.Context, c *server.Caller, p P) (api.Empty, error) {
		log.Info("asked to change a job", "method", method, "uid", c.UID)
		return api.Empty{}, f(ctx, jobCaller(c), p)
	})
}

// jobCaller is the caller as the controller of jobs knows it.
func jobCaller(c *server.Caller) job.Caller {
	return job.Caller{Principal: c.Principal(), Admin: c.Class() == api.ClassAdmin}
}

// jobSubmit takes a job.
func (d Jobs) jobSubmit(ctx context.Context, c *server.Caller, p api.JobSubmitParams) (api.JobSubmitResult, error) {
	if err := d.Ports.Allows(p.Request.Publish); err != nil {
		return api.JobSubmitResult{}, err
	}
	result, err := d.Jobs.Submit(ctx, jobCaller(c), p)
	if err == nil && !result.Existing {
		d.WatchedJobs.Begin(result.Job)
		d.Log.Info("submitted", "uid", c.UID, "job", result.Job)
	}
	return result, err
}

// jobApply declares a job.
func (d Jobs) jobApply(ctx context.Context, c *server.Caller, p api.JobApplyParams) (api.JobApplyResult, error) {
	if err := d.Ports.Allows(p.Request.Publish); err != nil {
		return api.JobApplyResult{}, err
	}
	result, err := d.Jobs.Apply(ctx, jobCaller(c), p)
	if err == nil && !p.DryRun {
		d.Log.Info("applied", "uid", c.UID, "job", result.Job, "outcome", result.Outcome)
	}
	return result, err
}

// jobGet is one job.
func (d Jobs) jobGet(ctx context.Context, c *server.Caller, p api.JobSelect) (api.JobGetResult, error) {
	result, err := d.Jobs.Get(ctx, jobCaller(c), p)
	var one api.Job
	if err == nil && result.Job.Decode(&one) == nil && one.Principal == jobCaller(c).Principal {
		result.Published = d.Ports.Of(p.Job)
	}
	return result, err
}

// jobWatch is job.get, and every change after, up to the one end.
func (d Jobs) jobWatch(ctx context.Context, c *server.Caller, p api.JobSelect) (api.JobWatchResult, error) {
	caller := jobCaller(c)
	watch, err := d.Jobs.Watch(ctx, caller, p)
	if err != nil {
		return api.JobWatchResult{}, err
	}
	leave := d.WatchedJobs.Watch(watch.First, caller)
	sub, err := server.Deliver(c, "", watch.Next, func() { watch.Close(); leave() }, func(sub api.Subscription, n uint64, change api.JobChanged) any {
		change.Sub, change.N = sub, n
		return change
	}, func(change api.JobChanged) bool { return change.Terminal })
	return api.JobWatchResult{Sub: sub, JobGetResult: watch.First}, err
}

// jobLogs sends what ranks printed, and what they print from now on.
func (d Jobs) jobLogs(ctx context.Context, c *server.Caller, p api.JobLogsParams) (api.JobLogsResult, error) {
	// The reading goes on after the call; its end is the subscription's.
	logs, err := d.Attach.Logs(context.WithoutCancel(ctx), jobCaller(c).Principal, p)
	if err != nil {
		return api.JobLogsResult{}, err
	}
	sub, err := server.Deliver(c, "", logs.Next, logs.Close, func(sub api.Subscription, n uint64, piece api.JobOutput) any {
		piece.Sub, piece.N = sub, n
		return piece
	}, func(piece api.JobOutput) bool { return piece.Terminal })
	return api.JobLogsResult{Sub: sub}, err
}
