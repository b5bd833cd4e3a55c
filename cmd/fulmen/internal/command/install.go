package command

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) installCommand() *cobra.Command {
	var isSystem, dryRun bool
	c := &cobra.Command{
		Use: "install", Short: "Have this machine start the daemon", Args: cobra.NoArgs,
		Long: "Has launchd or systemd start the daemon where its programs lie now, and waits until it runs: for this account from\n" +
			"its login on, or, as root, for the whole machine from its start. On a Mac with the app in /Applications the app does\n" +
			"so itself. The same again starts a daemon that does not run; fulmen uninstall removes the same files.",
		Example: "  fulmen install --dry-run\n  fulmen install\n  sudo fulmen install --system",
		RunE: func(c *cobra.Command, _ []string) error {
			args := []string{"install"}
			if isSystem {
				args = append(args, "-system")
			}
			return r.install(c.Context(), dryRun, args)
		},
	}
	c.Flags().BoolVar(&isSystem, "system", false, "for the whole machine; takes root")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show files and commands, and change nothing")
	return c
}

func (r *run) install(ctx context.Context, dryRun bool, args []string) error {
	if !dryRun {
		args = append(args, "-write")
	}
	var plan api.InstallPlan
	if err := r.askFulmend(ctx, &plan, args...); err != nil {
		return err
	}
	if !dryRun {
		if err := r.started(ctx); err != nil {
			return err
		}
	}
	return r.answer(plan, func(w *show.Page) { r.view().Install(w, plan, dryRun) })
}

// started waits until the daemon runs that launchd or systemd have just started.
func (r *run) started(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var c *client.Client
	// Nothing announces the sockets of a daemon that opens them itself.
	err := poll(within, tryEvery, func() (done bool, err error) {
		c, err = r.connect(within)
		if errors.Is(err, api.ReasonNoDaemon) {
			return false, nil
		}
		return true, err
	})
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return tooSlow()
	}
	if err != nil {
		return err
	}
	quiet := *r
	quiet.Out, quiet.json = io.Discard, false
	return errors.Join(quiet.start(ctx, c, nil), c.Close())
}
