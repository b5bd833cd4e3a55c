package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// uninstalling are the flags of fulmen uninstall.
type uninstalling struct {
	dryRun, yes, keep, delete bool
}

// uninstalled is what fulmen uninstall --json prints.
type uninstalled struct {
	// Changes are what is put back for RDMA; with --dry-run what would be.
	Changes []api.NodeRDMAChange `json:"changes"`
	// Left says that this Mac leaves, or left, a cluster.
	Left bool `json:"left"`
	// Plan is what there is, with --dry-run.
	Plan *api.UninstallPlan `json:"plan,omitempty"`
	// Result is what was removed.
	Result *api.UninstallResult `json:"result,omitempty"`
}

func (r *run) uninstallCommand() *cobra.Command {
	var f uninstalling
	c := &cobra.Command{
		Use: "uninstall", Short: "Take Fulmen off this machine", Args: cobra.NoArgs,
		Long: "Shows what goes and what stays, asks, and then: puts back the network settings that were changed for RDMA, leaves\n" +
			"the cluster, ends this machine's jobs and the daemon, and removes the service, the state, the logs and the programs.\n" +
			"The output of jobs is kept unless you say otherwise. If the daemon does not run, settings for RDMA cannot be put\n" +
			"back; their record then stays, and Fulmen offers to put them back when it is installed again. docs/install.md has the whole list.",
		Example: "  fulmen uninstall --dry-run\n  sudo fulmen uninstall\n  sudo fulmen uninstall --yes --delete-output",
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case f.keep && f.delete:
				return usage("--keep-output and --delete-output contradict each other")
			case f.dryRun && f.yes:
				return usage("--dry-run and --yes contradict each other")
			}
			return r.uninstall(c.Context(), f)
		},
	}
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what goes and what stays, and change nothing")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask for confirmation; the output of jobs is kept")
	c.Flags().BoolVar(&f.keep, "keep-output", false, "keep the output of jobs")
	c.Flags().BoolVar(&f.delete, "delete-output", false, "delete the output of jobs")
	return c
}

// onMachine is what is to be uninstalled.
type onMachine struct {
	plan    api.UninstallPlan
	changes []api.NodeRDMAChange // to be put back
	members int                  // of the cluster, this one included
	self    api.NodeID
	runs    bool // the daemon does
	pid     int  // of it
}

func (r *run) uninstall(ctx context.Context, f uninstalling) error {
	var found onMachine
	if err := r.askFulmend(ctx, &found.plan, append([]string{"uninstall"}, f.deleteArgs()...)...); err != nil {
		return err
	}
	if file, err := os.Stat(client.APIFilePath(r.Environment)); err == nil {
		found.plan.Items = append(found.plan.Items, api.UninstallItem{Kind: api.UninstallConfiguration, Path: client.APIFilePath(r.Environment), Bytes: file.Size()})
	}
	c, err := r.connect(ctx)
	switch {
	case err == nil:
		found.runs = true
		if err = r.askDaemon(ctx, c, &found); err != nil {
			return errors.Join(err, c.Close())
		}
	case !errors.Is(err, api.ReasonNoDaemon) && !errors.Is(err, api.ReasonStopped):
		return err
	}
	if c != nil {
		defer c.Close()
	}
	out := r.Err
	if f.dryRun {
		out = r.Out
	}
	if f.dryRun && r.json {
		return text.JSON(r.Out, uninstalled{Changes: found.changes, Left: found.members > 1, Plan: &found.plan})
	}
	err = r.print(out, func(w *show.Page) { r.view().Uninstall(w, found.plan, found.changes, found.members, found.runs) })
	if err != nil || f.dryRun {
		return err
	}
	if err := r.sureToUninstall(ctx, &f, found); err != nil {
		return err
	}
	if found.runs {
		if err := r.leaveOrderly(ctx, c, found); err != nil {
			return err
		}
	}
	return r.takeAway(ctx, f, found)
}

// deleteArgs has fulmend say of the output of jobs that it goes.
func (f uninstalling) deleteArgs() []string {
	if f.delete {
		return []string{"-delete-output"}
	}
	return nil
}

// askFulmend runs the daemon's program, which knows where everything is, also where
// the daemon does not run, and reads what it prints.
func (r *run) askFulmend(ctx context.Context, into any, args ...string) error {
	var out bytes.Buffer
	noInput := *r
	noInput.In = nil // what a person types is for this program
	if err := noInput.fulmend(ctx, &out, args...); err != nil {
		return err
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		return advised(api.Errorf(api.ReasonInternal, "fulmend", "This version of fulmen does not understand what fulmend %s says.", args[0]),
			"Install fulmen and fulmend from the same release.")
	}
	return nil
}

// askDaemon asks what only the daemon can do.
func (r *run) askDaemon(ctx context.Context, c *client.Client, found *onMachine) error {
	nodes, err := nodeViews(ctx, c)
	if err != nil {
		return err
	}
	info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
	if err != nil {
		return err
	}
	found.self, found.members, found.pid = show.Self(nodes).Node, len(nodes), info.PID
	undo, err := client.Call[api.RDMAChangeResult](ctx, c, "rdma.undo", api.RDMAChangeParams{AllReady: true, DryRun: true})
	if err != nil && !isNothing(err) {
		return err
	}
	found.changes = undo.Changes
	for i, item := range found.plan.Items {
		if item.Kind == api.UninstallUndo && len(found.changes) > 0 {
			found.plan.Items[i].Stays = "" // they are put back first
		}
	}
	return nil
}

