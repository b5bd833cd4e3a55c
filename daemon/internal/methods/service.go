package methods

import (
	"context"
	"log/slog"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/lifecycle"
	"fulmen/daemon/internal/server"
)

// Service are the methods that start and stop the daemon.
type Service struct {
	// IsActivated says that clients would wake the daemon again: a mark then says that it
	// is not to run.
	IsActivated bool
	Mark        lifecycle.Stopped
	EndJobs     func(context.Context)
	// Stop ends the daemon, and Restart ends it for another one.
	Stop, Restart func()
	Log           *slog.Logger
}

// Handlers are the methods.
func (d Service) Handlers() server.Handlers {
	return server.Handlers{
		"daemon.start":   server.Handle(func(context.Context, *server.Caller, api.Empty) (api.Empty, error) { return api.Empty{}, nil }),
		"daemon.stop":    server.Handle(d.stop),
		"daemon.restart": server.Handle(d.restart),
	}
}

func (d Service) stop(ctx context.Context, c *server.Caller, p api.DaemonStopParams) (api.Empty, error) {
	d.Log.Info("asked to stop", "uid", c.UID, "end_jobs", p.EndJobs)
	if p.EndJobs {
		d.EndJobs(ctx)
	}
	if d.IsActivated {
		if err := d.Mark.Set(); err != nil {
			return api.Empty{}, err
		}
	}
	c.Replied(d.Stop)
	return api.Empty{}, nil
}

func (d Service) restart(_ context.Context, c *server.Caller, _ api.Empty) (api.Empty, error) {
	d.Log.Info("asked to restart", "uid", c.UID)
	c.Replied(d.Restart)
	return api.Empty{}, nil
}

// Audit is what others did here, as one caller may read it.
func Audit(log *audit.Log) server.Handlers {
	return server.Handlers{
		"event.audit": server.Handle(func(_ context.Context, c *server.Caller, p api.EventAuditParams) (api.EventAuditResult, error) {
			by, isAdmin := c.Principal(), c.Class() == api.ClassAdmin
			return log.List(p, func(e audit.Entry) bool { return isAdmin || audit.Concerns(e, by) }), nil
		}),
	}
}
