package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/output"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
)

// allReduce is what fulmen bench allreduce is asked for.
type allReduce struct {
	wanted
	sizes, dtype string
	perSize      time.Duration
}

// allReduced is what fulmen bench allreduce --json prints.
type allReduced struct {
	// Job is the job that measured it.
	Job api.JobID `json:"job"`
	// Plan is where it ran.
	Plan *api.Plan `json:"plan,omitempty"`
	// Simulated says that a node of it is.
	Simulated bool `json:"simulated,omitempty"`
	// Result is rank 0's.
	Result worker.AllReduce `json:"result"`
}

func (r *run) benchCommand() *cobra.Command {
	var b allReduce
	c := &cobra.Command{
		Use: "allreduce", Short: "Measure all_sum over several Macs, by size of message", Args: cobra.NoArgs,
		Long: "Runs a job of Fulmen's own: all ranks add up messages of growing size with MLX, each result is checked, and the\n" +
			"times are those of the slowest rank. The algorithm's bandwidth is size over time; the bus's is that times 2(n-1)/n for\n" +
			"n ranks, as nccl-tests have it, and can be compared with a cable's speed. Without --ranks and --nodes it runs on all\n" +
			"nodes that are reached. Ctrl-C stops it, and it ends with the exit codes of fulmen run.",
		Example: "  fulmen bench allreduce\n  fulmen bench allreduce -n 2 --backend ring --sizes 1MiB-1GiB\n" +
			"  fulmen bench allreduce --nodes mac-studio,mac-mini --json 2>/dev/null",
		RunE: func(c *cobra.Command, _ []string) error {
			result, err := r.allReduce(c.Context(), b)
			if err != nil {
				return notStarted(err)
			}
			return r.answer(result, result.table)
		},
	}
	b.placeFlags(c, "how many ranks, one a node (default: as many as --nodes names, else all nodes that are reached)")
	f := c.Flags()
	f.StringVar(&b.sizes, "sizes", "1KiB-64MiB", "the smallest and the largest message, between which sizes double, or one size")
	f.StringVar(&b.dtype, "dtype", "float32", "what messages are made of: float32, float16, bfloat16")
	f.DurationVar(&b.perSize, "per-size", 500*time.Millisecond, "how long to time each size, about")
	words(c, "dtype", []string{"float32", "float16", "bfloat16"})
	r.completeNodes(c, "nodes", "exclude")
	return group("bench", "Measure how fast the Macs are together", c)
}

// request makes the job's request.
func (b *allReduce) request() (api.JobRequest, error) {
	out := b.job
	out.Name, out.Placement.GPU = string(api.BuiltinAllReduce), api.GPUExclusive
	// The folder is of no meaning, and this one is there on every node.
	out.Program = api.Program{Builtin: api.BuiltinAllReduce, Directory: "/", Stdin: api.StdinNone}
	least, most, err := sizeRange(b.sizes)
	if err != nil {
		return out, err
	}
	switch {
	case out.Placement.Ranks == 1 || out.Placement.Ranks == 0 && len(b.nodes) == 1:
		return out, usage("one rank has nothing to add up: name at least two nodes, or use --ranks 2")
	case b.perSize <= 0:
		return out, usage("--per-size must be a length of time, such as 500ms")
	case b.dtype != "float32" && b.dtype != "float16" && b.dtype != "bfloat16":
		return out, usage("--dtype must be float32, float16 or bfloat16, not %q", b.dtype)
	}
	out.Program.Command = []string{"-messages", "stdout", "-dtype", b.dtype, "-per-size", b.perSize.String(),
		"-min-bytes", strconv.FormatInt(least, 10), "-max-bytes", strconv.FormatInt(most, 10)}
	switch out.Placement.Backend {
	case api.BackendJACCL, api.BackendJACCLRing: // to MLX both are jaccl
		out.Program.Command = append(out.Program.Command, "-backend", "jaccl")
	case api.BackendRing:
		out.Program.Command = append(out.Program.Command, "-backend", "ring")
	}
	if err := b.places(&out); err != nil {
		return out, err
	}
	return out, b.limits(&out)
}

// sizeRange reads 1KiB-64MiB, or one size.
func sizeRange(s string) (least, most int64, err error) {
	low, high, found := strings.Cut(s, "-")
	if !found {
		high = low
	}
	if least, err = parseSize(low); err == nil {
		most, err = parseSize(high)
	}
	if err != nil || least < 4 || most < least {
		return 0, 0, usage("--sizes must be the smallest and the largest message, such as 1KiB-64MiB, not %q", s)
	}
	return least, most, nil
}

