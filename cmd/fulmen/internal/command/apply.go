package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/jobfile"
)

func (r *run) applyCommand() *cobra.Command {
	var f following
	var file string
	var plan, attach bool
	var params api.JobApplyParams
	c := &cobra.Command{
		Use: "apply FILE", Short: "Run the job that a file describes, or change it to match", Args: cobra.MaximumNArgs(1),
		Long: "Submits the job in a TOML file under the name in it, or puts it in the place of the one that you applied under that\n" +
			"name on this Mac before. The result says which; if nothing differs, nothing is done. A change that would end a running\n" +
			"program needs --replace. The job goes on by itself; fulmen delete undoes it.\n\n" +
			"The fields are those of JobRequest in docs/reference.md; anything else in the file is an error, shown with its line.\n" +
			"A folder that is not absolute is relative to the file's. Environment variables\n" +
			"are named in program.variables; their values are taken from here, and are not compared. - is standard input.",
		Example: "  fulmen apply train.toml\n  fulmen apply --dry-run train.toml\n  fulmen apply --replace train.toml\n  fulmen delete -f train.toml",
		RunE: func(c *cobra.Command, args []string) error {
			path, err := fileOf(file, args)
			if err != nil {
				return err
			}
			return r.apply(c.Context(), path, params, f, plan, attach)
		},
	}
	fileFlag(c, &file)
	f.flags(c)
	c.Flags().BoolVar(&params.Replace, "replace", false, "end the running program if the change needs it")
	c.Flags().BoolVar(&params.DryRun, "dry-run", false, "only show what would be done, and which fields differ")
	c.Flags().BoolVar(&attach, "attach", false, "then follow the job as fulmen job attach does")
	c.Flags().BoolVar(&plan, "plan", false, "show only where it would run, as fulmen plan does")
	c.MarkFlagsMutuallyExclusive("dry-run", "attach", "plan")
	return c
}

// fileFlag adds the other way to name the file.
func fileFlag(c *cobra.Command, file *string) {
	c.Flags().StringVarP(file, "file", "f", "", "the job's file")
}

// fileOf is the file that a command line names.
func fileOf(flag string, args []string) (string, error) {
	if (flag == "") == (len(args) == 0) {
		return "", usage("name one file, such as: fulmen apply train.toml")
	}
	return cmp.Or(flag, strings.Join(args, "")), nil
}

func (r *run) apply(ctx context.Context, path string, params api.JobApplyParams, f following, plan, attach bool) error {
	return r.withJobFile(ctx, path, nodeID, func(c *client.Client, request api.JobRequest) (err error) {
		params.Request = request
		if params.Environment, err = r.fill(path, &params.Request); err != nil {
			return err
		}
		if plan {
			return r.plan(ctx, c, params.Request, func(*api.Placement, []api.NodeView) error { return nil })
		}
		result, err := client.Call[api.JobApplyResult](ctx, c, "job.apply", params)
		if errors.Is(err, api.ReasonJobRunning) {
			return advised(api.AsError(err), "See the difference: fulmen apply --dry-run "+path+". End the program for it: fulmen apply --replace "+path)
		}
		if err == nil && (!r.json || !attach) {
			err = r.answer(result, func(w *show.Page) { applyWords(w, params, result) })
		}
		if err != nil || !attach {
			return err
		}
		return notStarted(r.attachTo(ctx, c, result.Job, f, false))
	})
}

// applyWords say what became of a declaration.
func applyWords(w *show.Page, params api.JobApplyParams, result api.JobApplyResult) {
	line := params.Request.Name + " "
	if params.DryRun && result.Outcome != api.ApplyUnchanged {
		line += "would be "
	}
	line += string(result.Outcome)
	if result.Job != "" {
		line += ": " + result.Job.String()
	}
	if result.Before != "" {
		line += " in the place of " + result.Before.String()
	}
	w.Line(line)
	table := text.NewTable()
	for _, change := range result.Changes {
		table.Row("  "+change.Field, cmp.Or(change.From, "-"), "->", cmp.Or(change.To, "-"))
	}
	w.Table(table)
}

// wrongFile is a file that is no job's, as the end of a command line that makes no
// sense.
func wrongFile(err error) error {
	if _, isWrong := errors.AsType[*jobfile.Error](err); !isWrong {
		return err
	}
	return withStatus{api.ExitUsage, jobfile.Explain(err, "is not a job")}
}

