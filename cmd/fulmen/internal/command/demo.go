package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/demo"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// demoScenario is what is simulated where nothing is said.
	demoScenario = "mesh-4"
	// maxDemoFolder is the longest path of a folder below which sockets have paths
	// that the system takes (103 bytes on macOS), with names of Macs of 30 bytes.
	maxDemoFolder = 50
)

// demonstration are the flags of fulmen demo.
type demonstration struct {
	nodes      int
	once, keep bool
	within     time.Duration
	noJob      string // why none is run
}

// demoResult is what fulmen demo --json prints when the cluster is whole.
type demoResult struct {
	// Scenario is what is simulated.
	Scenario string `json:"scenario"`
	// Simulated is true.
	Simulated bool `json:"simulated"`
	// Cluster is the cluster's id.
	Cluster api.ClusterID `json:"cluster"`
	// Folder is where all is kept.
	Folder string `json:"folder"`
	// Nodes are the Macs.
	Nodes []demoNode `json:"nodes"`
	// Measured is what they give, absent where it could not be measured.
	Measured *demoMeasured `json:"measured,omitempty"`
	// AllReduce is the job with which the start ends, absent where none was run.
	AllReduce *allReduced `json:"allreduce,omitempty"`
}

// demoNode is a Mac of a demoResult.
type demoNode struct {
	// Mac is its name in the scenario.
	Mac string `json:"mac"`
	// Node is its id.
	Node api.NodeID `json:"node"`
	// Home is its FULMEN_HOME.
	Home string `json:"home"`
}

func (r *run) demoCommand() *cobra.Command {
	var f demonstration
	c := &cobra.Command{
		Use: "demo [SCENARIO]", Short: "Run a simulated cluster of real daemons on this machine", Args: cobra.MaximumNArgs(1),
		Long: "Starts a daemon for each Mac of a simulated cluster, pairs them, measures GPUs and paths, and all_sum over four of them,\n" +
			"and shows the cluster until Ctrl-C, which ends all of it. The hardware is simulated, and its measurements are those of\n" +
			"the scenario; everything else is real, including the job and the network between them, which is this machine's loopback.\n" +
			"Without SCENARIO it runs " + demoScenario + ", four Macs joined by cables; an unknown name is answered with all there are. Each daemon\n" +
			"keeps its state in a folder of its own, which is removed at the end. No job runs as root: called by root, the daemons run\n" +
			"as the account that called sudo, else as nobody.",
		Example: "  fulmen demo\n  fulmen demo two-studios --keep\n  fulmen demo sixteen --nodes 6\n  fulmen demo --once",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.nodes < 0:
				return usage("--nodes must be at least 1")
			case c.Flags().Changed("within") && f.within <= 0:
				return usage("--within must be a length of time, such as 90s")
			}
			scenario := demoScenario
			if len(args) > 0 {
				scenario = args[0]
			}
			return r.demo(c.Context(), scenario, f)
		},
	}
	c.Flags().IntVar(&f.nodes, "nodes", 0, "only this many of the scenario's Macs, from the first")
	c.Flags().BoolVar(&f.once, "once", false, "end by itself, with 0, when all are paired, each sees the state of all, and the measurement is done")
	c.Flags().BoolVar(&f.keep, "keep", false, "keep the folder with the daemons' state and logs")
	c.Flags().DurationVar(&f.within, "within", 0, "how long that may take; not given: 40s and 5s for each Mac")
	return c
}

// demo runs a simulated cluster until it is told to end.
func (r *run) demo(ctx context.Context, scenario string, f demonstration) (err error) {
	program, err := r.siblingPath("fulmend")
	if err != nil {
		return err
	}
	account := demo.OwnAccount()
	folder, err := demoFolder(account)
	if err != nil {
		return err
	}
	defer func() {
		if f.keep {
			fmt.Fprintf(r.Err, "The state and the logs are in %s\n", text.Clean(folder))
			return
		}
		err = errors.Join(err, os.RemoveAll(folder))
	}()
	programs, err := demo.Beside(program).For(account, filepath.Join(folder, "fulmen"))
	if err != nil {
		return err
	}
	cluster, err := demo.Start(ctx, demo.Options{
		Fulmend: programs.Fulmend, Scenario: scenario, Nodes: f.nodes, Folder: folder, Account: account, Within: f.within,
		Print: func(line string) { fmt.Fprintln(r.Err, text.Clean(line)) },
	})
	defer func() {
		if ctx.Err() != nil && !f.once && isCancelled(err) {
			fmt.Fprintln(r.Err, "Ending all daemons…")
			err = nil // the end that was asked for
		}
		err = errors.Join(err, cluster.Close())
	}()
	if err != nil {
		return err
	}
	whole, stop := context.WithDeadline(ctx, cluster.Deadline)
	defer stop()
	if err := cluster.Pair(whole); err != nil {
		return err
	}
	switch { // what the job needs
	case account.Name == "":
		f.noJob = "No account on this machine may run jobs, so the demo runs none."
	case programs.Shim == "":
		f.noJob = "The program fulmen-shim, which starts ranks, is not beside fulmend, so the demo runs no job."
	case programs.Worker == "":
		f.noJob = "The program fulmen-rank, which measures, is not beside fulmend, so the demo runs no job."
	}
	return r.demonstrate(ctx, whole, cluster, demoResult{Scenario: scenario, Simulated: true, Cluster: cluster.ID, Folder: folder}, f)
}

