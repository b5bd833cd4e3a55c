package command

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// rdmaCommand is the cables with whether RDMA works over them, and the commands
// that look closer and change it.
func (r *run) rdmaCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "rdma", Short: "RDMA over Thunderbolt 5: which cables are ready, and what is missing on which Mac", Args: cobra.NoArgs,
		Long: "Every Thunderbolt cable with whether RDMA works over it and, where it does not, the one thing that is missing.\n" +
			"Where a person has to go to a Mac, for its switch can be flipped in Recovery or System Settings only, the trips come\n" +
			"first, with what they cost, and their steps at the end. The steps tick themselves off as that Mac goes and comes back.",
		Example: "  fulmen rdma\n  fulmen rdma check mac-studio:1\n  fulmen rdma --json | jq '.links[] | select(.verdict != \"ready\") | .text'",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				return listed(c.Context(), r, c2, "rdma.list", nil, func(list api.RDMAListResult, nodes []api.NodeView) error {
					return r.view().RDMA(r.Out, list, nodes)
				})
			})
		},
	}
	c.AddCommand(r.rdmaCheckCommand(), r.rdmaProbeCommand(), r.rdmaClearCommand(), r.rdmaHistoryCommand())
	c.AddCommand(r.rdmaChangeCommands()...)
	return c
}

func (r *run) rdmaCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check [LINK]", Short: "Every check of a cable for RDMA, each with what to do", Args: cobra.MaximumNArgs(1),
		Long: "Goes through all that RDMA over a cable needs, at both ends, in the order in which a person does; without a LINK\n" +
			"through that of every cable. Advice does not stop RDMA.\n" +
			"A LINK is one end, NODE:PORT, or both with ~ between.",
		Example: "  fulmen rdma check\n  fulmen rdma check mac-studio:1\n  fulmen rdma check 'mac-studio:1 ~ mac-studio-2:1' --json",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				if len(args) == 1 {
					return r.rdmaOne(c.Context(), c2, "rdma.check", args[0])
				}
				return listed(c.Context(), r, c2, "rdma.list", nil, func(list api.RDMAListResult, nodes []api.NodeView) error {
					return r.view().RDMAChecks(r.Out, list.Links, nodes)
				})
			})
		},
	}
}

func (r *run) rdmaClearCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clear LINK", Short: "Say that this Mac's RDMA device at a cable works, although a program that had it was killed", Args: cobra.ExactArgs(1),
		Long: "A program that is killed while it has the RDMA device open may leave it stuck. After a test that hung no jaccl job gets\n" +
			"the cable until another test has passed, the cable was replugged, the Mac was restarted, or somebody who knows better\n" +
			"says so with this command, on that Mac. It is recorded: fulmen events --audit.\n" +
			"A LINK is one end, NODE:PORT, or both with ~ between.",
		Example: "  fulmen rdma clear mac-studio:1",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.rdmaOne(c.Context(), c2, "rdma.clear", args[0]) })
		},
	}
}

// rdmaOne asks something about one cable that is answered by its checks.
func (r *run) rdmaOne(ctx context.Context, c *client.Client, method, name string) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	got, err := client.Call[api.RDMAReadiness](ctx, c, method, api.LinkSelect{Link: linkRef(name, nodes.Nodes)})
	if err != nil {
		return err
	}
	if r.json {
		return text.JSON(r.Out, got)
	}
	return r.view().RDMAChecks(r.Out, []api.RDMAReadiness{got}, nodes.Nodes)
}

// rdmaChangeCommands are those that change RDMA on cables.
func (r *run) rdmaChangeCommands() []*cobra.Command {
	return []*cobra.Command{
		r.rdmaChangeCommand("rdma.enable", &cobra.Command{
			Use: "enable [LINK...]", Short: "Put RDMA in order on Thunderbolt 5 cables",
			Long: "Takes the cable's interface out of the Thunderbolt Bridge and gives it a network service of its own with an address,\n" +
				"at both ends or not at all, and tests it with data over the cable. Everything is recorded first and can be put back.\n" +
				"Refused unless the cable is Thunderbolt 5 and runs at more than 40 Gb/s. The switch of a Mac itself is flipped by a\n" +
				"person: `fulmen rdma` has the steps.",
			Example: "  fulmen rdma enable mac-studio:1\n  fulmen rdma enable --all-ready --dry-run",
		}, "every cable that only waits for this"),
		r.rdmaChangeCommand("rdma.disable", &cobra.Command{
			Use: "disable [LINK...]", Short: "Put back what enable has changed, at both ends",
			Long: "Puts back, setting by setting, what Fulmen has changed on the cable. What somebody has changed since is left, and\n" +
				"named. Where the other end cannot be reached nothing is put back; fulmen rdma undo does so at this end alone.",
			Example: "  fulmen rdma disable mac-studio:1\n  fulmen rdma disable --all-ready",
		}, "every cable that Fulmen has enabled"),
		r.rdmaChangeCommand("rdma.undo", &cobra.Command{
			Use: "undo [LINK...]", Short: "Put back what any change has left, also without the other end",
			Long: "Puts back what is left of Fulmen's changes at every end that can be reached: of changes that failed, of those in\n" +
				"force, and of those that an earlier installation has made.",
			Example: "  fulmen rdma undo --all-ready --dry-run\n  fulmen rdma undo mac-studio:1",
		}, "everything that Fulmen has changed"),
	}
}

