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
