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
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

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
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				return r.stop(c.Context(), c2, api.DaemonStopParams{EndJobs: jobs})
			})
		},
	}
	c.Flags().BoolVar(&jobs, "end-jobs", false, "end the jobs that run here first")
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
		e.Data.WaitingFor, e.Data.Remedy = "the daemon", "See: fulmen logs"
		return e
	}
	if r.json {
		return text.JSON(r.Out, api.Empty{})
	}
	_, err = fmt.Fprintln(r.Out, "Fulmen stopped.")
	return err
}

// ended waits until a process is gone, so that a daemon can be started again at
// once; false where the context ended before.
func ended(ctx context.Context, pid int) bool {
	// Nothing announces the end of a process that is nobody's child here.
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if isGone(pid) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
	}
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
