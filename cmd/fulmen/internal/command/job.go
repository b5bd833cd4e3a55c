package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) jobCommand() *cobra.Command {
	return group("job", "One job: what it did, its output, its end",
		r.jobShow(), r.jobLogs(), r.jobAttach(), r.jobStop(), r.jobRetry(), r.jobDelete(), r.jobTakeOver())
}

// oneJob is a command about one job, which is named by its id or the beginning of it.
func (r *run) oneJob(use, short, long, example string, do func(context.Context, *client.Client, api.JobID) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " JOB", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: r.completeJob,
		Long: long + "\n\nA JOB is an id as fulmen jobs shows it, or any beginning of one that is unique.", Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				id, err := jobID(c.Context(), c2, args[0])
				if err != nil {
					return err
				}
				return do(c.Context(), c2, id)
			})
		},
	}
}

func (r *run) jobShow() *cobra.Command {
	return r.oneJob("show", "All about a job", "What a job is, where it runs, its phases with their times, its attempts, and its ranks.",
		"  fulmen job show j4k2", func(ctx context.Context, c *client.Client, id api.JobID) error {
			result, err := client.Call[api.JobGetResult](ctx, c, "job.get", api.JobSelect{Job: id})
			if err != nil {
				return err
			}
			if r.json {
				return text.JSON(r.Out, result)
			}
			var s jobState
			s.apply(append([]api.Document{result.Job}, result.Ranks...))
			if err := r.view().Job(r.Out, s.job, s.list(), nodeNames(ctx, c)); err != nil {
				return err
			}
			return r.view().Published(r.Out, result.Published)
		})
}

func (r *run) jobStop() *cobra.Command {
	var kill bool
	c := r.oneJob("stop", "End a job", "Ends a job: every rank is asked politely, and after the grace it is killed. Waits for nothing; see: fulmen job attach.",
		"  fulmen job stop j4k2\n  fulmen job stop j4k2 --kill", func(ctx context.Context, c *client.Client, id api.JobID) error {
			_, err := client.Call[api.Empty](ctx, c, "job.stop", api.JobStopParams{Job: id, Kill: kill})
			return r.told(err, "%s is being stopped.", id)
		})
	c.Flags().BoolVar(&kill, "kill", false, "kill it at once")
	return c
}

func (r *run) jobRetry() *cobra.Command {
	return r.oneJob("retry", "Run a job that has ended once more", "Submits what an ended job was once more, as a new job that goes on by itself, and prints its id.",
		"  fulmen job retry j4k2", func(ctx context.Context, c *client.Client, id api.JobID) error {
			result, err := client.Call[api.JobSubmitResult](ctx, c, "job.retry", api.JobSelect{Job: id})
			if err != nil {
				return err
			}
			return r.submitted(result)
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
			_, err := client.Call[api.Empty](ctx, c, "job.delete", params)
			if errors.Is(err, api.ReasonJobRunning) {
				e := *api.AsError(err)
				e.Data.Remedy = "Stop it first: fulmen job stop " + id.String()
				return &e
			}
			return r.told(err, "%s is deleted.", id)
		})
	c.Flags().BoolVar(&keep, "keep-output", false, "leave what it printed on the nodes")
	return c
}

func (r *run) jobTakeOver() *cobra.Command {
	return r.oneJob("take-over", "Make this Mac the home of a job whose home is lost",
		"Makes this Mac the home of a job whose home is lost and that no majority of the cluster can take over. Its ranks are\n"+
			"ended before another attempt begins, so do this where the lost Mac will not come back soon.",
		"  fulmen job take-over j4k2", func(ctx context.Context, c *client.Client, id api.JobID) error {
			_, err := client.Call[api.Empty](ctx, c, "job.take_over", api.JobSelect{Job: id})
			return r.told(err, "This Mac is the home of %s now.", id)
		})
}

// told says that something was done; as JSON an empty object.
func (r *run) told(err error, format string, id api.JobID) error {
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, api.Empty{})
	}
	_, err = fmt.Fprintf(r.Out, format+"\n", id)
	return err
}

func (r *run) jobAttach() *cobra.Command {
	var f following
	var input bool
	c := r.oneJob("attach", "Follow a job as fulmen run does, also from another node",
		"Shows where a job is and what it prints, from the beginning of the current attempt, until it has ended, and ends with\n"+
			"its status as fulmen run does. Ctrl-C stops a job that a terminal follows, and leaves one alone that was submitted\n"+
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
	signals := make(<-chan os.Signal)
	if r.Signals != nil {
		heard, stop := r.Signals(stopSignals()...)
		defer stop()
		signals = heard
	}
	job, err := client.Call[api.JobGetResult](ctx, c, "job.get", api.JobSelect{Job: id})
	if err != nil {
		return err
	}
	list, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	var s jobState
	s.apply([]api.Document{job.Job})
	spec := s.spec()
	a := &attachment{job: id, leave: spec.Detached, quiet: f.quiet, input: input, giver: rand.Text()}
	return r.attach(context.WithoutCancel(ctx), c, a, f,
		api.JobRequest{Placement: spec.Placement, Program: spec.Program}, list.Nodes, signals)
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
	e.Data.Remedy = "See: fulmen jobs --all"
	return "", e
}

// completeJob completes the ids of jobs.
func (r *run) completeJob(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	if len(args) == 0 {
		_ = r.with(c.Context(), func(c2 *client.Client) error {
			list, err := client.Call[api.JobListResult](c.Context(), c2, "job.list", api.JobListParams{Ended: true})
			for _, j := range list.Jobs {
				out = append(out, cobra.CompletionWithDesc(string(j.Job), j.Name+", "+string(j.Phase)))
			}
			return err
		}) // then there is nothing to complete with
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