// allReduce runs the job, with a bar, and gives its table.
func (r *run) allReduce(ctx context.Context, b allReduce) (allReduced, error) {
	request, err := b.request()
	if err != nil {
		return allReduced{}, err
	}
	h := &benchEvents{run: r, bar: bar{out: r.Err, terminal: r.Terminal}, names: show.Names{}, simulated: map[api.NodeID]bool{}}
	h.lines = output.New(output.Options{Out: io.Discard, Err: clearing{h}, Prefix: true, ErrTerminal: r.Terminal})
	err = r.submit(ctx, request, nil, following{receive: h.event}, func(p *api.Placement, nodes []api.NodeView) error {
		for _, n := range nodes {
			h.names[n.Node], h.simulated[n.Node] = n.ShortName, n.Simulated
		}
		if err := b.resolve(p, nodes); err != nil || p.Widest || b.job.Placement.Ranks > 0 || len(b.nodes) > 0 {
			return err
		}
		p.Ranks = max(2, among(nodes, p.ExcludedNodes))
		return nil
	})
	_ = h.lines.Close() // whoever does not read the ranks' complaints has the error
	h.bar.clear()
	if err != nil {
		return allReduced{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.result == nil {
		return allReduced{}, advised(api.Errorf(api.ReasonInternal, h.job.String(), "The job %s ended without results.", h.job),
			"See: fulmen job logs "+h.job.String())
	}
	out := allReduced{Job: h.job, Result: *h.result}
	if a := show.Current(h.state.job); a != nil && a.Plan != nil {
		out.Plan = a.Plan
		for _, rank := range out.Plan.Ranks {
			out.Simulated = out.Simulated || h.simulated[rank.Node]
		}
	}
	return out, nil
}

// among counts the nodes that are reached, without some.
func among(nodes []api.NodeView, excluded []api.NodeID) int {
	n := 0
	for _, node := range nodes {
		if node.Liveness == api.LivenessAlive && !slices.Contains(excluded, node.Node) {
			n++
		}
	}
	return n
}

// benchEvents is what is heard of the job.
type benchEvents struct {
	*run
	bar       bar
	names     show.Names
	simulated map[api.NodeID]bool
	lines     *output.Lines // what ranks say on standard error

	mu      sync.Mutex // output may still come when the job has ended
	job     api.JobID
	state   jobState
	attempt int
	partial []byte // the unfinished line of rank 0
	done    float64
	result  *worker.AllReduce
}

func (h *benchEvents) event(e jobEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case e.Submitted != nil:
		h.job = e.Submitted.Job
	case e.Changed != nil:
		h.state.apply(e.Changed.Put)
		if !e.Changed.Terminal && h.done == 0 {
			h.show(h.state.words(h.view(), h.names))
		}
	case e.Output == nil:
	case e.Output.Stream == api.StreamErr:
		_ = h.lines.Write(*e.Output) // as at its Close
	case e.Output.Rank == 0: // the others' say the same
		h.piece(*e.Output)
	}
}

// piece takes what rank 0 printed.
func (h *benchEvents) piece(p api.OutputPiece) {
	if p.Attempt != h.attempt {
		h.attempt, h.partial, h.done, h.result = p.Attempt, nil, 0, nil
	}
	h.partial = append(h.partial, p.Data...)
	for {
		line, rest, found := bytes.Cut(h.partial, []byte("\n"))
		if !found {
			return
		}
		h.partial = rest
		var m worker.Message
		var result worker.AllReduce
		switch err := json.Unmarshal(line, &m); {
		case err != nil: // not the worker's
		case m.Type == worker.TypeProgress && m.Progress != nil:
			h.done = m.Progress.DoneRatio
			h.show(m.Progress.Stage)
		case m.Type == worker.TypeResult && m.Decode(&result) == nil:
			h.result = &result
		}
	}
}

func (h *benchEvents) show(words string) {
	if words == "" {
		return
	}
	if h.Terminal { // what is too long is cut: a line that is drawn over must be one
		fmt.Fprint(h.Err, "\x1b[?7l")
		defer fmt.Fprint(h.Err, "\x1b[?7h")
	}
	h.bar.show(api.Measurement{Items: []api.MeasureItem{{State: api.MeasureRunning, Step: words, DoneRatio: &h.done}}})
}

// clearing writes to standard error where the bar may be.
type clearing struct{ h *benchEvents }

func (c clearing) Write(p []byte) (int, error) {
	c.h.bar.clear()
	return c.h.Err.Write(p)
}

// table shows the result to a person.
func (a allReduced) table(w *show.Page) {
	t := text.NewTable("SIZE", "TIME", "ALGORITHM", "BUS", "RUNS")
	for _, row := range a.Result.Rows {
		t.Row(text.Bytes(int64(row.MessageBytes)), text.Micros(row.TimeUS), text.BytesPerS(row.AlgBytesPerS), text.BytesPerS(row.BusBytesPerS), strconv.Itoa(row.Runs))
	}
	over, simulated := "", ""
	if a.Plan != nil {
		over = " over " + string(a.Plan.Backend)
	}
	if a.Simulated {
		simulated = " SIMULATED."
	}
	fmt.Fprintf(w, "%s\nall_sum of %s by %d ranks%s.%s\n", t, text.Clean(a.Result.DType), a.Result.Size, over, simulated)
}
