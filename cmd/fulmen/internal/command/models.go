package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) modelsCommand() *cobra.Command {
	var on string
	c := &cobra.Command{
		Use: "models", Short: "The models on this Mac and on those that share theirs", Args: cobra.NoArgs,
		Long: "The models that your account has on this Mac: in the cache of Hugging Face, in the folders that the configuration\n" +
			"names (models.folders), and in those of LM Studio and Ollama; and those on other Macs that share theirs with you. NEEDS\n" +
			"is the size of the weights, the least memory that the model takes over all its Macs. Nobody on another Mac gets to know\n" +
			"of the models here unless this Mac shares them: fulmen sharing set models=mapped.",
		Example: "  fulmen models\n  fulmen models --on mac-studio\n  fulmen models copy mlx-community/Llama-3.2-1B-Instruct-4bit --from mac-studio",
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			if on == "" {
				return r.models(ctx, c)
			}
			return answered(ctx, r, c, "model.shared", api.ModelNode{Node: api.NodeRef(on)}, func(w *show.Page, list api.ModelListResult) { r.view().Models(w, list, on) })
		}),
	}
	c.Flags().StringVar(&on, "on", "", "one Mac alone, with the folders that were looked into there")
	c.AddCommand(r.modelsShowCommand(), r.modelsGetCommand(), r.modelsCopyCommand(), r.modelsVerifyCommand(), r.modelsRemoveCommand())
	return c
}

// models lists those of this Mac, in a cluster beside those of the other Macs.
func (r *run) models(ctx context.Context, c *client.Client) error {
	var own api.ModelListResult
	var cluster api.ModelClusterResult
	var nodes api.NodeListResult
	var all errgroup.Group
	ask(ctx, c, &all, "model.list", nil, &own)
	ask(ctx, c, &all, "model.cluster", nil, &cluster)
	ask(ctx, c, &all, "node.list", nil, &nodes)
	if err := all.Wait(); err != nil {
		return err
	}
	return r.answer(cluster, func(w *show.Page) {
		if len(cluster.Nodes) < 2 {
			r.view().Models(w, own, "")
			return
		}
		r.view().ModelsOfCluster(w, cluster, own.Folders, show.NamesOf(nodes.Nodes))
	})
}

func (r *run) modelsShowCommand() *cobra.Command {
	var revision string
	c := &cobra.Command{
		Use: "show MODEL", Short: "Everything about one model, with its files", Args: cobra.ExactArgs(1),
		Example: "  fulmen models show mlx-community/Llama-3.2-1B-Instruct-4bit --json",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			return answered(ctx, r, c, "model.show", api.ModelSelect{Model: args[0], Revision: revision}, r.view().Model)
		}),
	}
	c.Flags().StringVar(&revision, "revision", "", "a branch, a commit, or its beginning (default main)")
	return c
}

// modelVerified is what fulmen models verify --json prints.
type modelVerified struct {
	// Model is what was verified.
	Model api.Model `json:"model"`
	// Progress is its end.
	Progress api.ModelProgress `json:"progress"`
}

func (r *run) modelsVerifyCommand() *cobra.Command {
	var revision string
	c := &cobra.Command{
		Use: "verify MODEL", Short: "Compare a model's files with their hashes", Args: cobra.ExactArgs(1),
		Long: "Reads the files of a model and compares them with the hashes that the names of their blobs are. Files elsewhere than\n" +
			"in the caches of Hugging Face and Ollama have none. Ends with 1 where a file is corrupt or missing. Ctrl-C ends it.",
		Example: "  fulmen models verify mlx-community/Llama-3.2-1B-Instruct-4bit",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			return r.verifyModel(ctx, c, api.ModelSelect{Model: args[0], Revision: revision})
		}),
	}
	c.Flags().StringVar(&revision, "revision", "", "a branch, a commit, or its beginning (default main)")
	return c
}

func (r *run) verifyModel(ctx context.Context, c *client.Client, sel api.ModelSelect) error {
	started, changes, err := client.Stream[api.ModelVerifyStarted, api.ModelVerified](ctx, c, "model.verify", sel)
	if err != nil {
		return err
	}
	progress := r.workLine("")
	last, err := followed(r, changes, func(v api.ModelVerified) (api.ModelProgress, bool) { return v.Progress, v.Terminal }, progress.of(0))
	progress.clear()
	if err != nil {
		return err
	}
	if err := r.answer(modelVerified{Model: started.Model, Progress: last}, func(w *show.Page) { r.view().ModelVerified(w, started.Model, last) }); err != nil {
		return err
	}
	if last.Error != nil {
		return last.Error
	}
	return nil
}

