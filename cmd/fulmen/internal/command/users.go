package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) usersCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "users", Short: "As which local account each person's jobs run on this Mac", Args: cobra.NoArgs,
		Long: "As which local account the jobs of the cluster's people run on this Mac. A person is USER@NODE: an account of a\n" +
			"member, for which that member vouches; NODE is its name or id. Only this Mac's own administrators change this.",
		Example: "  fulmen users\n  fulmen users map ada@mac-mini ada\n  fulmen users unmap ada@mac-mini",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.users(c.Context(), c2) })
		},
	}
	list.AddCommand(&cobra.Command{
		Use: "map PERSON ACCOUNT", Short: "Let a person's jobs run as a local account", Args: cobra.ExactArgs(2),
		Long:    "The jobs of PERSON, USER@NODE, run on this Mac as the local ACCOUNT, which is never root.",
		Example: "  fulmen users map ada@mac-mini ada",
		RunE: func(c *cobra.Command, args []string) error {
			if args[1] == "" {
				return usage("ACCOUNT is empty; fulmen users unmap takes an account away")
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.mapUser(c.Context(), c2, args[0], args[1]) })
		},
	}, &cobra.Command{
		Use: "unmap PERSON", Short: "Let a person's jobs run here no more", Args: cobra.ExactArgs(1),
		Example: "  fulmen users unmap ada@mac-mini",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.mapUser(c.Context(), c2, args[0], "") })
		},
	})
	return list
}

func (r *run) users(ctx context.Context, c *client.Client) error {
	result, err := client.Call[api.ClusterUsersResult](ctx, c, "cluster.users", nil)
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, result)
	}
	return r.view().Users(r.Out, result.Users, nodeNames(ctx, c))
}

func (r *run) mapUser(ctx context.Context, c *client.Client, word, account string) error {
	who, err := principal(word, nodeNames(ctx, c))
	if err != nil {
		return err
	}
	result, err := client.Call[api.Empty](ctx, c, "cluster.map_user", api.ClusterMapUserParams{Principal: who, Account: account})
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, result)
	}
	if account == "" {
		_, err = fmt.Fprintf(r.Out, "Jobs of %s do not run here any more.\n", text.Clean(word))
		return err
	}
	_, err = fmt.Fprintf(r.Out, "Jobs of %s run here as %s. What this Mac lends: fulmen sharing\n", text.Clean(word), text.Clean(account))
	return err
}

// principal reads a person, whose node may be written as its name.
func principal(word string, names map[api.NodeID]string) (api.Principal, error) {
	at := strings.LastIndexByte(word, '@')
	if at >= 0 {
		for id, name := range names {
			if name == word[at+1:] {
				word = word[:at+1] + string(id)
				break
			}
		}
	}
	who, err := api.ParsePrincipal(word)
	if err != nil {
		e := *api.AsError(err)
		e.Data.Remedy = "Write it as USER@NODE, with a name or id that fulmen peers shows."
		return who, &e
	}
	return who, nil
}
