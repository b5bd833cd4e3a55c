package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/output"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native/waker"
)

const (
	// defaultTimeout is how long it is tried to reach a daemon again that was lost:
	// an update of it takes less.
	defaultTimeout = time.Minute
	// defaultSettle is how long a job may be on its way without a word about it.
	defaultSettle = 700 * time.Millisecond
	// lastOutput is how long the output of a job that has ended may stay away: less
	// than the second that somebody is kept.
	lastOutput = 800 * time.Millisecond
	// hangUp is how long the wish to stop a job may take when the terminal is gone.
	hangUp = 2 * time.Second
)

// attachment is a terminal, or a script, that follows a job until it ends.
type attachment struct {
	*run
	client *client.Client
	job    api.JobID
	names  show.Names
	lines  *output.Lines
	// input says that In is the job's; leave that Ctrl-C leaves the job alone.
	input, leave bool
	// giver tells this client from the one that submitted the job; empty is that one.
	giver string
	following

	writing sync.Mutex // one event after the other
	pieces  waker.Waker
	typed   chan struct{}
	seen    output.Offsets
	rest    output.Rest
	whole   atomic.Bool // everything has come that could be had

	state     jobState
	where     string // as was said last
	noted     []string
	opened    int // the attempt whose ports were said
	stopping  int
	stoppedBy os.Signal // the last signal that asked for the job's end
	restore   func() error
	followed  func() // ends what runs beside
	exitCode  *int
}

// stopSignals hears those that end or change what a terminal follows.
func (r *run) stopSignals() (<-chan os.Signal, func()) {
	if r.Signals == nil {
		return nil, func() {}
	}
	return r.Signals(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGWINCH)
}

// follow shows a job until it has ended, and gives the exit status that is its
// own. An error says why there is none, or what became of the job.
func (a *attachment) follow(ctx context.Context, signals <-chan os.Signal) (int, error) {
	ctx, a.followed = context.WithCancel(ctx)
	defer a.followed()
	defer a.leaveRaw()
	a.pieces, a.typed = waker.New(), make(chan struct{}, 8)
	changes, ended := make(chan jobChange), make(chan struct{})
	go a.watchJob(ctx, changes)
	go func() {
		defer close(ended)
		a.readOutput(ctx)
	}()
	settle := time.NewTimer(a.settle)
	defer settle.Stop()
	for {
		select {
		case c := <-changes:
			if c.err != nil {
				return a.lost(c)
			}
			if c.interruption != nil {
				a.report(fmt.Sprintf("interrupted: %s The job goes on; trying again.", api.AsError(c.interruption).Message))
				continue
			}
			a.take(ctx, c)
			settle.Reset(a.settle)
			if c.Terminal {
				a.awaitOutput(ended, signals)
				a.event(jobEvent{Changed: &c.JobChanged}) // the last line
				return a.finish()
			}
		case <-settle.C:
			a.reportWhere()
			a.reportPorts(ctx)
			if due := a.view().AloneReportIn(a.state.job, a.state.list()); due > 0 {
				settle.Reset(due)
			}
		case s := <-signals:
			if done, status := a.signalled(ctx, s); done {
				return status, exited{api.ExitFailed}
			}
		case <-a.typed:
			if done, status := a.signalled(ctx, os.Interrupt); done {
				return status, exited{api.ExitFailed}
			}
		}
	}
}

// take notes what changed.
func (a *attachment) take(ctx context.Context, c jobChange) {
	was := a.state.job.Phase
	a.state.apply(c.Put)
	if c.Terminal {
		a.exitCode = c.ExitCode
		return
	}
	a.event(jobEvent{Changed: &c.JobChanged})
	a.reportNotes()
	switch now := a.state.job.Phase; {
	case now == was:
	case now == api.JobHandshake, now == api.JobRunning:
		if now == api.JobRunning {
			a.reportWhere()
			a.reportPorts(ctx)
		}
		a.enterRaw(ctx)
		a.beginInput(ctx)
	}
}

// reportWhere says where the job is, unless that was said last.
func (a *attachment) reportWhere() {
	if words := a.state.words(a.view(), a.names); words != a.where {
		a.where = words
		a.report(words)
	}
}

// reportNotes says once what would keep a program from running as it is meant to.
func (a *attachment) reportNotes() {
	for _, line := range show.Notes(a.state.job) {
		if !slices.Contains(a.noted, line) {
			a.noted = append(a.noted, line)
			a.report(line)
		}
	}
}

// reportPorts says once an attempt where the ports that the job publishes are open on
// this node. They may open a moment after the job runs.
func (a *attachment) reportPorts(ctx context.Context) {
	job := a.state.job
	if job.Phase != api.JobRunning || a.opened == job.Attempt || a.quiet || a.receive != nil {
		return
	}
	if len(a.state.spec().Publish) == 0 {
		a.opened = job.Attempt
		return
	}
	now, err := client.Call[api.JobGetResult](ctx, a.client, "job.get", api.JobSelect{Job: a.job})
	if err != nil || len(now.Published) == 0 {
		return // fulmen job show tells too
	}
	a.opened = job.Attempt
	for _, line := range a.view().PublishedLines(now.Published) {
		a.report(line)
	}
}

// report writes a line about the job.
func (a *attachment) report(words string) {
	if words == "" || a.quiet || a.receive != nil {
		return
	}
	a.lines.Note("fulmen: " + text.Clean(a.job.String()+": "+words))
}

