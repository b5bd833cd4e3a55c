package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) inviteCommand() *cobra.Command {
	var valid time.Duration
	c := &cobra.Command{
		Use: "invite", Short: "Make an invitation for a Mac without a screen", Args: cobra.NoArgs,
		Long: "Prints one line, and nothing else on standard output; on the other Mac fulmen join --invite - reads it from standard\n" +
			"input. It is a secret: whoever has it can join, once, until it expires.",
		Example: "  fulmen invite | ssh mac-mini fulmen join --invite -\n  fulmen invite --valid 10m",
		RunE: func(c *cobra.Command, _ []string) error {
			if valid < time.Second {
				return usage("--valid is at least 1s")
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				return r.invite(c.Context(), c2, api.ClusterInviteParams{ValidS: valid.Seconds()})
			})
		},
	}
	c.Flags().DurationVar(&valid, "valid", time.Hour, "how long it counts, such as 10m")
	return c
}

func (r *run) invite(ctx context.Context, c *client.Client, params api.ClusterInviteParams) error {
	made, err := client.Call[api.ClusterInviteResult](ctx, c, "cluster.invite", params)
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, made)
	}
	fmt.Fprintf(r.Err, "A secret that works once, for %s, until %s. On the other Mac: fulmen join --invite -\n",
		text.Duration(made.ExpiresAt.Sub(r.Now()).Round(time.Second)), made.ExpiresAt)
	_, err = fmt.Fprintln(r.Out, text.Clean(made.Invite))
	return err
}
