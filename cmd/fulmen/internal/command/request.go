package command

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fulmen/daemon/api"
)

// shell runs the command of --prepare, which is written for one.
const shell = "/bin/sh"

// request makes the request that the flags ask for, and the values of the
// environment variables that are passed; nodes are still to be named, by resolve.
// An error of usage says which flag makes no sense.
func (w *wanted) request(a App, command []string) (api.JobRequest, map[string]string, error) {
	out := w.job
	if w.keepOutput {
		out.Output = api.OutputKeep
	}
	program, values, err := w.program(a, command)
	if err != nil {
		return out, nil, err
	}
	out.Program = program
	for _, step := range []func(*api.JobRequest) error{
		w.model,
		w.places,
		w.limits,
		func(r *api.JobRequest) error { return w.streams(r, a) },
		w.extras,
	} {
		if err := step(&out); err != nil {
			return out, nil, err
		}
	}
	return out, values, nil
}

// program says what is run.
func (w *wanted) program(a App, command []string) (api.Program, map[string]string, error) {
	p := w.job.Program
	p.Command, p.Home = command, a.Environment.Home
	var err error
	if p.Directory, err = a.path(p.Directory); err != nil {
		return p, nil, err
	}
	switch {
	case p.Environment != "":
		p.Environment, err = a.path(p.Environment)
	case !w.venvGiven && p.Interpreter == "":
		p.Environment = activeEnvironment(a)
	}
	if err == nil && strings.Contains(p.Interpreter, "/") {
		p.Interpreter, err = a.path(p.Interpreter)
	}
	if err != nil {
		return p, nil, err
	}
	if w.prepare != "" {
		p.Prepare = []string{shell, "-c", w.prepare}
	}
	values := map[string]string{}
	for _, e := range w.env {
		if p.Variables, err = variable(a, e, p.Variables, values); err != nil {
			return p, nil, err
		}
	}
	return p, values, nil
}

// activeEnvironment is the Python environment that is active in the caller's shell.
func activeEnvironment(a App) string {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if path := a.Environment.Getenv(name); filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
	}
	return ""
}

// path makes a path absolute; an empty one is the current folder.
func (a App) path(path string) (string, error) {
	switch home := a.Environment.Home; {
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	case path == "~" || strings.HasPrefix(path, "~/"): // where the shell left it, as after an =
		return filepath.Join(home, path[1:]), nil
	case !filepath.IsAbs(a.Folder):
		return "", api.Errorf(api.ReasonDirectoryMissing, path, "The current folder is not known. Name one with --cwd.")
	}
	return filepath.Join(a.Folder, path), nil
}

// variableName is what environment variables are called.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variable reads one --env: a name, whose value is taken from the environment,
// or both.
func variable(a App, word string, names []string, values map[string]string) ([]string, error) {
	name, value, given := strings.Cut(word, "=")
	if !variableName.MatchString(name) {
		return nil, usage("--env must be NAME or NAME=VALUE, not %q", word)
	}
	if !given {
		if value = a.Environment.Getenv(name); value == "" {
			return nil, usage("the environment variable %s is not set here; give it a value, or leave --env %s out", name, name)
		}
	}
	values[name] = value
	if slices.Contains(names, name) {
		return names, nil
	}
	return append(names, name), nil
}

// model checks what it computes with.
func (w *wanted) model(out *api.JobRequest) error {
	switch {
	case out.Model.Model == "" && out.Model.Revision != "":
		return usage("--revision is one of a model: name it with --model")
	case out.Model.Model == "" && out.FetchModel:
		return usage("--fetch copies a model: name it with --model")
	case out.Model.Model == "" && out.Sharding != "":
		return usage("--sharding divides a model: name it with --model")
	case out.Sharding != "":
		_, err := oneOf[api.Sharding]("--sharding", string(out.Sharding))
		return err
	}
	return nil
}

