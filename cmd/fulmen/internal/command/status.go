package command

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "What this machine is, and whether it is healthy", Args: cobra.NoArgs,
		Example: "  fulmen status\n  fulmen status --wide\n  fulmen status --json | jq .conditions",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.status(c.Context(), c2) })
		},
	}
}

func (r *run) status(ctx context.Context, c *client.Client) error {
	var s show.Status
	all := asking{ctx: ctx, client: c}
	ask(&all, "node.list", nil, &s.Nodes)
	ask(&all, "node.conditions", nil, &s.Conditions)
	ask(&all, "state.get", shownKinds(), &s.State)
	all.try(func() error {
		links, err := client.Call[api.LinkListResult](ctx, c, "link.list", nil)
		if err == nil {
			s.Links = &links
		} else if notBuilt(err) {
			return nil
		}
		return err
	})
	if r.wide { // it takes the daemon longest, since it looks at what the platform can do
		ask(&all, "daemon.info", nil, &s.Info)
	}
	if err := all.wait(); err != nil {
		return err
	}
	r.freshen(ctx, c, s)
	if r.json {
		return text.JSON(r.Out, s)
	}
	return r.view().Status(r.Out, s)
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
