package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/jobfile"
)

// service is what fulmen serve is to serve.
type service struct {
	wanted
	engine  string
	port    int
	replace bool
	detach  bool
	// replicas is how often it is served; 0 = as often as it is, else once.
	replicas int
}

func (r *run) serveCommand() *cobra.Command {
	var s service
	c := &cobra.Command{
		Use: "serve [MODEL]", Short: "Serve a model, on one Mac or several, and keep it", Args: cobra.MaximumNArgs(1),
		Long: "Starts an engine with a model of `fulmen models` on the fewest Macs where it fits, copies the model to Macs that lack it if\n" +
			"need be, waits until a request was answered, and prints the address. Whatever ends it, it is started again, until\n" +
			"`fulmen serve stop NAME`. The same command again changes what is different. Without MODEL it lists what you serve.\n\n" +
			"An engine is a job's file (fulmen apply) in which {model} and {port} stand for the model's folder and the port:\n" +
			"mlx_lm.server, which has to be installed on each Mac, or one of your own.",
		Example: "  fulmen serve mlx-community/Qwen3-32B-4bit\n  fulmen serve mlx-community/Qwen3-235B-A22B-4bit --sharding pipeline --min-nodes 2 --port 9000\n  fulmen serve\n  fulmen serve stop Qwen3-32B-4bit",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return r.with(c.Context(), func(c2 *client.Client) error { return r.services(c.Context(), c2) })
			}
			s.noteGiven(c)
			s.job.Model.Model = args[0]
			return r.serve(c.Context(), s)
		},
	}
	f, p := c.Flags(), &s.job.Placement
	s.placeFlags(c, "how many ranks in all (default: on as few Macs as the model fits on)")
	f.IntVar(&p.MinNodes, "min-nodes", 0, "instead of --ranks: the fewest nodes that will do")
	f.IntVar(&p.MaxNodes, "max-nodes", 0, "instead of --ranks: the most nodes that are wanted")
	f.StringVar(&s.memory, "memory", "", "how much GPU memory each rank needs, such as 24GiB (default: what its weights take)")
	f.StringVar(&s.job.Model.Revision, "revision", "", "the model's branch, commit, or its beginning (default: main, the one that most Macs have)")
	f.StringVar((*string)(&s.job.Sharding), "sharding", string(api.ShardingTensor), "how the engine divides the model: tensor, pipeline")
	f.StringVar(&s.engine, "engine", api.DefaultEngine, "the engine: one of Fulmen's, of the folder engines beside config.toml, or a path")
	f.IntVar(&s.port, "port", 0, "the port on this Mac (default: the one it has, else the first free one from 8080)")
	f.StringVar(&s.job.Name, "name", "", "its name (default: the last part of the model's)")
	f.StringVar(&s.job.Program.Environment, "venv", "", "the Python environment to use, or empty for none (default: the one that is active here)")
	f.StringArrayVarP(&s.env, "env", "e", nil, "pass this environment variable; NAME=VALUE gives it a value, which other accounts here can see")
	f.IntVar(&s.replicas, "replicas", 0, "serve it so often, each on Macs of its own (default: as often as it is, else once)")
	f.BoolVar(&s.replace, "replace", false, "end what runs under the name where something is different")
	f.BoolVarP(&s.detach, "detach", "d", false, "do not wait until it is ready")
	words(c, "sharding", api.Sharding("").Values())
	_ = c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(jobfile.Engines(""), cobra.ShellCompDirectiveDefault)) // fails only for a flag that is not there
	r.completeNodes(c, "nodes", "exclude")
	c.AddCommand(&cobra.Command{
		Use: "stop NAME", Short: "End a service, and forget it", Args: cobra.ExactArgs(1), Example: "  fulmen serve stop Qwen3-32B-4bit",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			return answered(ctx, r, c, "instance.delete", api.InstanceSelect{Name: args[0]}, func(w *show.Page, _ api.Empty) { w.Line(args[0] + " has ended.") })
		}),
	})
	return c
}