// withJobFile reads a job's file, whose nodes are those that find finds, and does
// something with it at the daemon.
func (r *run) withJobFile(ctx context.Context, path string, find func(word string, nodes []api.NodeView) (api.NodeID, error), do func(*client.Client, api.JobRequest) error) error {
	content, err := r.jobFile(path)
	if err != nil {
		return err
	}
	return r.with(ctx, func(c *client.Client) error {
		nodes, err := nodeViews(ctx, c)
		if err != nil {
			return err
		}
		request, err := jobfile.Parse(path, content, func(word string) (api.NodeID, error) { return find(word, nodes) })
		if err != nil {
			return wrongFile(err)
		}
		return do(c, request)
	})
}

// jobFile reads a file, or standard input.
func (r *run) jobFile(path string) (string, error) {
	in := r.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("cannot read %s: %w", path, cause(err))
		}
		defer file.Close()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, api.MaxSpecBytes+1))
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, cause(err))
	}
	return string(content), nil
}

// fill checks a file's job and gives it what is taken from where it is applied.
func (r *run) fill(path string, request *api.JobRequest) (map[string]string, error) {
	p := &request.Program
	switch {
	case request.Name == "":
		return nil, usage("%s has no name, by which it is known when it is applied again: add a line such as name = \"train\"", path)
	case request.RequestID != "":
		return nil, usage("%s: request_id: leave it out; applying a file twice changes nothing anyway", path)
	case len(p.Command) == 0 && p.Builtin == "":
		return nil, usage("%s: program.command is missing", path)
	case p.Stdin != "" && p.Stdin != api.StdinNone:
		return nil, usage("%s: program.stdin: a job that is applied is given no input; leave it out", path)
	case p.Terminal:
		return nil, usage("%s: program.terminal: a job that is applied has no terminal; leave it out", path)
	}
	a := r.App
	if path != "-" {
		folder, err := a.path(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		a.Folder = folder
	}
	var err error
	if p.Directory, err = a.path(p.Directory); err != nil {
		return nil, err
	}
	p.Home = a.Environment.Home
	switch {
	case p.Environment != "":
		p.Environment, err = a.path(p.Environment)
	case p.Interpreter == "":
		p.Environment = activeEnvironment(a)
	}
	if err != nil {
		return nil, err
	}
	p.Stdin = api.StdinNone
	countRanks(request, len(request.Placement.Nodes))
	request.Detached = true
	values := map[string]string{}
	for _, name := range p.Variables {
		value := a.Environment.Getenv(name)
		if value == "" {
			return nil, usage("%s: program.variables: %s is not set here; give it a value, or leave it out", path, name)
		}
		values[name] = value
	}
	return values, nil
}

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
	// A node that is no member any more is no reason to keep a job.
	here := func(_ string, nodes []api.NodeView) (api.NodeID, error) { return nodeID("here", nodes) }
	return r.withJobFile(ctx, path, here, func(c *client.Client, request api.JobRequest) error {
		if request.Name == "" {
			return usage("%s has no name", path)
		}
		list, err := client.Call[api.JobListResult](ctx, c, "job.list", api.JobListParams{Ended: true, Mine: true})
		if err != nil {
			return err
		}
		all := slices.DeleteFunc(list.Jobs, func(j api.JobSummary) bool { return !j.Declared || j.Name != request.Name })
		if len(all) == 0 {
			return advised(api.Errorf(api.ReasonNoSuchJob, request.Name, "You have applied no job named %q on this Mac.", request.Name),
				"See: fulmen jobs --all --mine")
		}
		var ids []string
		for _, j := range all {
			ids = append(ids, j.Job.String())
			if err := r.endAndDelete(ctx, c, j); err != nil {
				return err
			}
		}
		return r.answer(api.Empty{}, func(w *show.Page) { w.Line(request.Name + " deleted: " + strings.Join(ids, ", ")) })
	})
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

// awaitEnd waits until a job has ended, which its home sees to; Ctrl-C stops waiting it to that.
func awaitEnd(ctx context.Context, c *client.Client, id api.JobID) error {
	_, changes, err := client.Stream[api.JobWatchResult, api.JobChanged](ctx, c, "job.watch", api.JobSelect{Job: id})
	if err != nil {
		return err
	}
	return client.ToEnd(changes, func(c api.JobChanged) bool { return c.Terminal })
}
