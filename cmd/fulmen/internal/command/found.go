package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/cmd/fulmen/internal/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// findTimeout is how long it is waited for a Mac that shows a code to be found.
const findTimeout = 10 * time.Second

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

// find waits until a Mac fits; false where none came in time.
func find(ctx context.Context, c *client.Client, within time.Duration, fits func([]api.Pending) bool) ([]api.Pending, bool, error) {
	wait, stop := context.WithTimeout(ctx, within)
	defer stop()
	var view client.View
	for event, err := range c.Watch(wait, api.StateSelect{Kinds: []api.Kind{api.KindPending}}) {
		if err != nil {
			return nil, false, err
		}
		view.Apply(event)
		if all := pendingOf(view.Docs()); fits(all) {
			return all, true, nil
		}
	}
	if ctx.Err() != nil {
		return nil, false, api.Errorf(api.ReasonCancelled, "", "Cancelled; nothing was changed.")
	}
	return pendingOf(view.Docs()), false, nil
}

// called are the Macs that a word means: a name, an id, or the beginning of one.
func called(word string, all []api.Pending) []api.Pending {
	id := strings.ReplaceAll(strings.ToLower(word), "-", "")
	var exact, similar []api.Pending
	for _, p := range all {
		switch {
		case strings.EqualFold(p.Name, word), string(p.Peer) == id:
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

// among finds the Mac that is meant: by a word, or, without one, the only one,
// or the one that somebody chooses.
func (r *run) among(ctx context.Context, c *client.Client, word string) (api.Pending, error) {
	if word == "" {
		fmt.Fprintln(r.Err, "Looking for Macs that show a code ...")
	}
	all, found, err := find(ctx, c, findTimeout, func(all []api.Pending) bool {
		if word != "" {
			return len(called(word, all)) > 0
		}
		return len(offered(all)) > 0
	})
	switch {
	case err != nil:
		return api.Pending{}, err
	case !found && word != "":
		e := api.Errorf(api.ReasonPairingNotOpen, word, "No Mac %q that shows a code was found in %s.", word, text.Duration(findTimeout))
		e.Data.Remedy = "On that Mac: fulmen pair. Where the network hides it, give its address: fulmen join 192.168.1.7"
		return api.Pending{}, e
	case !found:
		e := api.Errorf(api.ReasonPairingNotOpen, "", "No Mac that shows a code was found in %s.", text.Duration(findTimeout))
		e.Data.Remedy = "On the other Mac: fulmen pair. Where the network hides it, give its address: fulmen join 192.168.1.7"
		return api.Pending{}, e
	}
	if word != "" {
		all = called(word, all)
	} else {
		all = offered(all)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return r.choose(ctx, all)
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