// places says where it may run.
func (w *wanted) places(out *api.JobRequest) (err error) {
	p := &out.Placement
	if err := w.span(p); err != nil {
		return err
	}
	switch {
	case p.Ranks < 0 || p.MinNodes < 0 || p.MaxNodes < 0:
		return usage("the number of ranks or nodes cannot be negative")
	case p.Ranks > 0 && p.MinNodes+p.MaxNodes > 0:
		return usage("--ranks gives an exact number, --min-nodes and --max-nodes give a range: use one or the other")
	case p.MaxNodes > 0 && p.MinNodes > p.MaxNodes:
		return usage("--min-nodes is more than --max-nodes")
	case w.perNodeGiven && (p.RanksPerNode < 1 || p.RanksPerNode > api.MaxRanksPerNode):
		return usage("--ranks-per-node must be 1 to %d", api.MaxRanksPerNode)
	case p.Ranks%p.PerNode() != 0:
		return usage("--ranks is %d, which --ranks-per-node %d does not divide", p.Ranks, p.RanksPerNode)
	case p.Ranks > 0 && len(w.nodes) > p.Ranks/p.PerNode():
		return usage("--nodes names %d nodes, which must all be used, but --ranks is %d, for %d", len(w.nodes), p.Ranks, p.Ranks/p.PerNode())
	}
	if _, err := oneOf[api.Backend]("--backend", string(p.Backend)); err != nil {
		return err
	}
	if p.PerNode() > 1 && p.Backend.RDMA() {
		return usage("--backend %s takes one rank a node, which has the RDMA devices to itself: use --backend ring with --ranks-per-node", p.Backend)
	}
	if _, err := oneOf[api.GPUShare]("--gpu", string(p.GPU)); err != nil {
		return err
	}
	if p.ShareBy != "" {
		if _, err := oneOf[api.ShareBasis]("--per-node", string(p.ShareBy)); err != nil {
			return err
		}
	}
	countRanks(out, len(w.nodes))
	if w.memory != "" {
		p.MemoryBytes, err = parseSize(w.memory)
	}
	return err
}

// spanOf is how many nodes are wanted, in the place of a name.
var spanOf = regexp.MustCompile(`^(\d{0,4})\.\.(\d{0,4})$`)

// span takes how many nodes are wanted from among their names.
func (w *wanted) span(p *api.Placement) error {
	var names []string
	for _, name := range w.nodes {
		found := spanOf.FindStringSubmatch(name)
		if found == nil {
			names = append(names, name)
			continue
		}
		if p.Widest || p.Ranks+p.MinNodes+p.MaxNodes > 0 {
			return usage("--nodes %s says how many: use it once, and without --ranks, --min-nodes and --max-nodes", name)
		}
		p.MinNodes, _ = strconv.Atoi(found[1]) // digits, or nothing
		p.MaxNodes, _ = strconv.Atoi(found[2])
		if p.Widest = true; found[2] != "" && p.MaxNodes < max(p.MinNodes, 1) {
			return usage("--nodes %s ends before it begins", name)
		}
	}
	w.nodes = names
	return nil
}

// countRanks gives each of the named nodes its ranks, or one node, where nothing is said of
// their number; of a job with a model that is as many as the model needs.
func countRanks(r *api.JobRequest, named int) {
	if p := &r.Placement; p.Ranks+p.MinNodes+p.MaxNodes == 0 && !p.Widest && r.Model.Model == "" {
		p.Ranks = max(1, named) * p.PerNode()
	}
}

// resolve finds the nodes that the flags name.
func (w *wanted) resolve(p *api.Placement, nodes []api.NodeView) (err error) {
	if p.Ranks == 0 {
		p.MinNodes = max(p.MinNodes, 1)
		if p.MaxNodes == 0 {
			p.MaxNodes = max(len(nodes), p.MinNodes)
		}
	}
	if p.Nodes, err = nodeIDs(w.nodes, nodes); err != nil {
		return err
	}
	if p.ExcludedNodes, err = nodeIDs(w.excluded, nodes); err != nil {
		return err
	}
	if w.rank0 != "" {
		p.Rank0, err = nodeID(w.rank0, nodes)
	}
	return err
}

