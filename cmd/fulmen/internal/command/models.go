package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) modelsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "models", Short: "The models on this Mac", Args: cobra.NoArgs,
		Long: "The models that your account has on this Mac: in the cache of Hugging Face, in the folders that the configuration\n" +
			"names (models.folders), and in those of LM Studio and Ollama. NEEDS is the size of the weights, the least memory that\n" +
			"the model takes over all its Macs. No other Mac is told of them.",
		Example: "  fulmen models\n  fulmen models show mlx-community/Llama-3.2-1B-Instruct-4bit\n  fulmen models verify mlx-community/Llama-3.2-1B-Instruct-4bit",
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			return answered(ctx, r, c, "model.list", nil, r.view().Models)
		}),
	}
	c.AddCommand(r.modelsShowCommand(), r.modelsVerifyCommand())
	return c
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
	var last api.ModelProgress
	err = client.ToEnd(changes, func(v api.ModelVerified) bool {
		last = v.Progress
		if r.Terminal && last.TotalBytes > 0 {
			fmt.Fprintf(r.Err, "\r\x1b[K%s of %s (%s)", text.Bytes(last.DoneBytes), text.Bytes(last.TotalBytes), text.Percent(float64(last.DoneBytes)/float64(last.TotalBytes)))
		}
		return v.Terminal
	})
	if r.Terminal {
		fmt.Fprint(r.Err, "\r\x1b[K")
	}
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
