package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
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
			"A daemon that runs is left alone. One that nobody keeps is started with `fulmend`.",
		Example: "  fulmen start",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.start(c.Context(), c2) })
		},
	}
}

func (r *run) restartCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restart", Short: "Restart the daemon, after an upgrade above all", Args: cobra.NoArgs,
		Long: "Ends the daemon in order, starts it again with the program that is installed now, and waits until it runs.\n" +
			"Jobs go on. Upgrade a cluster one Mac at a time: daemons of this version and the one before work together.",
		Example: "  fulmen restart",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.restart(c.Context(), c2) })
		},
	}
}

func (r *run) start(ctx context.Context, c *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if _, err := client.Call[api.Empty](ctx, c, "daemon.start", nil); err != nil {
		return err
	}
	info, err := r.awaitDaemon(ctx, c, api.DaemonInfoResult{})
	if err != nil {
		return err
	}
	return r.runs("Fulmen runs", info)
}

func (r *run) restart(ctx context.Context, c *client.Client) error {
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
	return r.runs("Fulmen was restarted", info)
}

// awaitDaemon waits until a daemon runs that is not the one before.
func (r *run) awaitDaemon(ctx context.Context, c *client.Client, before api.DaemonInfoResult) (api.DaemonInfoResult, error) {
	// A daemon that is not kept announces to nobody that it listens.
	again := time.NewTicker(tryEvery)
	defer again.Stop()
	for {
		info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
		isOld := info.PID == before.PID && info.StartedAt.Equal(before.StartedAt.Time)
		switch {
		case err == nil && !isOld:
			return info, nil
		case err != nil && !errors.Is(err, api.ReasonNoDaemon) && !errors.Is(err, api.ReasonStopped) && !errors.Is(err, api.ReasonStopping) && ctx.Err() == nil:
			return info, err
		}
		select {
		case <-ctx.Done():
			e := api.Errorf(api.ReasonDeadline, "", "The daemon does not run after %s.", text.Duration(startTimeout))
			e.Data.WaitingFor, e.Data.Remedy = "the daemon", "See: fulmen doctor"
			return info, e
		case <-again.C:
		}
	}
}

func (r *run) runs(what string, info api.DaemonInfoResult) error {
	if r.json {
		return text.JSON(r.Out, info)
	}
	_, err := fmt.Fprintf(r.Out, "%s, version %s.\n", what, text.Clean(info.Version))
	return err
}
