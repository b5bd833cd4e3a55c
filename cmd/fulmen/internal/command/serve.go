package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/jobfile"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// engineLabel is the label that has a service's engine.
const engineLabel = "fulmen.engine"

// enginesFolder is below the folder that has the caller's api.json.
const enginesFolder = "engines"

// service is what fulmen serve is to serve.
type service struct {
	wanted
	engine  string
	port    int
	replace bool
	detach  bool
}

func (r *run) serveCommand() *cobra.Command {
	var s service
	c := &cobra.Command{
		Use: "serve [MODEL]", Short: "Serve a model, on one Mac or several, and keep it", Args: cobra.MaximumNArgs(1),
		Long: "Starts an engine with a model of `fulmen models` on the fewest Macs where it fits, copies the model to Macs that lack it if\n" +
			"need be, waits until a request was answered, and prints the address. Whatever ends it, it is started again, until\n" +
			"`fulmen serve stop NAME`. The same command again changes what is different. Without MODEL it lists what you serve.\n\n" +
			"An engine is a job's file (fulmen apply) in which {model} and {port} stand for the model's folder and the port:\n" +
			"mlx_lm.server, which has to be installed on each Mac, or one of your own in the folder engines beside api.json.",
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
	f.StringVar(&s.engine, "engine", jobfile.DefaultEngine, "the engine, or the path of its file")
	f.IntVar(&s.port, "port", 0, "the port on this Mac (default: the one it has, else the first free one from 8080)")
	f.StringVar(&s.job.Name, "name", "", "its name (default: the last part of the model's)")
	f.StringVar(&s.job.Program.Environment, "venv", "", "the Python environment to use, or empty for none (default: the one that is active here)")
	f.StringArrayVarP(&s.env, "env", "e", nil, "pass this environment variable; NAME=VALUE gives it a value, which other accounts here can see")
	f.BoolVar(&s.replace, "replace", false, "end what runs under the name where something is different")
	f.BoolVarP(&s.detach, "detach", "d", false, "do not wait until it is ready")
	words(c, "sharding", api.Sharding("").Values())
	_ = c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(jobfile.Engines(""), cobra.ShellCompDirectiveDefault)) // fails only for a flag that is not there
	r.completeNodes(c, "nodes", "exclude")
	c.AddCommand(&cobra.Command{
		Use: "stop NAME", Short: "End a service, and forget it", Args: cobra.ExactArgs(1), Example: "  fulmen serve stop Qwen3-32B-4bit",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			return r.stopService(ctx, c, args[0])
		}),
	})
	return c
}

// request is what is submitted for a service, with the values of variables.
func (s *service) request(a App) (api.JobRequest, map[string]string, error) {
	if _, err := oneOf[api.Sharding]("--sharding", string(s.job.Sharding)); err != nil {
		return api.JobRequest{}, nil, err
	}
	engine, err := jobfile.Engine(s.engine, filepath.Join(a.Environment.Places().Config, enginesFolder))
	if err != nil {
		return api.JobRequest{}, nil, wrongFile(s.engine, err)
	}
	s.job.Program.Directory = a.Environment.Home
	s.job.Program.Stdin, s.job.Kept, s.job.FetchModel, s.job.Output = api.StdinNone, true, true, engine.Output
	s.job.Probes, s.job.Publish, s.job.Deadlines = engine.Probes, engine.Publish, engine.Deadlines
	s.job.AllowSolo, s.job.AllowMixed, s.job.Program.Prepare = engine.AllowSolo, engine.AllowMixed, engine.Program.Prepare
	s.job.Program.Interpreter = engine.Program.Interpreter
	s.job.Placement.Backend = cmp.Or(s.job.Placement.Backend, engine.Placement.Backend)
	s.job.Placement.GPU = cmp.Or(engine.Placement.GPU, api.GPUExclusive)
	s.env = append(s.env, engine.Program.Variables...)
	s.job.Name = cmp.Or(s.job.Name, path.Base(s.job.Model.Model))
	request, values, err := s.wanted.request(a, engine.Program.Command)
	request.Labels = map[string]string{engineLabel: s.engine}
	return request, values, err
}

// serve declares a service, and waits until it is ready.
func (r *run) serve(ctx context.Context, s service) error {
	request, values, err := s.request(r.App)
	if err != nil {
		return err
	}
	return r.with(ctx, func(c *client.Client) error {
		nodes, err := nodeViews(ctx, c)
		if err == nil {
			err = s.resolve(&request.Placement, nodes)
		}
		if err == nil && s.port == 0 {
			s.port, err = portFor(ctx, c, request.Name)
		}
		if err != nil {
			return err
		}
		jobfile.Serve(&request, s.port, request.Sharding)
		result, err := client.Call[api.JobApplyResult](ctx, c, "job.apply", api.JobApplyParams{Request: request, Environment: values, Replace: s.replace})
		if errors.Is(err, api.ReasonJobRunning) {
			return advised(api.AsError(err), "End it for the change: the same with --replace. Or give this one another --name.")
		}
		if err != nil {
			return err
		}
		if s.detach {
			return r.answer(result, func(w *show.Page) { w.Line(request.Name + " " + string(result.Outcome) + ": " + result.Job.String()) })
		}
		if err := r.untilReady(ctx, c, result.Job, show.NamesOf(nodes)); err != nil {
			return err
		}
		one, err := serviceOf(ctx, c, result.Job)
		if err != nil {
			return err
		}
		return r.answer(one, func(w *show.Page) { r.view().Service(w, one, show.NamesOf(nodes)) })
	})
}