// jobEvent is a line of fulmen run --json: one of its fields.
type jobEvent struct {
	// Submitted is the job that was accepted: the first line.
	Submitted *api.JobSubmitResult `json:"submitted,omitempty"`
	// Changed is as in job.changed; the first one is everything there is, and one that
	// is terminal the last.
	Changed *api.JobChanged `json:"changed,omitempty"`
	// Output is as in job.output.
	Output *api.OutputPiece `json:"output,omitempty"`
}

// event tells who hears what happens instead of the terminal.
func (a *attachment) event(e jobEvent) {
	if a.receive == nil {
		return
	}
	a.writing.Lock()
	defer a.writing.Unlock()
	a.receive(e)
}

// lost is the end of watching a job that may go on.
func (a *attachment) lost(c jobChange) (int, error) {
	_ = a.lines.Close() // the error that is shown is the greater one
	e := *api.AsError(c.err)
	if e.Code == api.CodeUnreachable || e.Data.Reason == api.ReasonNoDaemon {
		e.Message = "The connection to the daemon was lost. The job " + a.job.String() + " may go on."
		e.Data.Remedy = "Once the daemon runs: fulmen job attach " + a.job.String()
	}
	return api.ExitNotStarted, &e
}

// spec is what was asked for; empty where it cannot be read.
func (s *jobState) spec() api.JobSpec {
	var spec api.JobSpec
	_ = json.Unmarshal(s.job.Spec, &spec) // the daemon has checked it
	return spec
}

// status is the exit status of fulmen run for a job that has ended.
func (s *jobState) status(reported *int) int {
	switch {
	case reported != nil:
		return *reported
	case s.job.ExitCode != nil:
		return *s.job.ExitCode
	case s.job.Phase == api.JobSucceeded:
		return api.ExitOK
	}
	return api.RunStatus(s.job.Reason)
}

// finish says what became of a job that has ended.
func (a *attachment) finish() (int, error) {
	a.leaveRaw()
	a.showLast()
	if err := a.lines.Close(); err != nil {
		return api.ExitNotStarted, err
	}
	status := a.state.status(a.exitCode)
	if a.state.job.Phase == api.JobStopped && a.stoppedBy != nil {
		status = statusOf(a.stoppedBy) // however its ranks took that
	}
	return a.printMissing(status, a.state.outcome(a.names))
}

// outcome is why a job did not succeed, as an error; nil where it did.
func (s *jobState) outcome(names show.Names) error {
	switch s.job.Phase {
	case api.JobSucceeded:
		return nil
	case api.JobStopped:
		if s.job.Reason == api.ReasonStoppedByPerson || s.job.Reason == "" {
			return exited{api.ExitFailed} // whoever did that knows
		}
	}
	return show.Outcome(s.job, s.list(), names)
}

// endedAs makes the end of a command of a job's end: its status, and the error
// that is explained.
func endedAs(status int, err error) error {
	switch {
	case err == nil && status == api.ExitOK:
		return nil
	case err == nil || errors.As(err, &exited{}):
		return exited{status}
	}
	return withStatus{status, err}
}

// withStatus is an error after which this program ends with a status of its own.
type withStatus struct {
	status int
	error
}

func (w withStatus) Unwrap() error { return w.error }

// statusOf is the exit status after a signal that this program was sent.
func statusOf(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return api.ExitSignalBase + int(n)
	}
	return api.ExitNotStarted
}

// signalled acts on a signal; done ends the following with a status.
func (a *attachment) signalled(ctx context.Context, s os.Signal) (done bool, status int) {
	switch {
	case s == syscall.SIGWINCH:
		a.resize(ctx)
		return false, 0
	case s == syscall.SIGHUP:
		if !a.leave {
			ctx, stop := context.WithTimeout(ctx, hangUp)
			defer stop()
			// The daemon also ends what nobody is attached to any more.
			_, _ = client.Call[api.Empty](ctx, a.client, "job.stop", api.JobStopParams{Job: a.job})
		}
		return true, statusOf(s)
	case a.leave:
		a.closeLines("detached; the job goes on")
		return true, statusOf(s)
	}
	a.stopping++
	a.stoppedBy = s
	switch a.stopping {
	case 1:
		a.leaveRaw()
		a.report("stopping the job; Ctrl-C again kills it")
		a.askStop(ctx, false)
	case 2:
		a.report("killing the job; Ctrl-C again detaches from it")
		a.askStop(ctx, true)
	default:
		a.closeLines("detached from the job; see: fulmen job show " + a.job.String())
		return true, statusOf(s)
	}
	return false, 0
}

// closeLines ends the output with a word.
func (a *attachment) closeLines(words string) {
	a.leaveRaw()
	_ = a.lines.Close() // it is being left
	a.report(words)
}

// askStop asks for the job's end, and goes on listening.
func (a *attachment) askStop(ctx context.Context, kill bool) {
	go func() {
		_, err := client.Call[api.Empty](ctx, a.client, "job.stop", api.JobStopParams{Job: a.job, Kill: kill})
		if err != nil && ctx.Err() == nil && !errors.Is(err, api.ReasonJobEnded) {
			a.lines.Note("fulmen: the job could not be stopped: " + api.AsError(err).Message)
		}
	}()
}
