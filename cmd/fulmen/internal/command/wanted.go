package command

import (
	"time"

	"github.com/spf13/cobra"

	"fulmen/daemon/api"
)

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
