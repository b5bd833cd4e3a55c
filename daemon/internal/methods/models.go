package methods

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model"
	"fulmen/daemon/internal/server"
)

// Models are the methods about the models of this Mac. Each caller has those of the account
// as which their jobs run.
func Models(models *model.Models) server.Handlers {
	return server.Handlers{
		"model.list": server.Handle(func(ctx context.Context, c *server.Caller, _ api.Empty) (api.ModelListResult, error) {
			return models.List(ctx, c.Principal())
		}),
		"model.show": server.Handle(func(ctx context.Context, c *server.Caller, p api.ModelSelect) (api.ModelShowResult, error) {
			return models.Show(ctx, c.Principal(), p)
		}),
		"model.verify": server.Handle(func(ctx context.Context, c *server.Caller, p api.ModelSelect) (api.ModelVerifyStarted, error) {
			v, err := models.Verify(ctx, c.Principal(), p)
			if err != nil {
				return api.ModelVerifyStarted{}, err
			}
			type step struct {
				now    api.ModelProgress
				isLast bool
			}
			sub, err := server.Deliver(c, "progress", func(ctx context.Context) (s step, err error) {
				s.now, s.isLast, err = v.Next(ctx)
				if err != nil && ctx.Err() == nil { // the process broke: that is an end too
					return step{now: api.ModelProgress{Error: api.AsError(err)}, isLast: true}, nil
				}
				return s, err
			}, v.Close, func(sub api.Subscription, n uint64, s step) any {
				return api.ModelVerified{Sub: sub, N: n, Progress: s.now, Terminal: s.isLast}
			}, func(s step) bool { return s.isLast })
			return api.ModelVerifyStarted{Sub: sub, Model: v.Model}, err
		}),
	}
}
