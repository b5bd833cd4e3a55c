package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// everybody is the word for all people of all members.
const everybody = "everybody"

func (r *run) usersCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "users", Short: "As which local account people's jobs run on this Mac", Args: cobra.NoArgs,
		Long: "As which local account the jobs of the cluster's people run on this Mac. WHO is a person, USER@NODE, for whom that\n" +
			"member vouches; or a NODE, for all its people; or everybody, for all people of all members. The line that says most\n" +
			"closely who is meant counts. Only this Mac's own administrators change this.",
		Example: "  fulmen users\n  fulmen users map mac-mini ada\n  fulmen users unmap bob@mac-mini\n  fulmen users forget bob@mac-mini",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.users(c.Context(), c2) })
		},
	}
	list.AddCommand(r.usersMap(), &cobra.Command{
		Use: "unmap WHO", Short: "Let somebody's jobs run here no more", Args: cobra.ExactArgs(1),
		Long:    "Jobs of WHO do not run on this Mac, whatever counts for their node or for everybody.",
		Example: "  fulmen users unmap bob@mac-mini",
		RunE: func(c *cobra.Command, args []string) error {
			return r.changeUsers(c.Context(), args[0], "", false)
		},
	}, &cobra.Command{
		Use: "forget WHO", Short: "Take a line away, so that a wider one counts", Args: cobra.ExactArgs(1),
		Long:    "Takes the line of WHO away: what is said of their node, or of everybody, counts for them again.",
		Example: "  fulmen users forget bob@mac-mini",
		RunE: func(c *cobra.Command, args []string) error {
			return r.changeUsers(c.Context(), args[0], "", true)
		},
	})
	return list
}

func (r *run) usersMap() *cobra.Command {
	var nobody bool
	c := &cobra.Command{
		Use: "map WHO ACCOUNT", Short: "Let somebody's jobs run as a local account",
		Long:    "Jobs of WHO run on this Mac as the local ACCOUNT, which is never root.",
		Example: "  fulmen users map ada@mac-mini ada\n  fulmen users map everybody guest",
		Args:    oneLess(&nobody, 2),
		RunE: func(c *cobra.Command, args []string) error {
			account := ""
			if !nobody {
				if account = args[1]; account == "" {
					return usage("ACCOUNT is empty; fulmen users unmap takes an account away")
				}
			}
			return r.changeUsers(c.Context(), args[0], account, false)
		},
	}
	c.Flags().BoolVar(&nobody, "nobody", false, "no account: the same as fulmen users unmap")
	return c
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

// changeUsers changes a line of the map.
func (r *run) changeUsers(ctx context.Context, word, account string, forget bool) error {
	return r.with(ctx, func(c *client.Client) error {
		params, err := whose(word, nodeNames(ctx, c))
		if err != nil {
			return err
		}
		params.Account, params.Forget = account, forget
		result, err := client.Call[api.Empty](ctx, c, "cluster.map_user", params)
		if err != nil {
			return err
		}
		if r.json {
			return text.JSON(r.Out, result)
		}
		switch word = text.Clean(word); {
		case forget:
			_, err = fmt.Fprintf(r.Out, "Nothing is said of %s any more; a wider line counts, if there is one.\n", word)
		case account == "":
			_, err = fmt.Fprintf(r.Out, "Jobs of %s do not run here.\n", word)
		default:
			_, err = fmt.Fprintf(r.Out, "Jobs of %s run here as %s. What this Mac lends: fulmen sharing\n", word, text.Clean(account))
		}
		return err
	})
}

// whose reads whose line of the map is meant.
func whose(word string, names map[api.NodeID]string) (api.ClusterMapUserParams, error) {
	if word == everybody {
		return api.ClusterMapUserParams{Members: true}, nil
	}
	if !strings.Contains(word, "@") {
		for id, name := range names {
			if name == word {
				return api.ClusterMapUserParams{Node: id}, nil
			}
		}
		if id, err := api.ParseNodeID(word); err == nil {
			return api.ClusterMapUserParams{Node: id}, nil
		}
	}
	who, err := principal(word, names)
	return api.ClusterMapUserParams{Principal: who}, err
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
		e.Data.Remedy = "Write it as USER@NODE, NODE or everybody, with a name or id that fulmen peers shows."
		return who, &e
	}
	return who, nil
}
