package command

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

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
			"Where somebody has to go to a Mac, because its switch is only in Recovery or System Settings, those trips come\n" +
			"first, with the time they take, and their steps at the end. The steps tick themselves off as that Mac goes and comes back.",
		Example: "  fulmen rdma\n  fulmen rdma check mac-studio:1\n  fulmen rdma --json | jq '.links[] | select(.verdict != \"ready\") | .text'",
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			return listed(ctx, r, c, "rdma.list", nil, r.view().RDMA)
		}),
	}
	c.AddCommand(r.rdmaCheckCommand(), r.rdmaProbeCommand(), r.rdmaClearCommand(), r.rdmaHistoryCommand())
	c.AddCommand(r.rdmaChangeCommands()...)
	return c
}

func (r *run) rdmaCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check [LINK]", Short: "Every check of a cable for RDMA, each with what to do", Args: cobra.MaximumNArgs(1),
		Long: "Checks everything that RDMA over a cable needs, at both ends, in the order in which you would do it; without a LINK\n" +
			"for every cable. What is marked as advice does not stop RDMA.\n" +
			"A LINK is one end, NODE:PORT, or both with ~ between.",
		Example: "  fulmen rdma check\n  fulmen rdma check mac-studio:1\n  fulmen rdma check 'mac-studio:1 ~ mac-studio-2:1' --json",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			if len(args) == 1 {
				return r.rdmaOne(ctx, c, "rdma.check", args[0])
			}
			return listed(ctx, r, c, "rdma.list", nil, func(w *show.Page, list api.RDMAListResult, nodes []api.NodeView) {
				r.view().RDMAChecks(w, list.Links, nodes)
			})
		}),
	}
}

func (r *run) rdmaClearCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clear LINK", Short: "Declare that this Mac's RDMA device at a cable works, after a program that used it was killed", Args: cobra.ExactArgs(1),
		Long: "A program that is killed while it has the RDMA device open may leave it stuck. After a test that hung no jaccl job gets\n" +
			"the cable until another test has passed, the cable was replugged, the Mac was restarted, or somebody who knows better\n" +
			"says so with this command, on that Mac. It is recorded: fulmen events --audit.\n" +
			"A LINK is one end, NODE:PORT, or both with ~ between.",
		Example: "  fulmen rdma clear mac-studio:1",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			return r.rdmaOne(ctx, c, "rdma.clear", args[0])
		}),
	}
}

// rdmaOne asks something about one cable that is answered by its checks.
func (r *run) rdmaOne(ctx context.Context, c *client.Client, method, name string) error {
	return onCable(ctx, c, name, func(nodes []api.NodeView, link api.LinkRef) error {
		return answered(ctx, r, c, method, api.LinkSelect{Link: link}, func(w *show.Page, got api.RDMAReadiness) {
			r.view().RDMAChecks(w, []api.RDMAReadiness{got}, nodes)
		})
	})
}