// firstPort is where a service is looked for a port from.
const firstPort = 8080

// portFor is the port of a service that there is, else one that is free on this Mac.
func portFor(ctx context.Context, c *client.Client, name string) (int, error) {
	all, err := servicesOf(ctx, c)
	if err != nil {
		return 0, err
	}
	taken := map[int]bool{}
	for _, one := range all {
		if one.Name == name && one.Port != 0 {
			return one.Port, nil
		}
		taken[one.Port] = true
	}
	for port := firstPort; port < firstPort+1000; port++ {
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil && !taken[port] {
			return port, l.Close()
		} else if err == nil {
			l.Close()
		}
	}
	return 0, usage("no port from %d to %d is free: name one with --port", firstPort, firstPort+999)
}

// untilReady waits until a service is ready, and says on a terminal how far it is. Ctrl-C ends
// the waiting, not the service.
func (r *run) untilReady(ctx context.Context, c *client.Client, id api.JobID, names show.Names) error {
	first, changes, err := client.Stream[api.JobWatchResult, api.JobChanged](ctx, c, "job.watch", api.JobSelect{Job: id})
	if err != nil {
		return err
	}
	var job api.Job
	ranks := map[int]api.Rank{}
	take := func(documents ...api.Document) error {
		for _, d := range documents {
			var now api.Job
			var rank api.Rank
			switch {
			case d.Kind == api.KindJob:
				if err := d.Decode(&now); err != nil {
					return err
				}
				job = now
			case d.Kind == api.KindRank && d.Decode(&rank) == nil:
				ranks[rank.Rank] = rank
			}
		}
		return nil
	}
	isOver, shown := false, ""
	line := r.workLine("")
	defer line.clear()
	look := func() {
		of := slices.Collect(func(yield func(api.Rank) bool) {
			for n := range len(ranks) {
				if rank := ranks[n]; rank.Attempt == job.Attempt && !yield(rank) {
					return
				}
			}
		})
		if now := r.view().Progress(job, of, names); now != shown && r.Terminal {
			shown = now
			line.of(0)(now)
		}
		isOver = job.Phase.Ended() || show.IsReady(job)
	}
	if err := take(append([]api.Document{first.Job}, first.Ranks...)...); err != nil {
		return err
	}
	look()
	for change, err := range changes {
		if !isOver && err == nil {
			err = take(change.Put...)
			look()
		}
		switch {
		case err != nil && !isOver:
			return err
		case isOver:
			return r.served(job, names)
		}
	}
	return r.served(job, names)
}

// served is nothing, or why a service has ended.
func (r *run) served(job api.Job, names show.Names) error {
	if job.Phase.Ended() {
		return withStatus{api.ExitFailed, show.Outcome(job, nil, names)}
	}
	return nil
}

// services lists what the caller serves.
func (r *run) services(ctx context.Context, c *client.Client) error {
	all, err := servicesOf(ctx, c)
	if err != nil {
		return err
	}
	names := nodeNames(ctx, c)
	return r.answer(map[string][]show.Service{"services": all}, func(w *show.Page) { r.view().Services(w, all, names) })
}

// servicesOf are the caller's, the newest of each name.
func servicesOf(ctx context.Context, c *client.Client) ([]show.Service, error) {
	list, err := client.Call[api.JobListResult](ctx, c, "job.list", api.JobListParams{Ended: true, Mine: true})
	if err != nil {
		return nil, err
	}
	out := []show.Service{}
	for _, j := range list.Jobs {
		if !j.Declared || slices.ContainsFunc(out, func(s show.Service) bool { return s.Name == j.Name }) {
			continue
		}
		one, err := serviceOf(ctx, c, j.Job)
		if err == nil && one.Engine != "" {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b show.Service) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func serviceOf(ctx context.Context, c *client.Client, id api.JobID) (show.Service, error) {
	got, err := client.Call[api.JobGetResult](ctx, c, "job.get", api.JobSelect{Job: id})
	if err != nil {
		return show.Service{}, err
	}
	var spec api.JobSpec
	one := show.Service{ID: id}
	if err := got.Job.Decode(&one.Job); err != nil {
		return one, err
	}
	if err := json.Unmarshal(one.Job.Spec, &spec); err != nil {
		return one, err
	}
	one.Name, one.Model, one.Engine = spec.Name, spec.Model, spec.Labels[engineLabel]
	if len(spec.Publish) > 0 {
		one.Port = spec.Publish[0].Port
		one.URL = fmt.Sprintf("http://127.0.0.1:%d", one.Port)
	}
	return one, nil
}

func (r *run) stopService(ctx context.Context, c *client.Client, name string) error {
	list, err := client.Call[api.JobListResult](ctx, c, "job.list", api.JobListParams{Ended: true, Mine: true})
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(list.Jobs, func(j api.JobSummary) bool { return !j.Declared || j.Name != name })
	if len(all) == 0 {
		return advised(api.Errorf(api.ReasonNoSuchJob, name, "You serve nothing named %s on this Mac.", name), "See: fulmen serve")
	}
	for _, j := range all {
		if err := r.endAndDelete(ctx, c, j); err != nil {
			return err
		}
	}
	return r.answer(api.Empty{}, func(w *show.Page) { w.Line(name + " has ended.") })
}