// modelCopied is what fulmen models copy --json prints.
type modelCopied struct {
	// Copies are one a Mac.
	Copies []modelCopy `json:"copies"`
}

type modelCopy struct {
	api.ModelCopyStarted
	// Progress is its end.
	Progress api.ModelProgress `json:"progress"`
}

func (r *run) modelsCopyCommand() *cobra.Command {
	var params api.ModelCopyParams
	var from string
	var to []string
	c := &cobra.Command{
		Use: "copy MODEL", Short: "Copy a model between Macs", Args: cobra.ExactArgs(1),
		Long: "Copies a model from the Hugging Face cache of one Mac to that of your account on others, where mlx_lm and everything else\n" +
			"find it. Without --from it is this Mac that has it, without --to this Mac that gets it. Every file is compared with its\n" +
			"hash. Several Macs are a chain in the order of --to: each sends on what has arrived while more arrives, and where it\n" +
			"does not, the next one copies from the first. Other Macs must share their models (fulmen sharing set models=mapped), and\n" +
			"it is the account that their map has for you that reads and writes there. Ctrl-C ends it; the next copy goes on where\n" +
			"this one was.",
		Example: "  fulmen models copy mlx-community/Llama-3.2-1B-Instruct-4bit --from mac-studio\n" +
			"  fulmen models copy mlx-community/Llama-3.2-1B-Instruct-4bit --to mac-mini,macbook",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			if from == "" && len(to) == 0 {
				return usage("name the Mac that has the model, --from MAC, or those that are to have it, --to MAC; `fulmen models` lists which has what")
			}
			params.Model = args[0]
			return r.copyModel(ctx, c, params, from, to)
		}),
	}
	c.Flags().StringVar(&from, "from", "", "the Mac that has it (default this one)")
	c.Flags().StringSliceVar(&to, "to", nil, "the Macs that are to have it (default this one)")
	c.Flags().StringVar(&params.Revision, "revision", "", "a branch, a commit, or its beginning (default main)")
	c.Flags().BoolVar(&params.AnyNetwork, "any-network", false, "also over Wi-Fi, a tunnel or a network that costs money")
	return c
}

