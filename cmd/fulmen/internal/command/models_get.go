package command

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// hubName is where models come from that no Mac has.
const hubName = "Hugging Face"

func (r *run) modelsGetCommand() *cobra.Command {
	var sel api.ModelSelect
	var on []string
	var all bool
	c := &cobra.Command{
		Use: "get MODEL", Short: "Get a model from Hugging Face, once for all Macs", Args: cobra.ExactArgs(1),
		Long: "Gets a model from Hugging Face into the cache of your account on this Mac, or on those that --on names. It comes over\n" +
			"the internet once: to this Mac where it is one of them and can, else to the first that can; the others copy it from there.\n" +
			"Each Mac uses the account that its map has for you, and that account's own token (hf auth login, HF_TOKEN). A Mac that\n" +
			"cannot is named with the reason, and the others go on. Ctrl-C ends it; the next get goes on where this one was.",
		Example: "  fulmen models get mlx-community/Llama-3.2-1B-Instruct-4bit\n" +
			"  fulmen models get mlx-community/Llama-3.2-1B-Instruct-4bit --on mac-studio,mac-mini\n" +
			"  fulmen models get mlx-community/Llama-3.2-1B-Instruct-4bit --all",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			sel.Model = args[0]
			info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
			if err != nil {
				return err
			}
			g := getting{run: r, client: c, sel: sel, names: nodeNames(ctx, c)}
			return g.get(ctx, info.Node, on, all)
		}),
	}
	c.Flags().StringSliceVar(&on, "on", nil, "the Macs that are to have it (default this one)")
	c.Flags().BoolVar(&all, "all", false, "this Mac and all others that share models with you")
	c.Flags().StringVar(&sel.Revision, "revision", "", "a branch, a tag or a commit (default main)")
	c.MarkFlagsMutuallyExclusive("on", "all")
	return c
}

// getting is how a model comes to some Macs.
type getting struct {
	run    *run
	client *client.Client
	sel    api.ModelSelect
	names  show.Names

	mu    sync.Mutex
	whole []modelCopy
}

// get has one of the Macs get it, and the others copy it from there.
func (g *getting) get(ctx context.Context, self api.NodeID, on []string, all bool) error {
	macs := slices.DeleteFunc(slices.Clone(on), func(mac string) bool { return mac == string(self) || mac == g.names.Of(self) })
	if all {
		cluster, err := client.Call[api.ModelClusterResult](ctx, g.client, "model.cluster", nil)
		if err != nil {
			return err
		}
		for _, n := range cluster.Nodes {
			switch {
			case n.Node == self:
			case n.Error != nil:
				g.leaveOut(g.names.Of(n.Node), n.Error)
			default:
				macs = append(macs, string(n.Node))
			}
		}
	}
	if all || len(macs) < len(on) || len(on) == 0 {
		macs = slices.Insert(macs, 0, "") // this one
	}
	shown := g.shown(macs, self)
	line := g.run.workLine(shown...)
	errs := make([]error, len(macs))
	var source api.NodeID
	var others sync.WaitGroup
	for first, mac := range macs {
		begun := make(chan modelCopy, 1)
		ended := make(chan struct{})
		late := macs[:first] // those that Hugging Face has refused may copy, too
		var behind sync.WaitGroup
		behind.Go(func() {
			started, ok := <-begun
			if !ok {
				late = slices.Concat(macs[:first], macs[first+1:])
				return
			}
			for i, mac := range macs[first+1:] { // what arrives is sent on while more arrives
				others.Go(func() { errs[first+1+i] = g.behind(ctx, started, ended, mac, line.of(first+1+i)) })
			}
		})
		source, errs[first] = g.copy(ctx, "", g.sel.Revision, mac, line.of(first), begun)
		close(ended)
		close(begun)
		behind.Wait()
		if ctx.Err() != nil {
			break
		}
		if source == "" {
			others.Wait()
			continue
		}
		for _, mac := range late {
			i := slices.Index(macs, mac)
			others.Go(func() { _, errs[i] = g.copy(ctx, source, g.sel.Revision, mac, line.of(i), nil) })
		}
		break
	}
	others.Wait()
	line.clear()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	isWhole := true
	for i, err := range errs {
		if err != nil {
			isWhole = false
			g.leaveOut(shown[i], err)
		}
	}
	if len(g.whole) > 0 {
		if err := g.run.answer(modelCopied{g.whole}, func(w *show.Page) {
			for _, one := range g.whole {
				from := hubName
				if one.Node != "" {
					from = g.names.Of(one.Node)
				}
				g.run.view().ModelCopied(w, g.sel.Model, from, g.names.Of(one.To), one.Progress)
			}
		}); err != nil {
			return err
		}
	}
	if !isWhole {
		return exited{api.ExitFailed}
	}
	return nil
}

// shown are the names by which Macs are shown; where there is one alone it needs none.
func (g *getting) shown(macs []string, self api.NodeID) []string {
	if len(macs) == 1 {
		return macs
	}
	shown := make([]string, len(macs))
	for i, mac := range macs {
		shown[i] = mac
		if name, ok := g.names[api.NodeID(mac)]; ok {
			shown[i] = name
		} else if mac == "" {
			shown[i] = g.names.Of(self)
		}
	}
	return shown
}

// copy copies a revision of it to a Mac, from Hugging Face where from is empty, and gives the
// Mac that has it then.
func (g *getting) copy(ctx context.Context, from api.NodeID, revision, to string, line func(string), begun chan<- modelCopy) (api.NodeID, error) {
	params := api.ModelCopyParams{ModelSelect: api.ModelSelect{Model: g.sel.Model, Revision: revision}, Node: api.NodeRef(from), To: api.NodeRef(to)}
	done, err := g.run.copyModelTo(ctx, g.client, params, line, begun)
	if err != nil {
		return "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.whole = append(g.whole, done)
	return done.To, nil
}

// behind copies what another Mac is getting; where that cannot be, it copies once the other has
// ended.
func (g *getting) behind(ctx context.Context, before modelCopy, ended <-chan struct{}, to string, line func(string)) error {
	_, err := g.copy(ctx, before.To, before.Progress.Revision, to, line, nil)
	if err != nil && ctx.Err() == nil {
		<-ended
		_, err = g.copy(ctx, before.To, g.sel.Revision, to, line, nil)
	}
	return err
}

// leaveOut names a Mac that does not get it.
func (g *getting) leaveOut(name string, why error) {
	e := *api.AsError(why)
	if name != "" {
		e.Message = fmt.Sprintf("%s is left out: %s", name, e.Message)
	}
	g.run.explain(&e)
}
