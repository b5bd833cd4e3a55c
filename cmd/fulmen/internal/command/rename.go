package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) renameCommand() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use: "rename NAME", Short: "Give this Mac another name in the cluster",
		Long:    "Gives this Mac another name, of 1 to 63 characters; the computer's own name stays. Its id, by which members know it,\ndoes not change.",
		Example: "  fulmen rename \"Studio at the window\"\n  fulmen rename --reset",
		Args:    oneLess(&follow, 1),
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if !follow {
				if name = args[0]; name == "" {
					return usage("the name is empty; --reset goes back to the computer's name")
				}
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.rename(c.Context(), c2, name) })
		},
	}
	c.Flags().BoolVar(&follow, "reset", false, "follow the computer's name again")
	return c
}

func (r *run) rename(ctx context.Context, c *client.Client, name string) error {
	result, err := client.Call[api.Empty](ctx, c, "node.rename", api.NodeRename{Name: name})
	if err != nil {
		return err
	}
	switch {
	case r.json:
		return text.JSON(r.Out, result)
	case name == "":
		_, err = fmt.Fprintln(r.Out, "This Mac has the computer's name again.")
	default:
		_, err = fmt.Fprintf(r.Out, "This Mac is called %s now.\n", text.Clean(name))
	}
	return err
}
