package command

import (
	"context"
	"errors"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "What this machine is, and whether it is healthy", Args: cobra.NoArgs,
		Example: "  fulmen status\n  fulmen status --wide\n  fulmen status --json | jq .conditions",
		RunE:    r.asks(r.status),
	}
}

func (r *run) status(ctx context.Context, c *client.Client, _ []string) error {
	var s show.Status
	var all errgroup.Group
	ask(ctx, c, &all, "node.list", nil, &s.Nodes)
	ask(ctx, c, &all, "node.conditions", nil, &s.Conditions)
	ask(ctx, c, &all, "state.get", shownKinds(), &s.State)
	ask(ctx, c, &all, "link.list", nil, &s.Links)
	ask(ctx, c, &all, "job.list", nil, &s.Jobs)
	if r.wide { // it takes the daemon longest, since it looks at what the platform can do
		ask(ctx, c, &all, "daemon.info", nil, &s.Info)
	}
	if err := all.Wait(); err != nil {
		return err
	}
	r.freshen(ctx, c, s)
	return r.answer(s, func(w *show.Page) { r.view().Status(w, s) })
}

// freshen mends the user's api.json if it is older than the daemon, which may
// have another address since.
func (r *run) freshen(ctx context.Context, c *client.Client, s show.Status) {
	path := client.APIFilePath(r.Environment)
	file, err := os.Stat(path)
	started := s.Started() // zero in a daemon's first moment: then it is asked
	if err != nil || !started.IsZero() && file.ModTime().After(started) {
		return
	}
	info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
	if err != nil {
		return // the next command does it
	}
	r.keepAddress(ctx, c, info)
	now := r.Now()
	_ = os.Chtimes(path, now, now) // else it is looked at again next time
}

// shownKinds are the documents that tables of nodes show.
func shownKinds() api.StateSelect {
	return api.StateSelect{Kinds: []api.Kind{api.KindIdentity, api.KindMemory, api.KindGPUProfile, api.KindThunderbolt}}
}

// versions is what fulmen version shows.
type versions struct {
	// Version is the command line's.
	Version string `json:"version"`
	// GoVersion is the compiler's.
	GoVersion string `json:"go_version"`
	// Daemon is daemon.info; absent where none runs.
	Daemon *api.DaemonInfoResult `json:"daemon,omitempty"`
	// Skew is the reason of the condition, where the versions differ.
	Skew api.Reason `json:"skew,omitempty"`
}

func (r *run) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "The versions of this program and of the daemon", Args: cobra.NoArgs,
		Example: "  fulmen version\n  fulmen version --json",
		RunE:    func(c *cobra.Command, _ []string) error { return r.version(c.Context()) },
	}
}

func (r *run) version(ctx context.Context) error {
	v := versions{Version: r.Version, GoVersion: runtime.Version()}
	err := r.with(ctx, func(c *client.Client) error {
		info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
		if err == nil {
			v.Daemon, v.Skew = &info, c.Skew()
		}
		return err
	})
	if err != nil && !errors.Is(err, api.ReasonNoDaemon) {
		return err
	}
	return r.answer(v, func(w *show.Page) {
		w.Line("fulmen   " + r.Version)
		if v.Daemon == nil {
			w.Line("fulmend  not running")
			return
		}
		w.Line("fulmend  " + v.Daemon.Version)
		if info, ok := api.LookupReason(v.Skew); ok {
			w.Line(info.Text + " " + info.Remedy)
		}
	})
}