// rdmaChangeCommands are those that change RDMA on cables.
func (r *run) rdmaChangeCommands() []*cobra.Command {
	return []*cobra.Command{
		r.rdmaChangeCommand("rdma.enable", &cobra.Command{
			Use: "enable [LINK...]", Short: "Set up RDMA on Thunderbolt 5 cables",
			Long: "Takes the cable's interface out of the Thunderbolt Bridge and gives it a network service of its own with an address,\n" +
				"at both ends or not at all, and tests it with data over the cable. Everything is recorded first and can be put back.\n" +
				"Refused unless the cable is Thunderbolt 5 and runs at more than 40 Gb/s. The switch of a Mac itself is flipped by a\n" +
				"person: `fulmen rdma` has the steps.",
			Example: "  fulmen rdma enable mac-studio:1\n  fulmen rdma enable --all-ready --dry-run",
		}, "every cable that is ready to be enabled"),
		r.rdmaChangeCommand("rdma.disable", &cobra.Command{
			Use: "disable [LINK...]", Short: "Put back what enable has changed, at both ends",
			Long: "Puts back, setting by setting, what Fulmen has changed on the cable. What somebody has changed since is left, and\n" +
				"named. Where the other end cannot be reached nothing is put back; fulmen rdma undo does so at this end alone.",
			Example: "  fulmen rdma disable mac-studio:1\n  fulmen rdma disable --all-ready",
		}, "every cable that Fulmen has enabled"),
		r.rdmaChangeCommand("rdma.undo", &cobra.Command{
			Use: "undo [LINK...]", Short: "Put back what any change has left, even if the other end is unreachable",
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
			return usage("--all-ready already names every cable: leave LINK out")
		case !p.AllReady && len(args) == 0:
			return usage("name a cable, such as mac-studio:1, or use --all-ready")
		}
		return r.with(c.Context(), func(c2 *client.Client) error { return r.rdmaChange(c.Context(), c2, method, args, p) })
	}
	c.Flags().BoolVar(&p.AllReady, "all-ready", false, all)
	c.Flags().BoolVar(&p.DryRun, "dry-run", false, "show the exact changes without making them")
	return c
}

// rdmaChange asks for a change, shows how far it comes, and what became of it.
func (r *run) rdmaChange(ctx context.Context, c *client.Client, method string, args []string, p api.RDMAChangeParams) error {
	nodes, err := nodeViews(ctx, c)
	if err != nil {
		return err
	}
	for _, a := range args {
		p.Links = append(p.Links, linkRef(a, nodes))
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var printing sync.WaitGroup
	if !p.DryRun {
		printing.Go(func() { r.printChanges(watching, c, nodes) })
	}
	result, err := client.Call[api.RDMAChangeResult](ctx, c, method, p)
	stop()
	printing.Wait()
	if err != nil {
		return err
	}
	err = r.answer(result, func(w *show.Page) {
		r.view().RDMAChanges(w, result, show.ChangeOf{Undo: method != "rdma.enable", Dry: p.DryRun, Named: !p.AllReady}, nodes)
	})
	if err != nil || len(result.Refused) == 0 {
		return err
	}
	first := result.Refused[0]
	e := api.Errorf(first.Reason, first.Subject, "%d of the cables were left as they are; the first: %s", len(result.Refused), first.Message)
	e.Data.Causes = result.Refused
	return e
}

// printChanges writes a line for each step of a change, until ctx ends.
func (r *run) printChanges(ctx context.Context, c *client.Client, nodes []api.NodeView) {
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
		Use: "history [LINK]", Short: "What was changed for RDMA on this Mac, by whom, and how tests went", Args: cobra.MaximumNArgs(1),
		Long: "Every change of this Mac's settings for RDMA, the newest first, with its single steps with --wide; and of every\n" +
			"cable that was tested over RDMA what the tests gave.",
		Example: "  fulmen rdma history\n  fulmen rdma history mac-studio:1 --wide",
		RunE:    r.asks(r.rdmaHistory),
	}
}

func (r *run) rdmaHistory(ctx context.Context, c *client.Client, args []string) error {
	return onCable(ctx, c, strings.Join(args, ""), func(nodes []api.NodeView, link api.LinkRef) error {
		var changes api.RDMAHistoryResult
		var measured api.LinkHistoryResult
		var all errgroup.Group
		ask(ctx, c, &all, "rdma.history", api.RDMAHistoryParams{Link: link}, &changes)
		ask(ctx, c, &all, "link.history", api.LinkHistoryParams{Link: link}, &measured)
		if err := all.Wait(); err != nil {
			return err
		}
		past := rdmaPast{Changes: changes.Changes, Tests: []api.PathHistory{}}
		for _, p := range measured.Paths {
			if p.Transport == api.TransportRDMA {
				past.Tests = append(past.Tests, p)
			}
		}
		return r.answer(past, func(w *show.Page) { r.view().RDMAPast(w, past.Changes, past.Tests, nodes) })
	})
}

func (r *run) rdmaProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "probe LINK", Short: "Test a cable over RDMA, and measure it", Args: cobra.ExactArgs(1),
		Long: "Runs one MLX worker at each end of a cable, which send to each other over RDMA: rates each way by size of message,\n" +
			"round trips and their jitter. No job runs at either end meanwhile. Each test may leave something behind in Apple's\n" +
			"driver until the Mac is restarted, so none is ever repeated by itself. Ctrl-C cancels the test.",
		Example: "  fulmen rdma probe mac-studio:1\n  fulmen rdma probe mac-studio:1 --json",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			return onCable(ctx, c, args[0], func(nodes []api.NodeView, link api.LinkRef) error {
				return r.measurePaths(ctx, c, "rdma.probe", api.LinkSelect{Link: link}, nodes)
			})
		}),
	}
}
