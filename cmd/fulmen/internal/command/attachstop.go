package command

import (
	"context"
	"errors"
	"os"
	"syscall"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

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
		a.closeLines("left; it goes on")
		return true, statusOf(s)
	}
	a.stopping++
	a.stoppedBy = s
	switch a.stopping {
	case 1:
		a.leaveRaw()
		a.say("stopping; Ctrl-C again kills it")
		a.askStop(ctx, false)
	case 2:
		a.say("killing; Ctrl-C again leaves it alone")
		a.askStop(ctx, true)
	default:
		a.closeLines("left; see: fulmen job show " + a.job.String())
		return true, statusOf(s)
	}
	return false, 0
}

// closeLines ends the output with a word.
func (a *attachment) closeLines(words string) {
	a.leaveRaw()
	_ = a.lines.Close() // it is being left
	a.say(words)
}

// askStop asks for the job's end, and goes on listening.
func (a *attachment) askStop(ctx context.Context, kill bool) {
	go func() {
		_, err := client.Call[api.Empty](ctx, a.client, "job.stop", api.JobStopParams{Job: a.job, Kill: kill})
		if err != nil && ctx.Err() == nil && !errors.Is(err, api.ReasonJobEnded) {
			a.lines.Note("fulmen: it could not be stopped: " + api.AsError(err).Message)
		}
	}()
}
