package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) tokenCommand() *cobra.Command {
	return group("token", "Tokens with which scripts use the API", r.tokenCreate(), r.tokenList(), r.tokenRevoke())
}

func (r *run) tokenCreate() *cobra.Command {
	var valid time.Duration
	var isKey bool
	c := &cobra.Command{
		Use: "create [NAME]", Short: "Make a token, or a key of the endpoint", Args: cobra.MaximumNArgs(1),
		Long: "With a NAME: makes a token and prints it, this one time. Without: replaces your own and writes it, with the\n" +
			"daemon's address, to your api.json, where scripts find it.\n" +
			"With --endpoint it is a key with which clients of OpenAI's API ask this Mac for a model, and no more.",
		Example: "  fulmen token create\n  fulmen token create dashboard-of-the-lab --valid 720h\n  fulmen token create phone --endpoint",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && (valid != 0 || isKey) {
				return usage("--valid and --endpoint are only for a token with a name")
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				if len(args) == 0 {
					return r.login(c.Context(), c2)
				}
				params := api.DaemonCreateTokenParams{Name: args[0], ValidS: valid.Seconds(), Endpoint: isKey}
				return answered(c.Context(), r, c2, "daemon.create_token", params, func(w *show.Page, made api.DaemonCreateTokenResult) {
					can := "do what you can, except what needs an administrator."
					if isKey {
						can = "ask the models that you can."
					}
					fmt.Fprintln(r.Err, "This token is shown only once; whoever has it can "+can)
					w.Line(made.Token)
				})
			})
		},
	}
	c.Flags().BoolVar(&isKey, "endpoint", false, "make a key of the endpoint of this Mac")
	c.Flags().DurationVar(&valid, "valid", 0, "how long it is valid, such as 720h (default: until you revoke it)")
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
	return r.answer(address, func(w *show.Page) { w.Line("The address " + address.URL + " and your token are in " + path) })
}

func (r *run) tokenList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Your tokens, without their secrets", Args: cobra.NoArgs,
		Example: "  fulmen token list",
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			return answered(ctx, r, c, "daemon.tokens", nil, func(w *show.Page, list api.DaemonTokensResult) { r.view().Tokens(w, list.Tokens) })
		}),
	}
}

func (r *run) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "End a token and its connections", Args: cobra.ExactArgs(1),
		Example: "  fulmen token revoke dashboard-of-the-lab",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			return r.done(ctx, c, "daemon.revoke_token", api.DaemonRevokeTokenParams{Name: args[0]},
				fmt.Sprintf("The token %q is no longer valid.", text.Clean(args[0])))
		}),
	}
}