// demonstrate shows the cluster: until it is whole, then until the end.
func (r *run) demonstrate(ctx, whole context.Context, cluster *demo.Cluster, result demoResult, f demonstration) error {
	for _, n := range cluster.Nodes {
		result.Nodes = append(result.Nodes, demoNode{Mac: n.Mac, Node: n.ID, Home: n.Home})
	}
	screen := &canvas{out: r.Out, terminal: r.Screen}
	draw := func(s demo.State) error {
		if r.json {
			return nil
		}
		page := show.Page{Screen: r.screen(r.Out)}
		r.view().Demo(&page, s)
		return screen.draw(page.String())
	}
	if err := cluster.Complete(whole, draw); err != nil {
		if f.once || r.json || ctx.Err() != nil || !errors.Is(err, api.ReasonDeadline) {
			return err
		}
		r.explain(err) // somebody looks, and it may still come
	} else if err = r.demoWork(ctx, &result, f); err != nil {
		if f.once || r.json || ctx.Err() != nil {
			return err
		}
		r.explain(err) // the cluster is there all the same
	}
	if r.json {
		if err := text.JSON(r.Out, result); err != nil {
			return err
		}
	}
	if f.once {
		return nil
	}
	first := result.Nodes[0]
	fmt.Fprintf(r.Err, "\nTalk to one of them, in another terminal:\n  FULMEN_HOME=%[1]s fulmen status\n  FULMEN_HOME=%[1]s fulmen dashboard\n"+
		"Ctrl-C ends all of it.\n\n", text.Clean(first.Home))
	screen.lines = 0 // what was written since stays
	return cluster.Follow(ctx, func(s demo.State) (bool, error) { return false, draw(s) })
}

// demoWork has the cluster measure and run a job.
func (r *run) demoWork(ctx context.Context, result *demoResult, f demonstration) (err error) {
	if result.Measured, err = r.demoMeasure(ctx, result.Nodes[0]); err != nil {
		return err
	}
	result.AllReduce, err = r.demoJob(ctx, result.Nodes, f)
	return err
}

// demoFolder makes the folder of a demo for an account, where paths are short
// enough for sockets and the account can be.
func demoFolder(account demo.Account) (string, error) {
	parent := os.TempDir()
	if len(filepath.Join(parent, "fulmen-demo-0123456789")) > maxDemoFolder || !account.Passes(parent) {
		parent = "/tmp"
	}
	folder, err := os.MkdirTemp(parent, "fulmen-demo-")
	if err == nil {
		err = account.Owns(folder)
	}
	return folder, err
}

// isCancelled reports whether an error is nothing but the end that was asked for.
func isCancelled(err error) bool {
	return err == nil || errors.Is(err, context.Canceled) || errors.Is(err, api.CodeCancelled)
}

// canvas shows a block of lines: drawn over on a terminal, else appended where it
// is another than the last.
type canvas struct {
	out      io.Writer
	terminal bool
	lines    int
	last     string
}

func (c *canvas) draw(block string) error {
	if !c.terminal {
		if block == c.last {
			return nil
		}
		if c.last != "" {
			block, c.last = "\n"+block, block
		} else {
			c.last = block
		}
		_, err := io.WriteString(c.out, block)
		return err
	}
	up := ""
	if c.lines > 0 {
		up = fmt.Sprintf("\x1b[%dA\x1b[J", c.lines)
	}
	c.lines = strings.Count(block, "\n")
	// Lines that are too long are cut and not wrapped: they are counted.
	_, err := io.WriteString(c.out, up+"\x1b[?7l"+block+"\x1b[?7h")
	return err
}

const (
	// demoRanks is how many ranks the demo's job has, where there is a place for so many.
	demoRanks = 4
	// demoPlacing and demoRunning are how long its job may look for a place, and run.
	demoPlacing, demoRunning = 20 * time.Second, time.Minute
	// demoTimeout is how long a place for all is waited for: what the Macs tell of
	// their cables comes last.
	demoTimeout = 5 * time.Second
)

