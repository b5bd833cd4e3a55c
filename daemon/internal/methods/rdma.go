package methods

import (
	"context"
	"log/slog"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/server"
)

// RDMA are the methods about RDMA.
func RDMA(c rdma.Commands, log *slog.Logger) server.Handlers {
	change := func(f func(context.Context, api.Principal, api.RDMAChangeParams) (api.RDMAChangeResult, error)) server.Handler {
		return server.Handle(func(ctx context.Context, by *server.Caller, p api.RDMAChangeParams) (api.RDMAChangeResult, error) {
			return f(ctx, by.Principal(), p)
		})
	}
	return server.Handlers{
		"rdma.list": server.Handle(func(context.Context, *server.Caller, api.Empty) (api.RDMAListResult, error) { return c.List() }),
		"rdma.check": server.Handle(func(_ context.Context, _ *server.Caller, p api.LinkSelect) (api.RDMAReadiness, error) {
			return c.Check(p)
		}),
		"rdma.clear": server.Handle(func(_ context.Context, by *server.Caller, p api.LinkSelect) (api.RDMAReadiness, error) {
			log.Info("a person says that an RDMA device works", "uid", by.UID, "link", p.Link)
			return c.Clear(p)
		}),
		"rdma.enable": change(c.Enable), "rdma.disable": change(c.Disable), "rdma.undo": change(c.Undo),
		"rdma.history": server.Handle(func(_ context.Context, _ *server.Caller, p api.RDMAHistoryParams) (api.RDMAHistoryResult, error) {
			return c.History(p)
		}),
	}
}
