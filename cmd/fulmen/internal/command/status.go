package command

import (
	"context"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/cmd/fulmen/internal/text"
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
	ask(&all, "daemon.info", nil, &s.Info)
	ask(&all, "node.list", nil, &s.Nodes)
	ask(&all, "node.conditions", nil, &s.Conditions)
	ask(&all, "state.get", shownKinds(), &s.State)
	if err := all.wait(); err != nil {
		return err
	}
	r.keepAddress(ctx, c, s.Info)
	if r.json {
		return text.JSON(r.Out, s)
	}
	return r.view().Status(r.Out, s)
}

// shownKinds are the documents that tables of nodes show.
func shownKinds() api.StateSelect {
	return api.StateSelect{Kinds: []api.Kind{api.KindIdentity, api.KindMemory, api.KindGPUProfile}}
}