// demoJob measures all_sum over some of the Macs; nil where that cannot be.
func (r *run) demoJob(ctx context.Context, nodes []demoNode, f demonstration) (*allReduced, error) {
	switch {
	case len(nodes) < 2:
		return nil, nil
	case f.noJob != "":
		fmt.Fprintln(r.Err, f.noJob)
		return nil, nil
	}
	b := allReduce{sizes: "1KiB-4MiB", dtype: "float32", perSize: 100 * time.Millisecond}
	b.job.Placement.Backend = api.BackendRing
	b.job.Placement.Networks = []string{"en0"} // simulated Macs without a cable have their job too
	b.job.Deadlines.PlacingS, b.job.Deadlines.RunS = new(demoPlacing.Seconds()), new(demoRunning.Seconds())
	ranks := &b.job.Placement.Ranks
	at := r.at(nodes[0])
	err := at.with(ctx, func(c *client.Client) (err error) {
		*ranks, err = at.mostRanks(ctx, c, b, min(demoRanks, len(nodes)))
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case *ranks == 0:
		fmt.Fprintln(r.Err, "No two of these Macs are connected in a way that a job could use, so the demo runs no job.")
		return nil, nil
	}
	fmt.Fprintf(r.Err, "\nMeasuring all_sum over %d of the Macs…\n", *ranks)
	result, err := at.allReduce(ctx, b)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err() // whatever became of the job
	case err != nil:
		return nil, err
	case r.json:
		return &result, nil
	}
	fmt.Fprintln(r.Out)
	return &result, r.print(r.Out, result.table)
}

// mostRanks is for how many ranks there is a place, at most so many; 0 where
// there is none for two.
func (r *run) mostRanks(ctx context.Context, c *client.Client, b allReduce, most int) (ranks int, err error) {
	until := time.Now().Add(demoTimeout)
	err = poll(ctx, firstPause, func() (bool, error) {
		for ranks = most; ranks >= 2; ranks-- {
			b.job.Placement.Ranks = ranks
			request, err := b.request()
			if err != nil {
				return false, err
			}
			result, err := client.Call[api.JobPlanResult](ctx, c, "job.plan", api.JobPlanParams{Request: request})
			if err != nil || result.Plan != nil {
				return true, err
			}
			if time.Now().Before(until) {
				return false, nil // for all of them, once more
			}
		}
		ranks = 0
		return true, nil
	})
	return ranks, err
}

const (
	// demoMeasuring is how long the demo's measurements may take in all.
	demoMeasuring = time.Minute
	// demoTries is how often they are tried.
	demoTries = 3
)

// demoMeasured is what the Macs of a demo give: their GPUs together, and every path.
type demoMeasured struct {
	// Totals are as in node.list.
	Totals api.Totals `json:"totals"`
	// Links is as link.list.
	Links api.LinkListResult `json:"links"`
}

// demoMeasure has every GPU and path measured: those of the scenario are as it
// records them, and one of this machine's loopback is real.
func (r *run) demoMeasure(ctx context.Context, first demoNode) (*demoMeasured, error) {
	fmt.Fprintln(r.Err, "\nMeasuring GPUs and paths…")
	ctx, stop := context.WithTimeoutCause(ctx, demoMeasuring, context.DeadlineExceeded)
	defer stop()
	var measured demoMeasured
	err := r.at(first).with(ctx, func(c *client.Client) error {
		for _, one := range []struct {
			method string
			params any
		}{
			{"measure.gpu", api.MeasureGPUParams{All: true, MaxAgeS: time.Hour.Seconds()}},
			{"measure.link", api.MeasureLinkParams{All: true, RDMA: true, MaxAgeS: time.Hour.Seconds()}},
		} {
			// A machine that is busy starting all this may fail the one that is real.
			err := measureAll(ctx, c, one.method, one.params)
			for tries := 1; err != nil && ctx.Err() == nil && tries < demoTries; tries++ {
				err = measureAll(ctx, c, one.method, one.params)
			}
			if err != nil {
				return err
			}
		}
		nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
		if err != nil {
			return err
		}
		if measured.Links, err = client.Call[api.LinkListResult](ctx, c, "link.list", nil); err != nil {
			return err
		}
		measured.Totals = nodes.Totals
		if r.json {
			return nil
		}
		fmt.Fprintln(r.Out)
		return r.print(r.Out, func(w *show.Page) { r.view().DemoMeasured(w, nodes, measured.Links) })
	})
	return &measured, err
}

// measureAll measures and waits for the end. What the scenario does not record, or has
// without RDMA, is no failure.
func measureAll(ctx context.Context, c *client.Client, method string, params any) error {
	var last api.Measurement
	if err := client.Measure(ctx, c, method, params, func(m api.Measurement, _ bool) { last = m }); err != nil {
		return err
	}
	for _, item := range last.Items {
		if item.Error != nil && !errors.Is(item.Error, api.ReasonNotInScenario) && !errors.Is(item.Error, api.ReasonRDMANotReady) {
			return item.Error
		}
	}
	return nil
}

// at is the same run as a client of another daemon.
func (r *run) at(node demoNode) *run {
	other := *r
	other.Environment.Getenv = func(name string) string {
		if name == api.EnvHome {
			return node.Home
		}
		return r.Environment.Getenv(name)
	}
	return &other
}
