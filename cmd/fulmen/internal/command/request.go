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
// A usageError says which flag makes no sense.
func (w *wanted) request(a App, command []string) (api.JobRequest, map[string]string, error) {
	out := api.JobRequest{
		RequestID: w.requestID, Name: w.name, Retries: w.retries, MaxAttempts: w.attempts, AllowMixed: w.mixed, AllowSolo: w.solo,
		Detached: w.detach,
	}
	if w.keepOutput {
		out.Output = api.OutputKeep
	}
	program, values, err := w.program(a, command)
	if err != nil {
		return out, nil, err
	}
	out.Program = program
	for _, step := range []func(*api.JobRequest) error{
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
	p := api.Program{Command: command, Home: a.Environment.Home, Sync: w.sync, PrepareInputs: w.prepareInputs}
	var err error
	if p.Directory, err = a.path(w.folder); err != nil {
		return p, nil, err
	}
	if p.Interpreter = w.python; strings.Contains(w.python, "/") {
		if p.Interpreter, err = a.path(w.python); err != nil {
			return p, nil, err
		}
	}
	switch {
	case w.venv != "":
		p.Environment, err = a.path(w.venv)
	case !w.venvSaid && w.python == "":
		p.Environment = activeEnvironment(a)
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
		return "", api.Errorf(api.ReasonDirectoryMissing, path, "The current folder is not known; name one with --cwd.")
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
		return nil, usage("--env is NAME or NAME=VALUE, not %q", word)
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

// places says where it may run.
func (w *wanted) places(out *api.JobRequest) error {
	p := api.Placement{Ranks: w.ranks, MinNodes: w.minNodes, MaxNodes: w.maxNodes, Backend: api.Backend(w.backend), GPU: api.GPUShare(w.gpu), Networks: w.networks}
	var err error
	switch {
	case w.ranks < 0 || w.minNodes < 0 || w.maxNodes < 0:
		return usage("there cannot be fewer than no ranks or nodes")
	case w.ranks > 0 && w.minNodes+w.maxNodes > 0:
		return usage("--ranks says how many nodes exactly, --min-nodes and --max-nodes between which numbers; give one or the other")
	case w.maxNodes > 0 && w.minNodes > w.maxNodes:
		return usage("--min-nodes is more than --max-nodes")
	case w.ranks > 0 && len(w.nodes) > w.ranks:
		return usage("--nodes names %d nodes, which must all be used, and --ranks is %d", len(w.nodes), w.ranks)
	case !p.Backend.Valid():
		return usage("--backend is one of %s, not %q", strings.Join(p.Backend.Values(), ", "), w.backend)
	case !p.GPU.Valid():
		return usage("--gpu is one of %s, not %q", strings.Join(p.GPU.Values(), ", "), w.gpu)
	}
	if p.Ranks+p.MinNodes+p.MaxNodes == 0 {
		p.Ranks = max(1, len(w.nodes))
	}
	if w.memory != "" {
		if p.MemoryBytes, err = parseSize(w.memory); err != nil {
			return err
		}
	}
	out.Placement = p
	return nil
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

// limits says how long its phases may take.
func (w *wanted) limits(out *api.JobRequest) error {
	if w.retries < 0 || w.attempts < 0 || w.attempts > api.MaxStarts {
		return usage("--retries is at least 0, and --max-attempts 1 to %d", api.MaxStarts)
	}
	d := &out.Deadlines
	for _, l := range []struct {
		flag string
		d    time.Duration
		to   **float64
	}{
		{"deadline-placing", w.placing, &d.PlacingS}, {"deadline-preparing", w.preparing, &d.PreparingS},
		{"deadline-starting", w.starting, &d.StartingS}, {"deadline-handshake", w.joining, &d.HandshakeS},
		{"deadline-run", w.running, &d.RunS}, {"deadline-silence", w.silence, &d.SilenceS}, {"grace", w.grace, &d.GraceS},
	} {
		if l.d < 0 {
			return usage("--%s is a length of time such as 90s or 1h", l.flag)
		}
		if s := l.d.Seconds(); l.d > 0 || l.flag == "grace" && w.graced {
			*l.to = &s
		}
	}
	return nil
}

// streams says who reads the input, and whether rank 0 has a terminal.
func (w *wanted) streams(out *api.JobRequest, a App) error {
	p := &out.Program
	one := out.Placement.Ranks == 1
	p.Stdin = api.StdinTarget(w.stdin)
	switch {
	case w.stdin != "" && !p.Stdin.Valid():
		return usage("--stdin is one of %s, not %q", strings.Join(p.Stdin.Values(), ", "), w.stdin)
	case w.detach && w.stdin != "" && p.Stdin != api.StdinNone:
		return usage("nobody gives input to a job that was left: --detach goes with --stdin none")
	case w.detach && w.terminal:
		return usage("--detach and --tty contradict each other")
	case w.detach:
		p.Stdin = api.StdinNone
		return nil
	case w.terminal && (p.Stdin == api.StdinNone || p.Stdin == api.StdinAll && !one):
		return usage("the terminal is rank 0's alone: --tty goes with --stdin 0")
	}
	p.Terminal = w.terminal
	if !w.terminalSaid {
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

// extras reads what is written as pairs.
func (w *wanted) extras(out *api.JobRequest) error {
	for _, l := range w.labels {
		key, value, found := strings.Cut(l, "=")
		if !found || key == "" {
			return usage("--label is KEY=VALUE, not %q", l)
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
			return usage("--publish is PORT or lan:PORT with a port from 1 to 65535, not %q", word)
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
		return 0, usage("--memory is an amount such as 24GiB or 24GB, not %q", s)
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
	reason, what := api.ReasonNoSuchNode, "There is no node"
	if len(similar) > 1 {
		reason, what = api.ReasonAmbiguousName, "Several nodes begin with"
	}
	e := api.Errorf(reason, word, "%s %q.", what, word)
	e.Data.Remedy = "See: fulmen nodes"
	return "", e
}

// wanted is what the flags of fulmen run say of a job.
type wanted struct {
	name, requestID                string
	labels                         []string
	ranks, minNodes, maxNodes      int
	nodes, excluded                []string
	rank0                          string
	backend, gpu                   string
	memory                         string
	networks                       []string
	env                            []string
	venv, python, folder           string
	sync                           bool
	prepare                        string
	prepareInputs                  []string
	stdin                          string
	terminal                       bool
	publish                        []string
	retries, attempts              int
	mixed, solo                    bool
	placing, preparing             time.Duration
	starting, joining              time.Duration
	running, silence, grace        time.Duration
	detach, keepOutput             bool
	terminalSaid, venvSaid, graced bool
}

// flags adds the flags that say what a job needs. Those of fulmen env, which
// looks for a program and places nothing, are a part of them.
func (w *wanted) flags(c *cobra.Command) {
	w.programFlags(c)
	f := c.Flags()
	f.IntVarP(&w.ranks, "ranks", "n", 0, "how many processes, one a node (default: one, or as many as --nodes names)")
	f.IntVar(&w.minNodes, "min-nodes", 0, "instead of --ranks: the fewest nodes that will do")
	f.IntVar(&w.maxNodes, "max-nodes", 0, "instead of --ranks: the most nodes that are wanted")
	f.StringSliceVar(&w.nodes, "nodes", nil, "nodes that must all be used, with commas")
	f.StringSliceVar(&w.excluded, "exclude", nil, "nodes that must not be used, with commas")
	f.StringVar(&w.rank0, "rank0", "", "where rank 0 runs: here, or a node (default: the node that most others can dial, of equals this one)")
	f.StringVar(&w.backend, "backend", string(api.BackendAuto), "how the ranks talk: auto, jaccl, jaccl-ring, ring")
	f.StringVar(&w.memory, "memory", "", "what each rank needs of the GPU's memory, such as 24GiB")
	f.StringVar(&w.gpu, "gpu", string(api.GPUExclusive), "how each rank gets the GPU: exclusive, shared, none")
	f.StringSliceVar(&w.networks, "network", nil, "an interface or network (en0, 10.0.0.0/24) that unencrypted traffic may use beside Thunderbolt")
	f.StringArrayVar(&w.publish, "publish", nil, "a port of rank 0 that is reachable here while it listens; lan:PORT: on the network, behind a key")
	f.IntVar(&w.retries, "retries", 0, "how often to try again after a failure while it runs")
	f.IntVar(&w.attempts, "max-attempts", 0, "how often to start it at most until all ranks have joined, whatever fails (default: 8 times in 30 s)")
	f.BoolVar(&w.mixed, "allow-mixed", false, "permit nodes with different versions of Python, MLX and packages")
	f.BoolVar(&w.solo, "allow-solo", false, "wait for no rank to join the group: a program may run alone, or find the others by itself")
	f.DurationVar(&w.placing, "deadline-placing", 0, "give up when no place was found for so long (default: wait)")
	f.DurationVar(&w.preparing, "deadline-preparing", 0, "how long --sync and --prepare may take, on all nodes")
	f.DurationVar(&w.starting, "deadline-starting", 0, "how long starting may take, once all is prepared")
	f.DurationVar(&w.joining, "deadline-handshake", 0, "how long it may take until all ranks have joined")
	f.DurationVar(&w.running, "deadline-run", 0, "end it when it has run for so long (default: never)")
	f.DurationVar(&w.silence, "deadline-silence", 0, "end it when no rank has printed anything for so long (default: never)")
	f.DurationVar(&w.grace, "grace", 0, "how long ranks get between the polite signal and SIGKILL")
	f.StringArrayVar(&w.labels, "label", nil, "a pair KEY=VALUE of your own")
	f.StringVar(&w.name, "name", "", "what lists show (default: the script's name)")
	f.BoolVar(&w.keepOutput, "keep-output", false, "leave what it printed on the nodes when the job is deleted")
	f.StringVar(&w.requestID, "request-id", "", "a word of your own; the same one again gives the same job")
	words(c, "backend", api.Backend("").Values())
	words(c, "gpu", api.GPUShare("").Values())
}

// programFlags adds the flags that say what is run and in what surroundings.
func (w *wanted) programFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVarP(&w.env, "env", "e", nil, "pass this environment variable; NAME=VALUE gives it a value, which other accounts here can see")
	f.StringVar(&w.venv, "venv", "", "the Python environment to use; an empty one: none (default: the one that is active here)")
	f.StringVar(&w.python, "python", "", "the interpreter: a path, or a name such as python3.13")
	f.StringVar(&w.python, "interpreter", "", "the same as --python")
	f.StringVar(&w.folder, "cwd", "", "the folder to start in (default: this one)")
	f.BoolVar(&w.sync, "sync", false, "copy the folder to every node first, without what .gitignore names")
	f.StringVar(&w.prepare, "prepare", "", "a shell command, run once on each node before, and again when its inputs change")
	f.StringArrayVar(&w.prepareInputs, "prepare-input", nil, "a file whose contents decide whether --prepare is run again")
}

// streamFlags adds those about the terminal, which a job that is only planned has
// no use for.
func (w *wanted) streamFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&w.stdin, "stdin", "", "which ranks read this input: all, 0, none (default all; with --detach none)")
	f.BoolVarP(&w.terminal, "tty", "t", false, "give rank 0 a terminal (default: on a terminal, with one rank or --stdin 0)")
	f.BoolVarP(&w.detach, "detach", "d", false, "print the job's id and leave; the job goes on")
	words(c, "stdin", api.StdinTarget("").Values())
}

// words completes a flag with what it can be.
func words(c *cobra.Command, flag string, all []string) {
	_ = c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoFileComp
	}) // fails only for a flag that is not there
}

// said notes which flags were given where the absent value means something else.
func (w *wanted) said(c *cobra.Command) {
	w.terminalSaid, w.venvSaid = c.Flags().Changed("tty"), c.Flags().Changed("venv")
	w.graced = c.Flags().Changed("grace")
}
