package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

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
		fmt.Fprintln(r.Err, "Looking for Macs that show a code ...")
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
	if err := r.view().Pending(r.Err, all, r.InTerminal); err != nil {
		return api.Pending{}, err
	}
	if !r.InTerminal {
		e := api.Errorf(api.ReasonBadValue, "", "%d Macs show a code.", len(all))
		e.Data.Remedy = "Say which is meant, by its name or id."
		return api.Pending{}, e
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
