package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// startTimeout is how long a daemon may take to start: launchd may wait for its
// throttle interval before.
const startTimeout = 30 * time.Second

// tryEvery is how often it is tried whether a daemon is there that opens its sockets
// itself. Where launchd or systemd hold them, the first try waits for it.
const tryEvery = 50 * time.Millisecond

func (r *run) startCommand() *cobra.Command {
	return &cobra.Command{
		Use: "start", Short: "Start the daemon that was stopped", Args: cobra.NoArgs,
		Long: "Starts a daemon that was stopped with `fulmen stop` and that launchd or systemd keep, and waits until it runs.\n" +
			"A daemon that runs is left alone. Without launchd or systemd, start the daemon with `fulmend`.",
		Example: "  fulmen start",
		RunE:    r.asks(r.start),
	}
}

func (r *run) restartCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restart", Short: "Restart the daemon, for example after an upgrade", Args: cobra.NoArgs,
		Long: "Stops the daemon, starts it again with the program that is installed now, and waits until it runs.\n" +
			"Jobs go on. Upgrade a cluster one Mac at a time: daemons of this version and the one before work together.",
		Example: "  fulmen restart",
		RunE:    r.asks(r.restart),
	}
}

func (r *run) start(ctx context.Context, c *client.Client, _ []string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if _, err := client.Call[api.Empty](ctx, c, "daemon.start", nil); err != nil {
		return err
	}
	info, err := r.awaitDaemon(ctx, c, api.DaemonInfoResult{})
	if err != nil {
		return err
	}
	return r.answer(info, func(w *show.Page) { w.Line("Fulmen runs, version " + info.Version + ".") })
}

func (r *run) restart(ctx context.Context, c *client.Client, _ []string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	before, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
	if err != nil {
		return err
	}
	if _, err := client.Call[api.Empty](ctx, c, "daemon.restart", nil); err != nil {
		return err
	}
	info, err := r.awaitDaemon(ctx, c, before)
	if err != nil {
		return err
	}
	return r.answer(info, func(w *show.Page) { w.Line("Fulmen was restarted, version " + info.Version + ".") })
}

// awaitDaemon waits until a daemon runs that is not the one before.
func (r *run) awaitDaemon(ctx context.Context, c *client.Client, before api.DaemonInfoResult) (info api.DaemonInfoResult, err error) {
	// A daemon that is not kept announces to nobody that it listens.
	err = poll(ctx, tryEvery, func() (bool, error) {
		info, err = client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
		if errors.Is(err, api.ReasonNoDaemon) || errors.Is(err, api.ReasonStopped) || errors.Is(err, api.ReasonStopping) || ctx.Err() != nil {
			return false, nil
		}
		isOld := info.PID == before.PID && info.StartedAt.Equal(before.StartedAt.Time)
		return !isOld, err
	})
	if err != nil && ctx.Err() != nil {
		return info, tooSlow()
	}
	return info, err
}

func tooSlow() error {
	e := api.Errorf(api.ReasonDeadline, "", "The daemon did not start within %s.", text.Duration(startTimeout))
	return e.WithWait("the daemon").WithRemedy("See: fulmen doctor")
}

// stopTimeout is how long a daemon may take to stop: its drain, and some more.
const stopTimeout = 15 * time.Second

// lookEvery is how often it is looked whether a process is gone.
const lookEvery = 10 * time.Millisecond

func (r *run) stopCommand() *cobra.Command {
	var jobs bool
	c := &cobra.Command{
		Use: "stop", Short: "Stop the daemon", Args: cobra.NoArgs,
		Long: "Stops the daemon and waits until it has. Where launchd or systemd keep it, it stays stopped until `fulmen start`\n" +
			"or the next start of the machine.",
		Example: "  fulmen stop\n  fulmen stop --end-jobs",
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			return r.stop(ctx, c, api.DaemonStopParams{EndJobs: jobs})
		}),
	}
	c.Flags().BoolVar(&jobs, "end-jobs", false, "first end the jobs that run here")
	return c
}

func (r *run) stop(ctx context.Context, c *client.Client, params api.DaemonStopParams) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
	if err != nil {
		return err
	}
	// A stream's end announces that the daemon has begun to close.
	_, changes, err := client.Stream[api.StateWatchResult, api.StateChanged](ctx, c, "state.watch", api.StateSelect{Kinds: []api.Kind{api.KindNodeState}})
	if err != nil {
		return err
	}
	if _, err := client.Call[api.Empty](ctx, c, "daemon.stop", params); err != nil {
		return err
	}
	for _, err := range changes {
		if err != nil {
			break
		}
	}
	if !ended(ctx, info.PID) {
		e := api.Errorf(api.ReasonDeadline, "", "The daemon (pid %d) did not stop within %s.", info.PID, text.Duration(stopTimeout))
		return e.WithWait("the daemon").WithRemedy("See: fulmen logs")
	}
	return r.answer(api.Empty{}, func(w *show.Page) { w.Line("Fulmen stopped.") })
}

// ended waits until a process is gone, so that a daemon can be started again at
// once; false where the context ended before.
func ended(ctx context.Context, pid int) bool {
	// Nothing announces the end of a process that is nobody's child here.
	return poll(ctx, lookEvery, func() (bool, error) { return isGone(pid), nil }) == nil
}

// isGone reports whether a process has ended.
func isGone(pid int) bool {
	// Signal 0 asks; a process of somebody else answers that it may not.
	err := syscall.Kill(pid, 0)
	return err != nil && !errors.Is(err, syscall.EPERM) || isZombie(pid)
}

// isZombie reports whether a process has ended and only waits for its parent,
// such as a shell that is busy, to take note. Where there is no /proc it is not
// known, and false.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, found := strings.Cut(string(stat), ") ") // after the name, which can hold anything
	return err == nil && found && strings.HasPrefix(state, "Z")
}