// limits checks how long its phases may take.
func (w *wanted) limits(out *api.JobRequest) error {
	if out.Retries < 0 || out.MaxAttempts < 0 || out.MaxAttempts > api.MaxStarts {
		return usage("--retries must be at least 0, and --max-attempts 1 to %d", api.MaxStarts)
	}
	for _, l := range w.lasting() {
		if *l.to != nil && **l.to < 0 {
			return usage("--%s must be a length of time such as 90s or 1h", l.flag)
		}
	}
	return nil
}

// lasting is a flag that says how long something may take.
type lasting struct {
	flag, usage string
	to          **float64 // in seconds; nil is not said
	zero        bool      // 0 is not the same as nothing
}

// Set reads a length of time.
func (l lasting) Set(s string) error {
	d, err := time.ParseDuration(s)
	if *l.to = nil; d != 0 || l.zero {
		*l.to = new(d.Seconds())
	}
	return err
}

func (lasting) String() string { return "" }

// Type is how the help shows it.
func (lasting) Type() string { return "duration" }

// lasting are all of these flags.
func (w *wanted) lasting() []lasting {
	d := &w.job.Deadlines
	return []lasting{
		{flag: "deadline-placing", to: &d.PlacingS, usage: "give up if no place is found within this time (default: wait)"},
		{flag: "deadline-preparing", to: &d.PreparingS, usage: "how long --sync, --prepare and --fetch may take, on all nodes"},
		{flag: "deadline-starting", to: &d.StartingS, usage: "how long starting may take, once all is prepared"},
		{flag: "deadline-handshake", to: &d.HandshakeS, usage: "how long it may take until all ranks have joined"},
		{flag: "deadline-run", to: &d.RunS, usage: "end it after it has run for this long (default: never)"},
		{flag: "deadline-silence", to: &d.SilenceS, usage: "end it when no rank has printed anything for this long (default: never)"},
		{flag: "heartbeat", to: &d.HeartbeatS, usage: "how long ranks may leave between two touches of the file FULMEN_HEARTBEAT (default: they have none)"},
		{flag: "grace", to: &d.GraceS, usage: "how long ranks get between SIGTERM and SIGKILL", zero: true},
	}
}

// streams says who reads the input, and whether rank 0 has a terminal.
func (w *wanted) streams(out *api.JobRequest, a App) error {
	p := &out.Program
	one := out.Placement.Ranks == 1
	out.Detached = out.Detached || out.Kept
	if out.OnStall != "" {
		if _, err := oneOf[api.OnStall]("--on-stall", string(out.OnStall)); err != nil {
			return err
		}
	}
	if p.Stdin != "" {
		if _, err := oneOf[api.StdinTarget]("--stdin", string(p.Stdin)); err != nil {
			return err
		}
	}
	switch {
	case out.Detached && p.Stdin != "" && p.Stdin != api.StdinNone:
		return usage("a detached job gets no input: use --stdin none with --detach or --keep")
	case out.Detached && p.Terminal:
		return usage("--detach, or --keep, and --tty contradict each other")
	case out.Detached:
		p.Stdin = api.StdinNone
		return nil
	case p.Terminal && (p.Stdin == api.StdinNone || p.Stdin == api.StdinAll && !one):
		return usage("only rank 0 can have the terminal: use --stdin 0 with --tty")
	}
	if !w.terminalGiven {
		p.Terminal = a.InTerminal && a.Screen && (p.Stdin == api.StdinRank0 || one && p.Stdin != api.StdinNone)
	}
	if p.Stdin == "" {
		p.Stdin = api.StdinAll
		if p.Terminal {
			p.Stdin = api.StdinRank0
		}
	}
	return nil
}

