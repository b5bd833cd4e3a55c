package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native/waker"
)

func (r *run) jobCommand() *cobra.Command {
	return group("job", "Look at a job, stop it, run it again",
		r.jobShow(), r.jobLogs(), r.jobAttach(), r.jobStop(), r.jobRetry(), r.jobDelete(), r.jobTakeOver())
}

// oneJob is a command about one job, which is named by its id or the beginning of it.
func (r *run) oneJob(use, short, long, example string, do func(context.Context, *client.Client, api.JobID) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " JOB", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: r.completeJob,
		Long: long + "\n\nJOB is an id as fulmen jobs shows it, or enough of its beginning to be unique.", Example: example,
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			id, err := jobID(ctx, c, args[0])
			if err != nil {
				return err
			}
			return do(ctx, c, id)
		}),
	}
}

func (r *run) jobShow() *cobra.Command {
	return r.oneJob("show", "Everything about a job", "What a job is, where it runs, its phases with their times, its attempts, and its ranks.",
		"  fulmen job show j4k2", func(ctx context.Context, c *client.Client, id api.JobID) error {
			return answered(ctx, r, c, "job.get", api.JobSelect{Job: id}, func(w *show.Page, result api.JobGetResult) {
				var s jobState
				s.apply(append([]api.Document{result.Job}, result.Ranks...))
				r.view().Job(w, s.job, s.list(), nodeNames(ctx, c))
				r.view().SilentCables(w, result.Ranks)
				r.view().Published(w, result.Published)
			})
		})
}

func (r *run) jobStop() *cobra.Command {
	var kill bool
	c := r.oneJob("stop", "End a job", "Ends a job: every rank gets SIGTERM, and SIGKILL if it has not ended after the grace. Does not wait for the end; fulmen job attach does.",
		"  fulmen job stop j4k2\n  fulmen job stop j4k2 --kill", func(ctx context.Context, c *client.Client, id api.JobID) error {
			return r.done(ctx, c, "job.stop", api.JobStopParams{Job: id, Kill: kill}, id.String()+" is being stopped.")
		})
	c.Flags().BoolVar(&kill, "kill", false, "kill it at once, without the grace")
	return c
}

func (r *run) jobRetry() *cobra.Command {
	return r.oneJob("retry", "Run a job again that has ended", "Submits a job that has ended again, as a new job that goes on by itself, and prints its id.",
		"  fulmen job retry j4k2", func(ctx context.Context, c *client.Client, id api.JobID) error {
			return answered(ctx, r, c, "job.retry", api.JobSelect{Job: id}, submitted)
		})
}

func (r *run) jobDelete() *cobra.Command {
	var keep bool
	c := r.oneJob("delete", "Forget a job that has ended", "Forgets a job that has ended, with its ranks, files and output on all nodes.",
		"  fulmen job delete j4k2\n  fulmen job delete j4k2 --keep-output", func(ctx context.Context, c *client.Client, id api.JobID) error {
			params := api.JobDeleteParams{Job: id}
			if keep {
				params.Output = api.OutputKeep
			}
			err := r.done(ctx, c, "job.delete", params, id.String()+" is deleted.")
			if errors.Is(err, api.ReasonJobRunning) {
				return advised(api.AsError(err), "Stop it first: fulmen job stop "+id.String())
			}
			return err
		})
	c.Flags().BoolVar(&keep, "keep-output", false, "keep its output on the nodes")
	return c
}

func (r *run) jobTakeOver() *cobra.Command {
	return r.oneJob("take-over", "Make this Mac the home of a job whose home is lost",
		"Makes this Mac the home of a job whose home is lost and that no majority of the cluster can take over. Its ranks are\n"+
			"ended before another attempt begins, so do this only if the lost Mac will not come back soon.",
		"  fulmen job take-over j4k2", func(ctx context.Context, c *client.Client, id api.JobID) error {
			return r.done(ctx, c, "job.take_over", api.JobSelect{Job: id}, "This Mac keeps the job "+id.String()+" now.")
		})
}

func (r *run) jobAttach() *cobra.Command {
	var f following
	var input bool
	c := r.oneJob("attach", "Follow a job as fulmen run does, also from another node",
		"Shows where a job is and what it prints, from the beginning of the current attempt, until it has ended, and ends with\n"+
			"its exit code as fulmen run does. Ctrl-C stops a job that a terminal follows, and leaves one alone that was submitted\n"+
			"with --detach.\n"+
			"With --input the job is given what comes on standard input, after what it was given by others.",
		"  fulmen job attach j4k2\n  fulmen job attach --input j4k2", func(ctx context.Context, c *client.Client, id api.JobID) error {
			return notStarted(r.attachTo(ctx, c, id, f, input))
		})
	c.Flags().BoolVarP(&input, "input", "i", false, "give the job what comes on standard input, and its end; a terminal is rank 0's where it has one")
	f.flags(c)
	return c
}

