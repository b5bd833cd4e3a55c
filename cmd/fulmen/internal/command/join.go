package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	var l sharing
	var invite string
	c := &cobra.Command{
		Use: "join [NODE | ADDRESS]", Short: "Join the cluster of a Mac that shows a code", Args: cobra.MaximumNArgs(1),
		Long: "Joins this Mac to the cluster of another one, on which fulmen pair shows a code. The code is asked for on the\n" +
			"terminal, or read from standard input; it is never an argument, which other accounts could see. Without NODE it is\n" +
			"the Mac that shows a code; several are listed. An ADDRESS (host or host:port) is for networks that hide Macs from\n" +
			"each other.\n\n" +
			"This Mac lends nothing that is not said here: which local account the cluster's people may use to run jobs, and whether\n" +
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
					return usage("an invitation already names the Mac: leave NODE out")
				}
				return r.with(c.Context(), func(c2 *client.Client) error { return r.joinInvited(c.Context(), c2, l) })
			}
			target := ""
			if len(args) > 0 {
				target = args[0]
			}
			if looksLikeCode(target) {
				return usage("that looks like a code: type it when you are asked for it, since other accounts can see it here; if it is the name of a Mac, use its id")
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
func (r *run) join(ctx context.Context, c *client.Client, target string, l sharing) error {
	params, who, err := r.target(ctx, c, target)
	if err != nil {
		return err
	}
	if l, err = r.completeSharing(ctx, l, true); err != nil {
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
func (r *run) joinInvited(ctx context.Context, c *client.Client, l sharing) error {
	line, err := r.secret(ctx, "Invitation: ", "invitation")
	if err != nil {
		return err
	}
	if l, err = r.completeSharing(ctx, l, true); err != nil {
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
func (r *run) joined(result api.ClusterJoinResult, l sharing) error {
	return r.answer(result, func(w *show.Page) {
		others := slices.DeleteFunc(slices.Clone(result.Members), func(m api.Member) bool { return m.RemovedBy != "" })
		fmt.Fprint(w, "This Mac has joined the cluster, with these members:\n\n")
		r.view().Members(w, others, show.Peers{Peers: api.ClusterPeersResult{Members: result.Members}}.Called())
		lent := "Nobody else in the cluster can run jobs here yet; to allow somebody: fulmen users map WHO ACCOUNT"
		if l.account != "" {
			lent = "Jobs from the other members run here as " + text.Clean(l.account) + "; see: fulmen sharing"
		}
		fmt.Fprintf(w, "\n%s\nSee the cluster: fulmen status\n", lent)
	})
}

// findTimeout is how long it is waited for a Mac that shows a code to be found.
// Discovery takes less; a list of such Macs may take longer, since it takes up
// one a minute at most.
const findTimeout = 3 * time.Second

// pendingOf are the Macs that ask or show a code, the one that did first at the top.
func pendingOf(docs []api.Document) []api.Pending {
	var all []api.Pending
	for _, d := range docs {
		var p api.Pending
		if d.Kind == api.KindPending && !d.Deleted && d.Decode(&p) == nil {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b api.Pending) int { return a.Since.Compare(b.Since.Time) })
	return all
}

// find waits until Macs are listed that a word means; without one, any that
// nobody has ignored. None is no error.
func find(ctx context.Context, c *client.Client, within time.Duration, word string) ([]api.Pending, error) {
	wait, stop := context.WithTimeout(ctx, within)
	defer stop()
	var view client.View
	for event, err := range c.Watch(wait, api.StateSelect{Kinds: []api.Kind{api.KindPending}}) {
		if err != nil && wait.Err() == nil {
			return nil, err
		}
		view.Apply(event)
		all := pendingOf(view.Docs())
		if word != "" {
			all = called(word, all)
		} else {
			all = offered(all)
		}
		if len(all) > 0 {
			return all, nil
		}
	}
	if ctx.Err() != nil {
		return nil, api.Errorf(api.ReasonCancelled, "", "Cancelled; nothing was changed.")
	}
	return nil, nil
}

// called are the Macs that a word means: a name, an address, an id, or the
// beginning of one.
func called(word string, all []api.Pending) []api.Pending {
	id := strings.ReplaceAll(strings.ToLower(word), "-", "")
	var exact, similar []api.Pending
	for _, p := range all {
		switch {
		case strings.EqualFold(p.Name, word), string(p.Peer) == id, p.Address.IsValid() && p.Address.Addr().String() == word:
			exact = append(exact, p)
		case id != "" && strings.HasPrefix(string(p.Peer), id):
			similar = append(similar, p)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return similar
}

// isAddress tells an address from a Mac's name, which has no dot and no colon
// in what people type.
func isAddress(word string) bool { return strings.ContainsAny(word, ".:") }

// target says whom to join: what a word means, or without one the only Mac that
// shows a code, or the one that somebody chooses. Where none is listed it is left
// to the daemon, which may find one all the same. who is for people.
func (r *run) target(ctx context.Context, c *client.Client, word string) (to api.ClusterJoinParams, who string, err error) {
	if isAddress(word) {
		return api.ClusterJoinParams{Address: word}, word, nil
	}
	if id, err := api.ParseNodeID(word); err == nil {
		return api.ClusterJoinParams{Node: id}, word, nil
	}
	if word == "" {
		fmt.Fprintln(r.Err, "Looking for Macs that show a code…")
	}
	meant, err := find(ctx, c, findTimeout, word)
	switch {
	case err != nil:
		return to, "", err
	case len(meant) > 1:
		one, err := r.choose(ctx, meant)
		return api.ClusterJoinParams{Node: one.Peer}, one.Name, err
	case len(meant) == 1:
		fmt.Fprintf(r.Err, "%s (%s) shows a code.\n", text.Clean(meant[0].Name), text.Clean(show.Where(meant[0])))
		return api.ClusterJoinParams{Node: meant[0].Peer}, meant[0].Name, nil
	case word == "":
		return to, "the other Mac", nil
	}
	return api.ClusterJoinParams{Address: word}, word, nil // the name of a host, maybe
}

// offered leaves out those that somebody does not want to see.
func offered(all []api.Pending) []api.Pending {
	return slices.DeleteFunc(slices.Clone(all), func(p api.Pending) bool { return p.State == api.PendingIgnored })
}

// choose lists several Macs and asks for one.
func (r *run) choose(ctx context.Context, all []api.Pending) (api.Pending, error) {
	if err := r.print(r.Err, func(w *show.Page) { r.view().Pending(w, all, r.InTerminal) }); err != nil {
		return api.Pending{}, err
	}
	if !r.InTerminal {
		return api.Pending{}, advised(api.Errorf(api.ReasonBadValue, "", "%d Macs show a code.", len(all)), "Name one of them: fulmen join NAME")
	}
	for {
		answer, err := r.question(ctx, fmt.Sprintf("Which one? [1-%d] ", len(all)))
		if err != nil {
			return api.Pending{}, err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(all) {
			return all[n-1], nil
		}
	}
}
