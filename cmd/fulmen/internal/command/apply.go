package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/jobfile"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) applyCommand() *cobra.Command {
	var f following
	var file string
	var plan, attach bool
	var params api.JobApplyParams
	c := &cobra.Command{
		Use: "apply FILE", Short: "Have the job be as a file describes it", Args: cobra.MaximumNArgs(1),
		Long: "Declares the job of a TOML file under the name in it: the job is submitted, or put in the place of the one that you\n" +
			"applied under that name on this Mac before; the result says which, and where nothing differs nothing is done. A change\n" +
			"that would end a running program needs --replace. The job goes on by itself; fulmen delete undoes it.\n\n" +
			"The fields are those of JobRequest, as docs/reference.md has them, and whatever else is in the file is an error with\n" +
			"its line; nodes are named as everywhere. A folder that is not absolute begins at the file's. Environment variables\n" +
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
	c.Flags().BoolVar(&params.Replace, "replace", false, "end the program that runs, where the change needs it")
	c.Flags().BoolVar(&params.DryRun, "dry-run", false, "only say what would be done, and which fields differ")
	c.Flags().BoolVar(&attach, "attach", false, "then follow the job as fulmen job attach does")
	c.Flags().BoolVar(&plan, "plan", false, "show only where it would run, as fulmen plan does")
	c.MarkFlagsMutuallyExclusive("dry-run", "attach", "plan")
	return c
}

// fileFlag adds the other way to name the file.
func fileFlag(c *cobra.Command, file *string) {
	c.Flags().StringVarP(file, "file", "f", "", "the file, as kubectl takes it")
}

// fileOf is the file that a command line names.
func fileOf(flag string, args []string) (string, error) {
	if (flag == "") == (len(args) == 0) {
		return "", usage("name one file")
	}
	return cmp.Or(flag, strings.Join(args, "")), nil
}

func (r *run) apply(ctx context.Context, path string, params api.JobApplyParams, f following, plan, attach bool) error {
	content, err := r.jobFile(path)
	if err != nil {
		return err
	}
	return r.with(ctx, func(c *client.Client) error {
		list, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
		if err != nil {
			return err
		}
		params.Request, err = jobfile.Parse(path, content, func(word string) (api.NodeID, error) { return nodeID(word, list.Nodes) })
		if err != nil {
			return wrongFile(path, err)
		}
		if params.Environment, err = r.fill(path, &params.Request); err != nil {
			return err
		}
		if plan {
			return r.plan(ctx, c, params.Request, func(*api.Placement, []api.NodeView) error { return nil })
		}
		result, err := client.Call[api.JobApplyResult](ctx, c, "job.apply", params)
		if errors.Is(err, api.ReasonJobRunning) {
			e := *api.AsError(err)
			e.Data.Remedy = "See the difference: fulmen apply --dry-run " + path + ". End the program for it: fulmen apply --replace " + path
			return &e
		}
		if err == nil && (!r.json || !attach) {
			err = r.applied(params, result)
		}
		if err != nil || !attach {
			return err
		}
		return notStarted(r.attachTo(ctx, c, result.Job, f, false))
	})
}

// applied says what became of a declaration.
func (r *run) applied(params api.JobApplyParams, result api.JobApplyResult) error {
	if r.json {
		return text.JSON(r.Out, result)
	}
	name, did := params.Request.Name, string(result.Outcome)
	if params.DryRun && result.Outcome != api.ApplyUnchanged {
		did = "would be " + did
	}
	line := name + " " + did
	if result.Job != "" {
		line += ": " + result.Job.String()
	}
	if result.Before != "" {
		line += " in the place of " + result.Before.String()
	}
	if _, err := fmt.Fprintln(r.Out, text.Clean(line)); err != nil {
		return err
	}
	table := text.NewTable()
	for _, change := range result.Changes {
		table.Row("  "+change.Field, cmp.Or(change.From, "-"), "->", cmp.Or(change.To, "-"))
	}
	return table.Write(r.Out)
}

// wrongFile is a file that is no job's, as the end of a command line that makes no
// sense.
func wrongFile(path string, err error) error {
	wrong, ok := errors.AsType[*jobfile.Error](err)
	if !ok {
		return err
	}
	e := api.Errorf(api.ReasonBadValue, path, "%s is not a job.", path)
	e.Data.Remedy = "docs/reference.md has the fields of JobRequest."
	for _, p := range wrong.Problems {
		e.Data.Causes = append(e.Data.Causes, api.Cause{Reason: api.ReasonBadValue, Subject: path, Message: wrong.Line(p)})
	}
	return withStatus{api.ExitUsage, e}
}

// jobFile reads a file, or standard input.
func (r *run) jobFile(path string) (string, error) {
	in := r.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("%s cannot be read: %w", path, cause(err))
		}
		defer file.Close()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, api.MaxSpecBytes+1))
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", path, cause(err))
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
		return nil, usage("%s: request_id: leave it out; applying twice changes nothing by itself", path)
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
	if request.Placement.Ranks+request.Placement.MinNodes+request.Placement.MaxNodes == 0 {
		request.Placement.Ranks = max(1, len(request.Placement.Nodes))
	}
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