// probe takes PORT, PORT/PATH, or exec: and a command.
func (w *wanted) probe(flag, text string) error {
	one := &api.Probe{}
	if command, isCommand := strings.CutPrefix(text, "exec:"); isCommand {
		one.Command = strings.Fields(command)
	} else {
		number, path, isHTTP := strings.Cut(text, "/")
		port, err := strconv.Atoi(number)
		if err != nil {
			return usage("write it as 8080/health, or 8080 for a connection alone, or as exec:COMMAND")
		}
		one.Port = port
		if isHTTP {
			one.Path = "/" + path
		}
	}
	if one.Port == 0 && len(one.Command) == 0 {
		return usage("name a port or a command, as in 8080/health or exec:./check")
	}
	if w.job.Probes == nil {
		w.job.Probes = &api.Probes{}
	}
	switch flag {
	case "startup-probe":
		w.job.Probes.Startup = one
	case "readiness-probe":
		w.job.Probes.Readiness = one
	default:
		w.job.Probes.Liveness = one
	}
	return nil
}

// extras reads what is written as pairs.
func (w *wanted) extras(out *api.JobRequest) error {
	for _, l := range w.labels {
		key, value, found := strings.Cut(l, "=")
		if !found || key == "" {
			return usage("--label must be KEY=VALUE, not %q", l)
		}
		if out.Labels == nil {
			out.Labels = map[string]string{}
		}
		out.Labels[key] = value
	}
	for _, word := range w.publish {
		port, lan := strings.CutPrefix(word, "lan:")
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return usage("--publish must be PORT or lan:PORT with a port from 1 to 65535, not %q", word)
		}
		out.Publish = append(out.Publish, api.Publish{Port: n, LAN: lan})
	}
	return nil
}

// parseSize reads an amount of memory: 24GiB, 24G, 512MiB, 8GB, 1073741824.
func parseSize(s string) (int64, error) {
	number := strings.TrimRight(s, "BGKMTbgikmt ")
	units := map[string]float64{
		"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
		"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
	}
	unit, known := units[strings.ToLower(strings.TrimSpace(s[len(number):]))]
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !known || !(v > 0) || v*unit >= 1<<60 {
		return 0, usage("--memory must be an amount such as 24GiB or 24GB, not %q", s)
	}
	return int64(v * unit), nil
}

