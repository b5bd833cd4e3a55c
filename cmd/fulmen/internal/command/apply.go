package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/jobfile"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) applyCommand() *cobra.Command {
	var f following
	var plan bool
	c := &cobra.Command{
		Use: "apply FILE", Short: "Run the job that a file describes", Args: cobra.ExactArgs(1),
		Long: "Runs what a TOML file says. Its fields are those of JobRequest, as docs/reference.md has them, and whatever else is in\n" +
			"it is an error with its line; nodes are named as everywhere. A folder that is not absolute begins at the file's.\n" +
			"Environment variables are named in program.variables, and their values are taken from here. - is standard input,\n" +
			"which the job then has none of.",
		Example: "  fulmen apply train.toml\n  fulmen apply --detach train.toml\n  fulmen apply --plan train.toml",
		RunE: func(c *cobra.Command, args []string) error {
			return r.apply(c.Context(), args[0], f, plan)
		},
	}
	f.flags(c)
	c.Flags().BoolVarP(&f.detach, "detach", "d", false, "print the job's id and leave; the job goes on")
	c.Flags().BoolVar(&plan, "plan", false, "show only where it would run, as fulmen plan does")
	return c
}

func (r *run) apply(ctx context.Context, path string, f following, plan bool) error {
	content, err := r.jobFile(path)
	if err != nil {
		return notStarted(err)
	}
	var request api.JobRequest
	err = r.with(ctx, func(c *client.Client) error {
		list, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
		if err != nil {
			return err
		}
		request, err = jobfile.Parse(path, content, func(word string) (api.NodeID, error) { return nodeID(word, list.Nodes) })
		return wrongFile(path, err)
	})
	if err != nil {
		return notStarted(err)
	}
	request.Detached = request.Detached || f.detach
	f.detach = request.Detached
	values, err := r.fill(path, &request)
	if err != nil {
		return notStarted(err)
	}
	known := func(*api.Placement, []api.NodeView) error { return nil }
	if plan {
		return r.with(ctx, func(c *client.Client) error { return r.plan(ctx, c, request, known) })
	}
	return r.submit(ctx, request, values, f, known)
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

// fill gives a file's job what fulmen run takes from where it is run.
func (r *run) fill(path string, request *api.JobRequest) (map[string]string, error) {
	p := &request.Program
	if len(p.Command) == 0 && p.Builtin == "" {
		return nil, usage("%s: program.command is missing", path)
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
	w := wanted{stdin: string(p.Stdin), detach: request.Detached, terminal: p.Terminal, terminalSaid: p.Terminal}
	if path == "-" && w.stdin == "" {
		w.stdin = string(api.StdinNone)
	}
	if request.Placement.Ranks+request.Placement.MinNodes+request.Placement.MaxNodes == 0 {
		request.Placement.Ranks = max(1, len(request.Placement.Nodes))
	}
	if err := w.streams(request, a); err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, name := range p.Variables {
		if _, err := variable(a, name, p.Variables, values); err != nil {
			return nil, usage("%s: %w", path, err)
		}
	}
	return values, nil
}
