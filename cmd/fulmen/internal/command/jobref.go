package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

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