// nodeIDs are the nodes that words mean.
func nodeIDs(words []string, nodes []api.NodeView) ([]api.NodeID, error) {
	var out []api.NodeID
	for _, w := range words {
		id, err := nodeID(w, nodes)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// nodeID is the node that a word means: here, a name, an id, or the beginning of
// either that no other node has.
func nodeID(word string, nodes []api.NodeView) (api.NodeID, error) {
	id := strings.ReplaceAll(strings.ToLower(word), "-", "")
	var similar []api.NodeView
	for _, n := range nodes {
		switch {
		case n.ShortName == word, string(n.Node) == id, word == "here" && n.Self:
			return n.Node, nil
		case word != "" && (strings.HasPrefix(n.ShortName, word) || id != "" && strings.HasPrefix(string(n.Node), id)):
			similar = append(similar, n)
		}
	}
	if len(similar) == 1 {
		return similar[0].Node, nil
	}
	reason, what := api.ReasonNoSuchNode, "There is no node called"
	if len(similar) > 1 {
		reason, what = api.ReasonAmbiguousName, "Several nodes have a name or id that begins with"
	}
	return "", advised(api.Errorf(reason, word, "%s %q.", what, word), "See: fulmen nodes")
}

// wanted is what the flags of fulmen run say of a job.
type wanted struct {
	job                      api.JobRequest // as far as a flag is a field of it
	nodes, excluded          []string
	labels, env, publish     []string
	rank0, memory, prepare   string
	keepOutput               bool
	terminalGiven, venvGiven bool
	perNodeGiven             bool
}

// flags adds the flags that say what a job needs. Those of fulmen env, which
// looks for a program and places nothing, are a part of them.
func (w *wanted) flags(c *cobra.Command) {
	w.programFlags(c)
	w.placeFlags(c, "how many ranks in all (default: --ranks-per-node on one node, or on each of --nodes)")
	f, p := c.Flags(), &w.job.Placement
	f.IntVar(&p.RanksPerNode, "ranks-per-node", 0, "how many ranks each node runs, over ring (default: one)")
	f.IntVar(&p.MinNodes, "min-nodes", 0, "instead of --ranks: the fewest nodes that will do")
	f.IntVar(&p.MaxNodes, "max-nodes", 0, "instead of --ranks: the most nodes that are wanted")
	f.StringVar(&w.rank0, "rank0", "", "where rank 0 runs: here, or a node (default: the node that most others can connect to; this one if several are equal)")
	f.StringVar(&w.memory, "memory", "", "how much GPU memory each rank needs, such as 24GiB; with --per-node, all ranks together (default with --model: what its weights take)")
	f.StringVar(&w.job.Model.Model, "model", "", "a model, as fulmen models lists it: run on the fewest Macs where it lies and fits, and give the program its folder in FULMEN_MODEL and for {model}")
	f.StringVar(&w.job.Model.Revision, "revision", "", "the model's branch, commit, or its beginning (default: main, the one that most Macs have)")
	f.BoolVar(&w.job.FetchModel, "fetch", false, "copy the model first to nodes that lack it, where it fits on no others")
	f.StringVar((*string)(&w.job.Sharding), "sharding", "", "how the program is to divide the model, in FULMEN_SHARDING: tensor, pipeline (default tensor)")
	f.StringVar((*string)(&p.ShareBy), "per-node", "", "give each rank its share in FULMEN_SHARE, by the memory and speed of its node: memory (default: no shares)")
	f.StringVar((*string)(&p.GPU), "gpu", string(api.GPUExclusive), "how each rank gets the GPU: exclusive, shared, none")
	f.StringArrayVar(&w.publish, "publish", nil, "make a port of rank 0 reachable on this Mac while it listens; lan:PORT: on the network too, behind a key")
	f.IntVar(&w.job.Retries, "retries", 0, "how often to try again after it fails while running")
	f.IntVar(&w.job.MaxAttempts, "max-attempts", 0, "how often to start it at most until all ranks have joined, whatever fails (default: 8 times in 30 s)")
	f.BoolVar(&w.job.AllowMixed, "allow-mixed", false, "permit nodes with different versions of Python, MLX and packages")
	f.BoolVar(&w.job.AllowSolo, "allow-solo", false, "do not wait for ranks to join the group: the program may run alone, or find the others by itself")
	for _, l := range w.lasting()[1:] {
		f.Var(l, l.flag, l.usage)
	}
	f.StringArrayVar(&w.labels, "label", nil, "a label of your own, as KEY=VALUE")
	f.StringVar(&w.job.Name, "name", "", "the name that lists show (default: the script's name)")
	f.BoolVar(&w.keepOutput, "keep-output", false, "keep its output on the nodes when the job is deleted")
	f.StringVar(&w.job.RequestID, "request-id", "", "a word of your own; submitting with the same one again gives the same job")
	words(c, "per-node", api.ShareBasis("").Values())
	words(c, "sharding", api.Sharding("").Values())
	words(c, "gpu", api.GPUShare("").Values())
}

// networkUsage is that of --network.
const networkUsage = "an interface or network (en0, 10.0.0.0/24) that unencrypted traffic may use besides Thunderbolt"

// placeFlags adds those that say on which nodes, over what, and for how long a place
// is looked for.
func (w *wanted) placeFlags(c *cobra.Command, ranks string) {
	f, p, placing := c.Flags(), &w.job.Placement, w.lasting()[0]
	f.IntVarP(&p.Ranks, "ranks", "n", 0, ranks)
	f.StringSliceVar(&w.nodes, "nodes", nil, "nodes that must all be used, separated by commas; 2..4 is how many: as many as fit")
	f.StringSliceVar(&w.excluded, "exclude", nil, "nodes that must not be used, separated by commas")
	f.StringVar((*string)(&p.Backend), "backend", string(api.BackendAuto), "how the ranks talk: auto, jaccl, jaccl-ring, ring")
	f.StringSliceVar(&p.Networks, "network", nil, networkUsage)
	f.Var(placing, placing.flag, placing.usage)
	f.IntVar(&w.job.Priority, "priority", 0, "of jobs that wait the higher goes first, -100 to 100; a point counts as 10 minutes of waiting")
	f.StringSliceVar(&w.job.After, "after", nil, "jobs that must succeed first, by id or name, separated by commas")
	f.BoolVar(&w.job.Preemptible, "preemptible", false, "it may be ended for a job of higher priority, and is started again")
	words(c, "backend", api.Backend("").Values())
}

// programFlags adds the flags that say what is run and in what surroundings.
func (w *wanted) programFlags(c *cobra.Command) {
	f, p := c.Flags(), &w.job.Program
	f.StringArrayVarP(&w.env, "env", "e", nil, "pass this environment variable; NAME=VALUE gives it a value, which other accounts here can see")
	f.StringVar(&p.Environment, "venv", "", "the Python environment to use, or empty for none (default: the one that is active here)")
	f.StringVar(&p.Interpreter, "python", "", "the interpreter: a path, or a name such as python3.13")
	f.StringVar(&p.Interpreter, "interpreter", "", "another name for --python")
	f.StringVar(&p.Directory, "cwd", "", "the folder to start in (default: this one)")
	f.BoolVar(&p.Sync, "sync", false, "copy the folder to every node first, without what .gitignore names")
	f.StringVar(&w.prepare, "prepare", "", "a shell command, run once on each node before, and again when its inputs change")
	f.StringArrayVar(&p.PrepareInputs, "prepare-input", nil, "a file whose contents decide whether --prepare is run again")
}

// streamFlags adds those about the terminal, which a job that is only planned has
// no use for.
func (w *wanted) streamFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar((*string)(&w.job.Program.Stdin), "stdin", "", "which ranks read this input: all, 0, none (default all; with --detach none)")
	f.BoolVarP(&w.job.Program.Terminal, "tty", "t", false, "give rank 0 a terminal (default: on a terminal, with one rank or --stdin 0)")
	f.BoolVarP(&w.job.Detached, "detach", "d", false, "print the job's id and return; the job goes on")
	f.BoolVar(&w.job.Kept, "keep", false, "as --detach, and start it again whatever ends it, until it is stopped")
	f.BoolVar(&w.job.YieldWhenIdle, "yield-when-idle", false, "with --keep: end it for any job that waits while nobody asks anything of it")
	f.Func("idle", "with --keep: how long nobody must have asked anything for that, and for its Macs to sleep (default 15m)", func(text string) error {
		d, err := time.ParseDuration(text)
		w.job.IdleS = d.Seconds()
		return err
	})
	f.StringVar((*string)(&w.job.KeepAwake), "keep-awake", "", "with --keep: when its Macs are kept awake: always, used (default), never")
	words(c, "keep-awake", api.KeepAwake("").Values())
	f.StringVar((*string)(&w.job.OnStall), "on-stall", "", "when it does not get on: warn, restart, fail (default warn; with --keep restart)")
	words(c, "on-stall", api.OnStall("").Values())
	for name, usage := range map[string]string{
		"startup-probe":   "try rank 0's PORT, GET PORT/PATH or exec:COMMAND until it succeeds; end the job where it never does",
		"readiness-probe": "the same all the time, as PORT, PORT/PATH or exec:COMMAND: the job is ready while it succeeds",
		"liveness-probe":  "the same, as PORT, PORT/PATH or exec:COMMAND: the attempt ends where it fails 3 times in a row",
	} {
		f.Func(name, usage, func(text string) error { return w.probe(name, text) })
	}
	words(c, "stdin", api.StdinTarget("").Values())
}

// words completes a flag with what it can be.
func words(c *cobra.Command, flag string, all []string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that is not there
}

// reported notes which flags were given where the absent value means something else.
func (w *wanted) noteGiven(c *cobra.Command) {
	w.terminalGiven, w.venvGiven, w.perNodeGiven = c.Flags().Changed("tty"), c.Flags().Changed("venv"), c.Flags().Changed("ranks-per-node")
}
