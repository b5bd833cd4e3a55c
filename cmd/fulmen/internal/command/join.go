package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// joinTimeout bounds the talk of two Macs over a code, slow networks included.
const joinTimeout = 30 * time.Second

func (r *run) joinCommand() *cobra.Command {
	var l lending
	var invite string
	c := &cobra.Command{
		Use: "join [NODE | ADDRESS]", Short: "Join the cluster of a Mac that shows a code", Args: cobra.MaximumNArgs(1),
		Long: "Joins this Mac to the cluster of another one, on which fulmen pair shows a code. The code is asked for on the\n" +
			"terminal, or read from standard input; it is never an argument, which other accounts could see. Without NODE it is\n" +
			"the Mac that shows a code; several are listed. An ADDRESS (host or host:port) is for networks that hide Macs from\n" +
			"each other.\n\n" +
			"This Mac lends nothing that is not said here: as which local account the cluster's people may run jobs, and whether\n" +
			"members may change RDMA. fulmen sharing and fulmen users change it later.",
		Example: "  fulmen join\n  fulmen join mac-studio.local\n  fulmen join 192.168.1.7 --account ada --rdma-changes members\n" +
			"  fulmen join --invite - < invitation.txt",
		RunE: func(c *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			if c.Flags().Changed("invite") {
				if invite != "-" {
					return usage("an invitation is a secret, which other accounts could see here: give it on standard input, with --invite -")
				}
				if len(args) > 0 {
					return usage("an invitation says itself whose it is")
				}
				return r.with(c.Context(), func(c2 *client.Client) error { return r.joinInvited(c.Context(), c2, l) })
			}
			target := ""
			if len(args) > 0 {
				target = args[0]
			}
			if looksLikeCode(target) {
				return usage("that looks like a code: type it when it is asked for, not here, where other accounts can see it; a Mac of such a name is named by its id")
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.join(c.Context(), c2, target, l) })
		},
	}
	c.Flags().StringVar(&invite, "invite", "", "with -: read an invitation, as fulmen invite prints it, from standard input")
	l.flags(c)
	l.changesFlag(c)
	return c
}

// looksLikeCode reports whether a word is written as codes are shown: two groups
// of four of the characters that codes have.
func looksLikeCode(word string) bool {
	a, b, found := strings.Cut(strings.ToUpper(word), "-")
	return found && len(a) == 4 && len(b) == 4 && strings.Trim(a+b, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}

// join asks for what is missing and joins.
func (r *run) join(ctx context.Context, c *client.Client, target string, l lending) error {
	params, who, err := r.target(ctx, c, target)
	if err != nil {
		return err
	}
	if l, err = r.complete(ctx, l, true); err != nil {
		return err
	}
	params.Account, params.RDMAChanges = l.account, api.ChangeSharing(l.changes)
	return r.withCode(ctx, who, func(ctx context.Context, code string) error {
		params.Code = code
		result, err := client.Call[api.ClusterJoinResult](ctx, c, "cluster.join", params)
		if err != nil {
			return err
		}
		return r.joined(result, l)
	})
}

// joinInvited joins by an invitation.
func (r *run) joinInvited(ctx context.Context, c *client.Client, l lending) error {
	line, err := r.secret(ctx, "Invitation: ", "invitation")
	if err != nil {
		return err
	}
	if l, err = r.complete(ctx, l, true); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, joinTimeout)
	defer stop()
	result, err := client.Call[api.ClusterJoinResult](ctx, c, "cluster.join", api.ClusterJoinParams{
		Invite: line, Account: l.account, RDMAChanges: api.ChangeSharing(l.changes),
	})
	if err != nil {
		return err
	}
	return r.joined(result, l)
}

// withCode reads the code that another Mac shows and does something with it; a
// wrong one is asked for again where somebody types, while tries are left.
func (r *run) withCode(ctx context.Context, who string, do func(context.Context, string) error) error {
	for {
		code, err := r.secret(ctx, "Code that "+text.Clean(who)+" shows: ", "code")
		if err != nil {
			return err
		}
		limited, stop := context.WithTimeout(ctx, joinTimeout)
		err = do(limited, code)
		stop()
		if !r.InTerminal || !errors.Is(err, api.ReasonWrongCode) {
			return err
		}
		fmt.Fprintln(r.Err, text.Clean(api.AsError(err).Message))
	}
}

// joined says what became of it.
func (r *run) joined(result api.ClusterJoinResult, l lending) error {
	if r.json {
		return text.JSON(r.Out, result)
	}
	var others []api.Member
	for _, m := range result.Members {
		if m.RemovedBy == "" {
			others = append(others, m)
		}
	}
	if _, err := fmt.Fprintf(r.Out, "This Mac is in the cluster now, with these members:\n\n"); err != nil {
		return err
	}
	if err := r.view().Members(r.Out, others, show.Names(result.Members, nil)); err != nil {
		return err
	}
	lent := "No job of its people runs here; let somebody with: fulmen users map WHO ACCOUNT"
	if l.account != "" {
		lent = fmt.Sprintf("Its people's jobs run here as %s; see: fulmen sharing", text.Clean(l.account))
	}
	_, err := fmt.Fprintf(r.Out, "\n%s\nSee the cluster: fulmen status\n", lent)
	return err
}
