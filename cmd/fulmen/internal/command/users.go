package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// everybody is the word for all people of all members.
const everybody = "everybody"

func (r *run) usersCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "users", Short: "Which local account each person's jobs run as on this Mac", Args: cobra.NoArgs,
		Long: "Which local account the jobs of people in the cluster run as on this Mac. WHO is a person, USER@NODE, for whom that\n" +
			"member vouches; or a NODE, for all its people; or everybody, for all people of all members. The most specific line\n" +
			"for a person counts. Only administrators of this Mac can change this.",
		Example: "  fulmen users\n  fulmen users map mac-mini ada\n  fulmen users unmap bob@mac-mini\n  fulmen users forget bob@mac-mini",
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			return answered(ctx, r, c, "cluster.users", nil, func(w *show.Page, result api.ClusterUsersResult) {
				r.view().Users(w, result.Users, nodeNames(ctx, c))
			})
		}),
	}
	list.AddCommand(r.usersMap(), &cobra.Command{
		Use: "unmap WHO", Short: "Stop letting somebody's jobs run here", Args: cobra.ExactArgs(1),
		Long:    "Jobs of WHO no longer run on this Mac, even if their node or everybody may.",
		Example: "  fulmen users unmap bob@mac-mini",
		RunE: func(c *cobra.Command, args []string) error {
			return r.changeUsers(c.Context(), args[0], "", 0, false)
		},
	}, &cobra.Command{
		Use: "forget WHO", Short: "Remove a line, so that a more general one applies", Args: cobra.ExactArgs(1),
		Long:    "Removes the line of WHO: the line of their node, or of everybody, applies to them again.",
		Example: "  fulmen users forget bob@mac-mini",
		RunE: func(c *cobra.Command, args []string) error {
			return r.changeUsers(c.Context(), args[0], "", 0, true)
		},
	})
	return list
}

func (r *run) usersMap() *cobra.Command {
	var nobody bool
	var most int
	c := &cobra.Command{
		Use: "map WHO ACCOUNT", Short: "Let somebody's jobs run as a local account",
		Long: "Jobs of WHO run on this Mac as the local ACCOUNT, which is never root. Against the jobs of others their priority\n" +
			"counts here up to --max-priority, by default not at all.",
		Example: "  fulmen users map ada@mac-mini ada\n  fulmen users map everybody guest",
		Args:    oneLess(&nobody, 2),
		RunE: func(c *cobra.Command, args []string) error {
			account := ""
			if !nobody {
				if account = args[1]; account == "" {
					return usage("ACCOUNT is empty; to take an account away: fulmen users unmap WHO")
				}
			}
			return r.changeUsers(c.Context(), args[0], account, most, false)
		},
	}
	c.Flags().IntVar(&most, "max-priority", 0, "how far the priority of their jobs counts here against others', 0 to 100")
	c.Flags().BoolVar(&nobody, "nobody", false, "no account; the same as fulmen users unmap")
	return c
}

// changeUsers changes a line of the map.
func (r *run) changeUsers(ctx context.Context, word, account string, most int, forget bool) error {
	return r.with(ctx, func(c *client.Client) error {
		params, err := whose(word, nodeNames(ctx, c))
		if err != nil {
			return err
		}
		params.Account, params.MaxPriority, params.Forget = account, most, forget
		words := "Jobs of " + word + " run here as " + account + ". What this Mac lends: fulmen sharing"
		switch {
		case forget:
			words = "The line of " + word + " is removed; a more general line applies, if there is one."
		case account == "":
			words = "Jobs of " + word + " do not run here."
		}
		return r.done(ctx, c, "cluster.map_user", params, words)
	})
}

// whose reads whose line of the map is meant.
func whose(word string, names show.Names) (api.ClusterMapUserParams, error) {
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
func principal(word string, names show.Names) (api.Principal, error) {
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
		return who, advised(api.AsError(err), "Write it as USER@NODE, NODE or everybody, with a name or id that fulmen peers shows.")
	}
	return who, nil
}
