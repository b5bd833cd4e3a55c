package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) configCommand() *cobra.Command {
	all := r.configRead("show", "Every key with the value in force", "  fulmen config show\n  fulmen config show --wide", func(l api.DaemonConfigResult) error {
		return r.view().Config(r.Out, l)
	})
	c := group("config", "See and change the configuration",
		all, r.configGet(), r.configSet(),
		r.configRead("path", "Where the configuration is", "  fulmen config path", func(l api.DaemonConfigResult) error {
			_, err := fmt.Fprintln(r.Out, text.Clean(l.File))
			return err
		}),
		r.configRead("example", "A configuration with every key explained", "  fulmen config example", func(l api.DaemonConfigResult) error {
			return show.Example(r.Out, l.Keys)
		}),
	)
	c.RunE = all.RunE
	return c
}

// configRead is a command that shows something of daemon.config.
func (r *run) configRead(use, short, example string, write func(api.DaemonConfigResult) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs, Example: example,
		RunE: func(c *cobra.Command, _ []string) error {
			return r.config(c.Context(), func(_ *client.Client, l api.DaemonConfigResult) error {
				if r.json {
					return text.JSON(r.Out, l)
				}
				return write(l)
			})
		},
	}
}

// config reads the configuration and does something with it.
func (r *run) config(ctx context.Context, do func(*client.Client, api.DaemonConfigResult) error) error {
	return r.with(ctx, func(c *client.Client) error {
		listing, err := client.Call[api.DaemonConfigResult](ctx, c, "daemon.config", nil)
		if err != nil {
			return err
		}
		return do(c, listing)
	})
}

func (r *run) configGet() *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "The value of a key that is in force", Args: cobra.ExactArgs(1),
		Example: "  fulmen config get log.level",
		RunE: func(c *cobra.Command, args []string) error {
			return r.config(c.Context(), func(_ *client.Client, l api.DaemonConfigResult) error {
				key, err := keyOf(l, args[0])
				if err != nil {
					return err
				}
				if r.json {
					return text.JSON(r.Out, key)
				}
				_, err = fmt.Fprintln(r.Out, show.Value(key.Value))
				return err
			})
		},
	}
}

func (r *run) configSet() *cobra.Command {
	var unset bool
	c := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a key; comments in the file stay",
		Long: "Changes a key of the configuration file and leaves its comments, order and blanks alone. Lists are written with\n" +
			"commas, or as JSON. With --unset the key goes back to its default.",
		Example: "  fulmen config set log.level debug\n  fulmen config set peers.addresses mac-studio-2.local,mac-mini.local\n  fulmen config set --unset log.level",
		Args:    oneLess(&unset, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return r.config(c.Context(), func(c2 *client.Client, l api.DaemonConfigResult) error {
				params := api.DaemonSetConfigParams{Unset: args[:1]}
				if !unset {
					var err error
					if params, err = setting(l, args[0], args[1]); err != nil {
						return err
					}
				}
				return r.setConfig(c.Context(), c2, l, params, args[0])
			})
		},
	}
	c.Flags().BoolVar(&unset, "unset", false, "back to the default")
	return c
}

func (r *run) setConfig(ctx context.Context, c *client.Client, before api.DaemonConfigResult, params api.DaemonSetConfigParams, name string) error {
	result, err := client.Call[api.Empty](ctx, c, "daemon.set_config", params)
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, result)
	}
	when := "in force now"
	if key, err := keyOf(before, name); err == nil && key.NeedsRestart {
		when = "in force after a restart of the daemon"
	}
	_, err = fmt.Fprintf(r.Out, "%s is changed, %s.\n", text.Clean(name), when)
	return err
}