// params is what is declared for a service.
func (s *service) params(a App) (p api.InstanceApplyParams, err error) {
	program, values, err := s.program(a, nil)
	if err == nil {
		_, err = oneOf[api.Sharding]("--sharding", string(s.job.Sharding))
	}
	if err == nil {
		s.job.Placement.GPU = api.GPUExclusive
		err = s.places(&s.job)
	}
	if err != nil {
		return p, err
	}
	q := s.job.Placement
	p.Environment, p.Replace = values, s.replace
	p.Instance = api.InstanceSpec{
		Name: s.job.Name, Model: s.job.Model, Engine: s.engine, Sharding: s.job.Sharding, Backend: q.Backend, Ranks: q.Ranks, MinNodes: q.MinNodes, MaxNodes: q.MaxNodes, Widest: q.Widest, Replicas: s.replicas,
		MemoryBytes: q.MemoryBytes, Networks: q.Networks, Port: s.port, Environment: program.Environment, Home: program.Home, Variables: program.Variables,
		Nodes: nodeRefs(s.nodes), ExcludedNodes: nodeRefs(s.excluded),
	}
	if strings.ContainsRune(s.engine, filepath.Separator) { // a file, which the daemon need not be able to read
		text, err := os.ReadFile(s.engine)
		if err != nil {
			return p, fmt.Errorf("cannot read %s: %w", s.engine, cause(err))
		}
		p.Instance.Engine, p.Instance.EngineFile = strings.TrimSuffix(filepath.Base(s.engine), ".toml"), string(text)
	}
	return p, nil
}

// serve declares a service, and waits until it is ready.
func (r *run) serve(ctx context.Context, s service) error {
	params, err := s.params(r.App)
	if err != nil {
		return err
	}
	return r.with(ctx, func(c *client.Client) error {
		nodes, err := nodeViews(ctx, c)
		if err != nil {
			return err
		}
		result, err := client.Call[api.InstanceApplyResult](ctx, c, "instance.apply", params)
		if errors.Is(err, api.ReasonJobRunning) {
			return advised(api.AsError(err), "End it for the change: the same with --replace. Or give this one another --name.")
		}
		if err != nil {
			return err
		}
		names := show.NamesOf(nodes)
		if s.detach {
			return r.answer(result, func(w *show.Page) { w.Line(result.Name + " " + string(result.Outcome) + ": " + result.Job.String()) })
		}
		if err := r.untilReady(ctx, c, result.Job, names); err != nil {
			return err
		}
		all, err := client.Call[api.InstanceListResult](ctx, c, "instance.list", nil)
		if err != nil {
			return err
		}
		for _, one := range all.Instances {
			if one.Job == result.Job {
				return r.answer(one, func(w *show.Page) { r.view().Instance(w, one, all.Endpoint, names) })
			}
		}
		return nil // it has just been deleted
	})
}

// untilReady waits until a service is ready, and says on a terminal how far it is. Ctrl-C ends
// the waiting, not the service.
func (r *run) untilReady(ctx context.Context, c *client.Client, id api.JobID, names show.Names) error {
	var state jobState
	shown := ""
	line := r.workLine("")
	defer line.clear()
	report := func(now string) {
		if now != shown && r.Terminal {
			shown = now
			line.of(0)(now)
		}
	}
	err := r.followJob(ctx, c, id, func(change api.JobChanged) bool {
		state.apply(change.Put)
		report(state.words(r.view(), names))
		return state.job.Phase.Ended() || !state.job.ReadySince().IsZero()
	}, func(err error) {
		report("interrupted: " + api.AsError(err).Message + " The service goes on; trying again.")
	})
	if err != nil {
		return err
	}
	return serviceEnd(state.job, names)
}

// serviceEnd is nothing, or why a service has ended.
func serviceEnd(job api.Job, names show.Names) error {
	if job.Phase.Ended() {
		return withStatus{api.ExitFailed, show.Outcome(job, nil, names)}
	}
	return nil
}

// services lists what the caller serves.
func (r *run) services(ctx context.Context, c *client.Client) error {
	all, err := client.Call[api.InstanceListResult](ctx, c, "instance.list", nil)
	if err != nil {
		return err
	}
	names := nodeNames(ctx, c)
	return r.answer(all, func(w *show.Page) { r.view().Instances(w, all, names) })
}
