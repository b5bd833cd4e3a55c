package methods

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model"
	"fulmen/daemon/internal/server"
)

// Models are the methods about the models of this Mac. Each caller has those of the account
// as which their jobs run.
func Models(self api.NodeID, models *model.Models, find func(api.NodeRef) (api.NodeID, error), reached func() []api.NodeID) server.Handlers {
	return server.Handlers{
		"model.shared": server.Handle(func(ctx context.Context, c *server.Caller, p api.ModelNode) (api.ModelListResult, error) {
			node, err := find(p.Node)
			if err != nil {
				return api.ModelListResult{}, err
			}
			return models.Shared(ctx, c.Principal(), node)
		}),
		"model.remove": server.Handle(func(ctx context.Context, c *server.Caller, p api.ModelRemoveParams) (api.ModelRemoveResult, error) {
			return models.Remove(ctx, c.Principal(), p)
		}),
		"model.cluster": server.Handle(func(ctx context.Context, c *server.Caller, _ api.Empty) (api.ModelClusterResult, error) {
			return models.Cluster(ctx, c.Principal(), reached()), nil
		}),
		"model.copy": server.Handle(func(ctx context.Context, c *server.Caller, p api.ModelCopyParams) (api.ModelCopyStarted, error) {
			var node api.NodeID // none: Hugging Face
			var err error
			if p.Node != "" {
				if node, err = find(p.Node); err != nil {
					return api.ModelCopyStarted{}, err
				}
			}
			started := api.ModelCopyStarted{Node: node, To: self}
			if p.To != "" {
				if started.To, err = find(p.To); err != nil {
					return api.ModelCopyStarted{}, err
				}
			}
			var work progressing
			if started.To == self {
				var copying *model.Copying
				if copying, err = models.Copy(ctx, c.Principal(), node, p.ModelSelect, p.AnyNetwork); err == nil {
					work, started.Account = copying, copying.Account
				}
			} else {
				work, err = models.CopyTo(ctx, c.Principal(), started.To, node, p.ModelSelect, p.AnyNetwork)
			}
			if err != nil {
				return api.ModelCopyStarted{}, err
			}
			started.Sub, err = deliver(c, work, func(sub api.Subscription, n uint64, p api.ModelProgress, isLast bool) any {
				return api.ModelCopied{Sub: sub, N: n, Progress: p, Terminal: isLast}
			})
			return started, err
		}),
		"model.watch": server.Handle(func(_ context.Context, c *server.Caller, _ api.Empty) (api.ModelWatchResult, error) {
			w, err := models.Watch(c.Principal())
			if err != nil {
				return api.ModelWatchResult{}, err
			}
			sub, err := server.Deliver(c, "copies", w.Next, w.Close, func(sub api.Subscription, n uint64, all []api.ModelCopying) any {
				return api.ModelWatched{Sub: sub, N: n, Copies: all}
			}, func([]api.ModelCopying) bool { return false })
			return api.ModelWatchResult{Sub: sub}, err
		}),
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
			sub, err := deliver(c, v, func(sub api.Subscription, n uint64, p api.ModelProgress, isLast bool) any {
				return api.ModelVerified{Sub: sub, N: n, Progress: p, Terminal: isLast}
			})
			return api.ModelVerifyStarted{Sub: sub, Model: v.Model}, err
		}),
	}
}

// progressing is work on a model's files.
type progressing interface {
	Next(context.Context) (p api.ModelProgress, isLast bool, err error)
	Close()
}

// deliver sends a client how far work is, up to its one end.
func deliver(c *server.Caller, work progressing, notify func(sub api.Subscription, n uint64, p api.ModelProgress, isLast bool) any) (api.Subscription, error) {
	type step struct {
		now    api.ModelProgress
		isLast bool
	}
	return server.Deliver(c, "progress", func(ctx context.Context) (s step, err error) {
		s.now, s.isLast, err = work.Next(ctx)
		if err != nil && ctx.Err() == nil { // the process broke: that is an end too
			return step{now: api.ModelProgress{Error: api.AsError(err)}, isLast: true}, nil
		}
		return s, err
	}, work.Close, func(sub api.Subscription, n uint64, s step) any {
		return notify(sub, n, s.now, s.isLast)
	}, func(s step) bool { return s.isLast })
}