func (r *run) attachTo(ctx context.Context, c *client.Client, id api.JobID, f following, input bool) error {
	signals, stop := r.stopSignals()
	defer stop()
	job, err := client.Call[api.JobGetResult](ctx, c, "job.get", api.JobSelect{Job: id})
	if err != nil {
		return err
	}
	nodes, err := nodeViews(ctx, c)
	if err != nil {
		return err
	}
	var s jobState
	s.apply([]api.Document{job.Job})
	spec := s.spec()
	a := &attachment{job: id, leave: spec.Detached, following: f, input: input, giver: rand.Text()}
	return r.attach(context.WithoutCancel(ctx), c, a,
		api.JobRequest{Placement: spec.Placement, Program: spec.Program}, nodes, signals)
}

// jobID is the job that a word means: an id, or the beginning of one that no
// other job has.
func jobID(ctx context.Context, c *client.Client, word string) (api.JobID, error) {
	if id, err := api.ParseJobID(word); err == nil {
		return id, nil
	}
	list, err := client.Call[api.JobListResult](ctx, c, "job.list", api.JobListParams{Ended: true})
	if err != nil {
		return "", err
	}
	return meantJob(word, list.Jobs)
}

// meantJob chooses among jobs.
func meantJob(word string, jobs []api.JobSummary) (api.JobID, error) {
	var similar []string
	start := strings.ToLower(word)
	if start != "" && start[0] == 'j' {
		start = "j" + api.FoldCrockford(start[1:])
	}
	for _, j := range jobs {
		if start != "" && strings.HasPrefix(string(j.Job), start) {
			similar = append(similar, string(j.Job))
		}
	}
	if len(similar) == 1 {
		return api.JobID(similar[0]), nil
	}
	e := api.Errorf(api.ReasonNoSuchJob, word, "There is no job %q.", word)
	if len(similar) > 1 {
		e = api.Errorf(api.ReasonAmbiguousName, word, "Several jobs begin with %q: %s.", word, strings.Join(similar, ", "))
	}
	return "", e.WithRemedy("See: fulmen jobs --all")
}

// completeJob completes the ids of jobs.
func (r *run) completeJob(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return r.complete(c, func(ctx context.Context, c *client.Client) (out []string) {
		if len(args) > 0 {
			return nil
		}
		list, _ := client.Call[api.JobListResult](ctx, c, "job.list", api.JobListParams{Ended: true}) // none: nothing to complete with
		for _, j := range list.Jobs {
			out = append(out, cobra.CompletionWithDesc(string(j.Job), j.Name+", "+string(j.Phase)))
		}
		return out
	})
}

func (r *run) jobsCommand() *cobra.Command {
	var params api.JobListParams
	var labels []string
	var watch bool
	c := &cobra.Command{
		Use: "jobs", Short: "The jobs of the cluster", Args: cobra.NoArgs,
		Long: "The jobs that wait or run, the newest first; yours have a star. Of other people's jobs only the program's name, the\n" +
			"nodes and the resources are shown.",
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
	f.BoolVarP(&params.Ended, "all", "a", false, "also show jobs that have ended")
	f.BoolVar(&params.Mine, "mine", false, "only your own jobs")
	f.StringArrayVar(&labels, "label", nil, "only jobs with this label, KEY=VALUE")
	f.BoolVarP(&watch, "watch", "w", false, "show them again whenever one changes, until Ctrl-C")
	return c
}

func (r *run) jobs(ctx context.Context, c *client.Client, params api.JobListParams) error {
	return listed(ctx, r, c, "job.list", params, func(w *show.Page, list api.JobListResult, nodes []api.NodeView) {
		r.view().Jobs(w, list.Jobs, params.Ended, show.NamesOf(nodes))
	})
}

// watchJobs shows the jobs anew whenever one changed. On a terminal the table is
// drawn over.
func (r *run) watchJobs(ctx context.Context, c *client.Client, params api.JobListParams) error {
	ctx, stop := context.WithCancel(ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	own, others := steps(ctx, c, api.KindJob), waker.New() // documents that the caller may read
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
				r.interrupted(last, seen.err)
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
		if err := r.jobs(ctx, c, params); err != nil && ctx.Err() == nil && (isOwn || !client.IsRetryable(err)) {
			return err
		}
		if !r.Screen && !r.json {
			fmt.Fprintln(r.Out)
		}
	}
}

// watchOthersJobs tells of changes of all jobs: documents of other people's jobs are
// theirs to read, and that one waits, runs or has ended is said to everybody. A daemon
// that has no events is left alone.
func watchOthersJobs(ctx context.Context, c *client.Client, to waker.Waker) {
	isOf := func(e api.Event) bool { return e.Job != "" }
	for isFirst := true; ctx.Err() == nil; isFirst = false {
		before, updates, err := client.Stream[api.EventWatchResult, api.EventHappened](ctx, c, "event.watch", api.EventSelect{Since: api.TimeOf(time.Now())})
		if err == nil {
			if !isFirst || slices.ContainsFunc(before.Events, isOf) { // between two subscriptions too
				to.Wake()
			}
			for more, lost := range updates {
				if err = lost; err != nil {
					break
				}
				if slices.ContainsFunc(more.Events, isOf) {
					to.Wake()
				}
			}
		}
		if err != nil && !client.IsRetryable(err) {
			return
		}
		client.Pause(ctx, time.Second)
	}
}