// isNothing reports whether an error says that there is nothing to put back: that
// nothing was changed, or that this daemon changes nothing.
func isNothing(err error) bool {
	return errors.Is(err, api.ReasonRDMANothingToUndo) || errors.Is(err, api.ReasonUnknownMethod) || errors.Is(err, api.ReasonNotSupportedByPlatform)
}

// sureToUninstall asks about the output of jobs, where nothing was said of it, and
// then about all of it.
func (r *run) sureToUninstall(ctx context.Context, f *uninstalling, found onMachine) error {
	if f.yes {
		return nil
	}
	for _, item := range found.plan.Items {
		if item.Kind != api.UninstallOutput || item.Jobs == 0 || f.keep || f.delete || !r.InTerminal {
			continue
		}
		yes, err := r.confirm(ctx, fmt.Sprintf("Also delete the output of %d jobs (%s)?", item.Jobs, text.Bytes(item.Bytes)))
		if err != nil {
			return err
		}
		f.delete = yes
	}
	return r.certain(ctx, "Take Fulmen off this machine?", "Nothing was removed: there is no terminal here to ask for a yes.",
		"To uninstall without being asked, add --yes; to delete the output of jobs too, add --delete-output.")
}

// leaveOrderly does what only the daemon can: it puts settings back, leaves the
// cluster, and ends its jobs and itself. What somebody has changed since is no
// reason to stay.
func (r *run) leaveOrderly(ctx context.Context, c *client.Client, found onMachine) error {
	if len(found.changes) > 0 {
		fmt.Fprintln(r.Err, "Putting back the network settings for RDMA…")
		result, err := client.Call[api.RDMAChangeResult](ctx, c, "rdma.undo", api.RDMAChangeParams{AllReady: true})
		if err != nil && !isNothing(err) {
			return unlessStopped(err, "The network settings for RDMA could not be put back, so nothing was removed")
		}
		for _, cause := range result.Refused {
			fmt.Fprintln(r.Err, " ", text.Clean(cause.Message))
		}
	}
	var failed error
	if found.members > 1 {
		fmt.Fprintln(r.Err, "Leaving the cluster…")
		params := api.ClusterRemoveParams{Nodes: []api.NodeRef{api.NodeRef(found.self)}}
		_, failed = client.Call[api.ClusterRemoveResult](ctx, c, "cluster.remove", params)
	}
	again, err := r.anew(ctx, found, failed)
	if again == nil || err != nil {
		return err
	}
	fmt.Fprintln(r.Err, "Stopping the daemon…")
	quiet := *r
	quiet.Out, quiet.json = io.Discard, false
	return errors.Join(quiet.stop(ctx, again, api.DaemonStopParams{EndJobs: true}), again.Close())
}

// anew connects to the daemon once it has begun anew, as it does when it has left a
// cluster: its answer may be lost by that, which failed then says, and nobody answers
// for a moment. nil where it does not run any more.
func (r *run) anew(ctx context.Context, found onMachine, failed error) (again *client.Client, err error) {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	// Nothing announces that a daemon answers again.
	err = poll(ctx, lookEvery, func() (bool, error) {
		c, err := r.connect(ctx)
		if err == nil {
			info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
			if err == nil && (found.members < 2 || info.Node != found.self) {
				again = c
				return true, nil
			}
			_ = c.Close()
			if err == nil && failed != nil && !errors.Is(failed, api.ReasonNoDaemon) { // it has said so, and stays
				return false, unlessStopped(failed, "This machine could not leave the cluster, so nothing was removed")
			}
		}
		return errors.Is(err, api.ReasonStopped) || isGone(found.pid), nil
	})
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil, advised(api.Errorf(api.ReasonDeadline, "", "The daemon (pid %d) did not restart within %s.", found.pid, text.Duration(stopTimeout)),
			"Stop it with fulmen stop, then uninstall again.")
	}
	return again, err
}

// unlessStopped says what could not be done, and what can be done all the same.
func unlessStopped(err error, what string) error {
	e := *api.AsError(err)
	e.Message = what + ": " + e.Message
	e.Data.Remedy = "Try again; or stop the daemon (fulmen stop) and uninstall without it: the record of what was changed then stays."
	return &e
}

// takeAway removes the files, and says what has become of them.
func (r *run) takeAway(ctx context.Context, f uninstalling, found onMachine) error {
	var result api.UninstallResult
	path := client.APIFilePath(r.Environment)
	if path != "" {
		_ = os.Remove(path) // the token in it is of no use any more
	}
	if err := r.askFulmend(ctx, &result, append([]string{"uninstall", "-remove"}, f.deleteArgs()...)...); err != nil {
		return err
	}
	done := uninstalled{Changes: found.changes, Left: found.members > 1, Result: &result}
	err := r.answer(done, func(w *show.Page) { r.view().Uninstalled(w, result) })
	if err != nil || len(result.Failed) == 0 {
		return err
	}
	return advised(api.Errorf(api.ReasonInternal, result.Failed[0].Path, "%d things could not be removed; the first: %s", len(result.Failed), result.Failed[0].Message),
		"Fix that, then run fulmen uninstall again.")
}