// rdmaChangeCommand completes one of them.
func (r *run) rdmaChangeCommand(method string, c *cobra.Command, all string) *cobra.Command {
	var p api.RDMAChangeParams
	c.Args = cobra.ArbitraryArgs
	c.Long += "\nA LINK is one end, NODE:PORT, or both with ~ between."
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case p.AllReady && len(args) > 0:
			return usage("--all-ready names every cable already")
		case !p.AllReady && len(args) == 0:
			return usage("name a cable, such as mac-studio:1, or say --all-ready")
		}
		return r.with(c.Context(), func(c2 *client.Client) error { return r.rdmaChange(c.Context(), c2, method, args, p) })
	}
	c.Flags().BoolVar(&p.AllReady, "all-ready", false, all)
	c.Flags().BoolVar(&p.DryRun, "dry-run", false, "show the exact changes and make none")
	return c
}

// rdmaChange asks for a change, shows how far it comes, and what became of it.
func (r *run) rdmaChange(ctx context.Context, c *client.Client, method string, args []string, p api.RDMAChangeParams) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	for _, a := range args {
		p.Links = append(p.Links, linkRef(a, nodes.Nodes))
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var told sync.WaitGroup
	if !p.DryRun {
		told.Go(func() { r.tellChanges(watching, c, nodes.Nodes) })
	}
	result, err := client.Call[api.RDMAChangeResult](ctx, c, method, p)
	stop()
	told.Wait()
	if err != nil {
		return err
	}
	if r.json {
		err = text.JSON(r.Out, result)
	} else {
		err = r.view().RDMAChanges(r.Out, result, show.ChangeOf{Undo: method != "rdma.enable", Dry: p.DryRun, Named: !p.AllReady}, nodes.Nodes)
	}
	if err != nil || len(result.Refused) == 0 {
		return err
	}
	first := result.Refused[0]
	e := api.Errorf(first.Reason, first.Subject, "%d of the cables are left as they are; the first: %s", len(result.Refused), first.Message)
	e.Data.Causes = result.Refused
	return e
}

// tellChanges writes a line for each step of a change, until ctx ends.
func (r *run) tellChanges(ctx context.Context, c *client.Client, nodes []api.NodeView) {
	last := map[api.Key]string{}
	for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindRDMAChange}}) {
		if err != nil {
			return // the call tells what is wrong
		}
		for _, d := range event.Put {
			var change api.RDMAChange
			if d.Decode(&change) != nil {
				continue
			}
			key := api.Key{Node: d.Node, Kind: d.Kind, Name: d.Name}
			words := show.RDMAProgress(d.Node, change, nodes)
			if !event.Snapshot && last[key] != words {
				fmt.Fprintln(r.Err, words)
			}
			last[key] = words
		}
	}
}

// rdmaPast is what fulmen rdma history --json prints.
type rdmaPast struct {
	// Changes are as in rdma.history.
	Changes []api.RDMAChange `json:"changes"`
	// Tests are what the tests over RDMA gave, as in link.history.
	Tests []api.PathHistory `json:"tests"`
}

func (r *run) rdmaHistoryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history [LINK]", Short: "What was changed for RDMA on this Mac, by whom, and what tests gave", Args: cobra.MaximumNArgs(1),
		Long: "Every change of this Mac's settings for RDMA, the newest first, with its single steps with --wide; and of every\n" +
			"cable that was tested over RDMA what the tests gave.",
		Example: "  fulmen rdma history\n  fulmen rdma history mac-studio:1 --wide",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.rdmaHistory(c.Context(), c2, args) })
		},
	}
}

func (r *run) rdmaHistory(ctx context.Context, c *client.Client, args []string) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	var link api.LinkRef
	if len(args) > 0 {
		link = linkRef(args[0], nodes.Nodes)
	}
	var changes api.RDMAHistoryResult
	var measured api.LinkHistoryResult
	all := asking{ctx: ctx, client: c}
	ask(&all, "rdma.history", api.RDMAHistoryParams{Link: link}, &changes)
	ask(&all, "link.history", api.LinkHistoryParams{Link: link}, &measured)
	if err := all.wait(); err != nil {
		return err
	}
	past := rdmaPast{Changes: changes.Changes, Tests: []api.PathHistory{}}
	for _, p := range measured.Paths {
		if p.Transport == api.TransportRDMA {
			past.Tests = append(past.Tests, p)
		}
	}
	if r.json {
		return text.JSON(r.Out, past)
	}
	return r.view().RDMAPast(r.Out, past.Changes, past.Tests, nodes.Nodes)
}

func (r *run) rdmaProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "probe LINK", Short: "Test a cable over RDMA, and measure it", Args: cobra.ExactArgs(1),
		Long: "Runs one MLX worker at each end of a cable, which send to each other over RDMA: rates each way by size of message,\n" +
			"round trips and their jitter. Both ends are free of jobs meanwhile. Each test may leave something behind in Apple's\n" +
			"driver until the Mac is restarted, so none is ever repeated by itself. Ctrl-C cancels the test.",
		Example: "  fulmen rdma probe mac-studio:1\n  fulmen rdma probe mac-studio:1 --json",
		RunE: func(c *cobra.Command, args []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error { return r.rdmaProbe(c.Context(), c2, args[0]) })
		},
	}
}

func (r *run) rdmaProbe(ctx context.Context, c *client.Client, arg string) error {
	nodes, err := client.Call[api.NodeListResult](ctx, c, "node.list", nil)
	if err != nil {
		return err
	}
	last, err := r.measuring(ctx, c, "rdma.probe", api.LinkSelect{Link: linkRef(arg, nodes.Nodes)}, nodes.Nodes)
	if err != nil {
		return err
	}
	return r.linksMeasured(ctx, c, last, nodes.Nodes)
}
