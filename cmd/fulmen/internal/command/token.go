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

func (r *run) tokenCommand() *cobra.Command {
	return group("token", "Tokens with which scripts use the API", r.tokenCreate(), r.tokenList(), r.tokenRevoke())
}

func (r *run) tokenCreate() *cobra.Command {
	var valid time.Duration
	c := &cobra.Command{
		Use: "create [NAME]", Short: "Make a token", Args: cobra.MaximumNArgs(1),
		Long: "With a NAME: makes a token and prints it, this one time. Without: makes your own anew and writes it, with the\n" +
			"daemon's address, to your api.json, where scripts find it.",
		Example: "  fulmen token create\n  fulmen token create dashboard-of-the-lab --valid 720h",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && valid != 0 {
				return usage("--valid is for a token with a name")
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				if len(args) == 0 {
					return r.login(c.Context(), c2)
				}
				return r.createToken(c.Context(), c2, api.DaemonCreateTokenParams{Name: args[0], ValidS: valid.Seconds()})
			})
		},
	}
	c.Flags().DurationVar(&valid, "valid", 0, "how long it counts, such as 720h; not given: for ever")
	return c
}

func (r *run) login(ctx context.Context, c *client.Client) error {
	path := client.APIFilePath(r.Environment)
	if path == "" {
		return usage("there is no folder for api.json: HOME is not set")
	}
	address, err := client.Login(ctx, c, path, ownToken)
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, address)
	}
	_, err = fmt.Fprintf(r.Out, "The address %s and your token are in %s\n", address.URL, text.Clean(path))
	return err
}

func (r *run) createToken(ctx context.Context, c *client.Client, params api.DaemonCreateTokenParams) error {
	made, err := client.Call[api.DaemonCreateTokenResult](ctx, c, "daemon.create_token", params)
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, made)
	}
	fmt.Fprintln(r.Err, "This token is shown once; whoever has it can do what you can do, except administer.")
	_, err = fmt.Fprintln(r.Out, made.Token)
	return err
}

func (r *run) tokenList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Your tokens, without their secrets", Args: cobra.NoArgs,
		Example: "  fulmen token list",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				list, err := client.Call[api.DaemonTokensResult](c.Context(), c2, "daemon.tokens", nil)
				if err != nil {
					return err
				}
				if r.json {
					return text.JSON(r.Out, list)
				}
				return r.view().Tokens(r.Out, list.Tokens)
			})
		},
	}
}

func (r *run) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "End a token and its connections", Args: cobra.ExactArgs(1),
		Example: "  fulmen token revoke dashboard-of-the-lab",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				result, err := client.Call[api.Empty](c.Context(), c2, "daemon.revoke_token", api.DaemonRevokeTokenParams{Name: args[0]})
				if err != nil {
					return err
				}
				if r.json {
					return text.JSON(r.Out, result)
				}
				_, err = fmt.Fprintf(r.Out, "The token %q does not count any more.\n", text.Clean(args[0]))
				return err
			})
		},
	}
}
