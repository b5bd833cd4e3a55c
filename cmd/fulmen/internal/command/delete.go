package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/jobfile"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) deleteCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "delete -f FILE", Short: "Undo what was applied from a file", Args: cobra.MaximumNArgs(1),
		Long: "Ends what you applied on this Mac under the name in the file, where it has not ended, and forgets it, with what it was\n" +
			"before it was changed, and with files and output on all nodes. Only the name in the file counts.",
		Example: "  fulmen delete -f train.toml",
		RunE: func(c *cobra.Command, args []string) error {
			path, err := fileOf(file, args)
			if err != nil {
				return err
			}
			return r.deleteApplied(c.Context(), path)
		},
	}
	fileFlag(c, &file)
	return c
}

func (r *run) deleteApplied(ctx context.Context, path string) error {
	content, err := r.jobFile(path)
	if err != nil {
		return err
	}
	return r.with(ctx, func(c *client.Client) error {
		nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
		if err != nil {
			return err
		}
		// A node that is no member any more is no reason to keep a job.
		request, err := jobfile.Parse(path, content, func(string) (api.NodeID, error) { return nodeID("here", nodes.Nodes) })
		switch {
		case err != nil:
			return wrongFile(path, err)
		case request.Name == "":
			return usage("%s has no name", path)
		}
		list, err := client.Call[api.JobListResult](ctx, c, "job.list", api.JobListParams{Ended: true, Mine: true})
		if err != nil {
			return err
		}
		all := slices.DeleteFunc(list.Jobs, func(j api.JobSummary) bool { return !j.Declared || j.Name != request.Name })
		if len(all) == 0 {
			e := api.Errorf(api.ReasonNoSuchJob, request.Name, "Nothing of the name %q was applied by you here.", request.Name)
			e.Data.Remedy = "See: fulmen jobs --all --mine"
			return e
		}
		for _, j := range all {
			if err := r.endAndDelete(ctx, c, j); err != nil {
				return err
			}
		}
		if r.json {
			return text.JSON(r.Out, api.Empty{})
		}
		_, err = fmt.Fprintln(r.Out, text.Clean(request.Name+" deleted: "+jobIDs(all)))
		return err
	})
}

// jobIDs are the ids of jobs, with commas.
func jobIDs(all []api.JobSummary) (out string) {
	for i, j := range all {
		if i > 0 {
			out += ", "
		}
		out += j.Job.String()
	}
	return out
}

// endAndDelete stops a job that has not ended, waits for its end, and forgets it.
func (r *run) endAndDelete(ctx context.Context, c *client.Client, j api.JobSummary) error {
	if !j.Phase.Ended() {
		if _, err := client.Call[api.Empty](ctx, c, "job.stop", api.JobStopParams{Job: j.Job}); err != nil {
			return err
		}
		if err := awaitEnd(ctx, c, j.Job); err != nil {
			return err
		}
	}
	_, err := client.Call[api.Empty](ctx, c, "job.delete", api.JobDeleteParams{Job: j.Job})
	return err
}

// awaitEnd waits until a job has ended, which its home sees to; Ctrl-C leaves it to that.
func awaitEnd(ctx context.Context, c *client.Client, id api.JobID) error {
	_, changes, err := client.Stream[api.JobWatchResult, api.JobChanged](ctx, c, "job.watch", api.JobSelect{Job: id})
	if err != nil {
		return err
	}
	for change, err := range changes {
		if err != nil || change.Terminal {
			return err
		}
	}
	return ctx.Err()
}
