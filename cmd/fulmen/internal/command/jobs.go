package command

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native/waker"
)

func (r *run) jobsCommand() *cobra.Command {
	var params api.JobListParams
	var labels []string
	var watch bool
	c := &cobra.Command{
		Use: "jobs", Short: "The jobs of the cluster", Args: cobra.NoArgs,
		Long: "The jobs that wait or run, the newest first; yours have a star. Of other people's jobs only the program's name, the\n" +
			"nodes and the resources are told.",
		Example: "  fulmen jobs\n  fulmen jobs --all --mine\n  fulmen jobs --watch",
		RunE: func(c *cobra.Command, _ []string) error {
			var request api.JobRequest
			if err := (&wanted{labels: labels}).extras(&request); err != nil {
				return err
			}
			params.Labels = request.Labels
			return r.with(c.Context(), func(c2 *client.Client) error {
				if watch {
					return r.watchJobs(c.Context(), c2, params)
				}
				return r.jobs(c.Context(), c2, params)
			})
		},
	}
	f := c.Flags()
	f.BoolVarP(&params.Ended, "all", "a", false, "also those that have ended")
	f.BoolVar(&params.Mine, "mine", false, "only yours")
	f.StringArrayVar(&labels, "label", nil, "only those with this label, KEY=VALUE")
	f.BoolVarP(&watch, "watch", "w", false, "show them anew whenever one changes, until Ctrl-C")
	return c
}

func (r *run) jobs(ctx context.Context, c *client.Client, params api.JobListParams) error {
	return listed(ctx, r, c, "job.list", params, func(list api.JobListResult, nodes []api.NodeView) error {
		return r.view().Jobs(r.Out, list.Jobs, params.Ended, shortNames(nodes))
	})
}

// shortNames are the names of nodes.
func shortNames(nodes []api.NodeView) map[api.NodeID]string {
	out := map[api.NodeID]string{}
	for _, n := range nodes {
		out[n.Node] = n.ShortName
	}
	return out
}

// watchJobs shows the jobs anew whenever one changed. On a terminal the table is
// drawn over.
func (r *run) watchJobs(ctx context.Context, c *client.Client, params api.JobListParams) error {
	ctx, stop := context.WithCancel(ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	own := make(chan watchedJobs)
	others := waker.New()
	following.Go(func() { watchOwnJobs(ctx, c, own) })
	following.Go(func() { watchOthersJobs(ctx, c, others) })
	var last error
	for {
		isOwn := false
		select {
		case seen, more := <-own:
			isOwn = true
			switch {
			case !more && ctx.Err() != nil:
				return nil // the end that was asked for
			case !more:
				return last
			case seen.err != nil:
				if last == nil && client.Mends(seen.err) { // an interruption is said once
					fmt.Fprintf(r.Err, "fulmen: interrupted: %s Trying again until Ctrl-C.\n", text.Clean(api.AsError(seen.err).Message))
				}
				last = seen.err
				continue
			}
			last = nil
			if !seen.event.Snapshot && len(seen.event.Put)+len(seen.event.Del) == 0 {
				continue
			}
		case <-others:
		}
		if r.Screen && !r.json {
			fmt.Fprint(r.Out, "\x1b[H\x1b[2J")
		}
		if err := r.jobs(ctx, c, params); err != nil && ctx.Err() == nil && (isOwn || !client.Mends(err)) {
			return err
		}
		if !r.Screen && !r.json {
			fmt.Fprintln(r.Out)
		}
	}
}

// watchedJobs is what a watch of documents gives.
type watchedJobs struct {
	event client.Event
	err   error
}

// watchOwnJobs follows the documents of jobs that the caller may read.
func watchOwnJobs(ctx context.Context, c *client.Client, to chan<- watchedJobs) {
	defer close(to)
	for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindJob}}) {
		select {
		case to <- watchedJobs{event, err}:
		case <-ctx.Done():
			return
		}
	}
}

// watchOthersJobs tells of changes of all jobs: documents of other people's jobs are
// theirs to read, and that one waits, runs or has ended is said to everybody. A daemon
// that has no events is left alone.
func watchOthersJobs(ctx context.Context, c *client.Client, to waker.Waker) {
	isOf := func(e api.Event) bool { return e.Job != "" }
	for isFirst := true; ctx.Err() == nil; isFirst = false {
		before, news, err := client.Stream[api.EventWatchResult, api.EventHappened](ctx, c, "event.watch", api.EventSelect{Since: api.TimeOf(time.Now())})
		if err == nil {
			if !isFirst || slices.ContainsFunc(before.Events, isOf) { // between two subscriptions too
				to.Wake()
			}
			for more, lost := range news {
				if err = lost; err != nil {
					break
				}
				if more.Lagged || slices.ContainsFunc(more.Events, isOf) {
					to.Wake()
				}
			}
		}
		if err != nil && !client.Mends(err) {
			return
		}
		again := time.NewTimer(time.Second)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
		}
	}
}