// copyModel copies to all Macs, each from the one before it while that still receives, and
// fails where one of them does not get it whole.
func (r *run) copyModel(ctx context.Context, c *client.Client, params api.ModelCopyParams, from string, to []string) error {
	params.Node = api.NodeRef(from)
	if from == "" {
		info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
		if err != nil {
			return err
		}
		params.Node = api.NodeRef(info.Node)
	}
	if len(to) == 0 {
		to = []string{""} // this one
	}
	copies, errs := make([]modelCopy, len(to)), make([]error, len(to))
	progress := r.workLine(to...)
	var all sync.WaitGroup
	var before <-chan modelCopy
	for i, mac := range to {
		params, source, begun := params, before, make(chan modelCopy, 1)
		params.To, before = api.NodeRef(mac), begun
		all.Go(func() {
			defer close(begun) // where it never began
			copies[i], errs[i] = r.copyModelBehind(ctx, c, source, params, progress.of(i), begun)
		})
	}
	all.Wait()
	progress.clear()
	whole := slices.DeleteFunc(slices.Clone(copies), func(c modelCopy) bool { return c.Sub == "" || c.Progress.Error != nil })
	if len(whole) > 0 {
		names := nodeNames(ctx, c)
		if err := r.answer(modelCopied{whole}, func(w *show.Page) {
			for _, one := range whole {
				r.view().ModelCopied(w, params.Model, names.Of(one.Node), names.Of(one.To), one.Progress)
			}
		}); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// copyModelBehind copies from the Mac of the copy that has begun before, once that has, and
// where that cannot send it from the one that has it. begun gets what goes on.
func (r *run) copyModelBehind(ctx context.Context, c *client.Client, before <-chan modelCopy, params api.ModelCopyParams, show func(line string), begun chan<- modelCopy) (modelCopy, error) {
	if before != nil {
		if source, isThere := <-before; isThere && source.Progress.Revision != "" {
			behind := params
			behind.Node, behind.Revision = api.NodeRef(source.To), source.Progress.Revision
			if got, err := r.copyModelTo(ctx, c, behind, show, begun); err == nil || ctx.Err() != nil {
				return got, err
			}
		}
	}
	return r.copyModelTo(ctx, c, params, show, begun)
}

func (r *run) copyModelTo(ctx context.Context, c *client.Client, params api.ModelCopyParams, show func(line string), begun chan<- modelCopy) (modelCopy, error) {
	started, changes, err := client.Stream[api.ModelCopyStarted, api.ModelCopied](ctx, c, "model.copy", params)
	if err != nil {
		return modelCopy{}, err
	}
	last, err := followed(r, changes, func(v api.ModelCopied) (api.ModelProgress, bool) {
		if v.Progress.Revision != "" && v.Progress.Error == nil {
			select {
			case begun <- modelCopy{started, v.Progress}:
			default: // it is known
			}
		}
		return v.Progress, v.Terminal
	}, show)
	if err == nil && last.Error != nil {
		err = last.Error
	}
	return modelCopy{started, last}, err
}

// workLine is a line on a terminal about work that goes on, one part for each of some names.
type workLine struct {
	run   *run
	names []string

	mu    sync.Mutex
	parts []string
}

func (r *run) workLine(names ...string) *workLine {
	return &workLine{run: r, names: names, parts: make([]string, len(names))}
}

// of gives what shows a part.
func (p *workLine) of(i int) func(string) {
	return func(part string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.parts[i] = part
		if p.names[i] != "" {
			p.parts[i] = p.names[i] + ": " + part
		}
		shown := slices.DeleteFunc(slices.Clone(p.parts), func(part string) bool { return part == "" })
		fmt.Fprint(p.run.Err, "\r\x1b[K", strings.Join(shown, "; "))
	}
}

// clear takes the line away, where there was one.
func (p *workLine) clear() {
	if p.run.Terminal {
		fmt.Fprint(p.run.Err, "\r\x1b[K")
	}
}

// followed follows work on a model to its end; on a terminal line gets how far it is.
func followed[N any](r *run, changes iter.Seq2[N, error], of func(N) (api.ModelProgress, bool), line func(string)) (last api.ModelProgress, err error) {
	var pace show.Pace
	err = client.ToEnd(changes, func(n N) (isLast bool) {
		last, isLast = of(n)
		if r.Terminal && (last.TotalBytes > 0 || last.Doing != "") && !isLast {
			line(pace.Of(last, r.Now()))
		}
		return isLast
	})
	return last, err
}

func (r *run) modelsRemoveCommand() *cobra.Command {
	var params api.ModelRemoveParams
	var yes bool
	c := &cobra.Command{
		Use: "remove MODEL", Short: "Remove a model from this Mac", Args: cobra.ExactArgs(1),
		Long: "Removes a revision of a model from the Hugging Face cache of your account, after it has said what that frees and has\n" +
			"asked. What other revisions share stays. A model that a running job names (fulmen run --model) is not removed.",
		Example: "  fulmen models remove mlx-community/Llama-3.2-1B-Instruct-4bit",
		RunE: r.asks(func(ctx context.Context, c *client.Client, args []string) error {
			params.Model = args[0]
			return r.removeModel(ctx, c, params, yes)
		}),
	}
	c.Flags().StringVar(&params.Revision, "revision", "", "a branch, a commit, or its beginning (default main)")
	c.Flags().BoolVar(&params.DryRun, "dry-run", false, "only say what it would free")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (r *run) removeModel(ctx context.Context, c *client.Client, params api.ModelRemoveParams, yes bool) error {
	trial := params
	trial.DryRun = true
	would, err := client.Call[api.ModelRemoveResult](ctx, c, "model.remove", trial)
	if err != nil {
		return err
	}
	if params.DryRun {
		return r.answer(would, func(w *show.Page) { r.view().ModelRemoved(w, would, true) })
	}
	if !yes {
		question := fmt.Sprintf("Remove %s of %s (%s) and free %s?", would.Model.Model, would.Account, would.Model.Path, text.Bytes(would.FreedBytes))
		if err := r.certain(ctx, question, "Removing a model takes --yes where nobody can be asked.", "fulmen models remove "+params.Model+" --yes"); err != nil {
			return err
		}
	}
	return answered(ctx, r, c, "model.remove", params, func(w *show.Page, done api.ModelRemoveResult) { r.view().ModelRemoved(w, done, false) })
}
