package command

import (
	"context"
	"iter"

	"fulmen/daemon/api"
)

// showNews shows what a stream brings until a person ends it, which is no error. A
// daemon that had to leave something out ends it with api.ReasonLagged.
func showNews[N any](ctx context.Context, news iter.Seq2[N, error], lagged func(N) bool, show func(N) error) error {
	for more, err := range news {
		switch {
		case ctx.Err() != nil:
			return nil // the end that was asked for
		case err != nil:
			return err
		case lagged(more):
			return api.NewError(api.ReasonLagged, "")
		}
		if err := show(more); err != nil {
			return err
		}
	}
	return nil
}
