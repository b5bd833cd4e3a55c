package attach

import (
	"context"
	"log/slog"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

// Config is what an Attach needs.
type Config struct {
	// Clock times everything that waits.
	Clock native.Clock
	// Peers are where the ranks run.
	Peers peer.Caller
	// Ledger holds the documents of jobs and ranks.
	Ledger *ledger.Ledger
	// Counts reports whether a job's document is proven to be by its home; nil = all are.
	Counts func(api.JobID, api.Job) bool
	// May reports whether one principal may see and feed the jobs of another. The
	// ranks' nodes ask again.
	May func(by, of api.Principal) bool
	// Name is what people call a node.
	Name func(api.NodeID) string
	// Lost, where set, is called with a job of which an attempt cannot be given its input.
	Lost func(api.JobID, *api.Error)
	// Log takes what may explain something odd.
	Log *slog.Logger
}

// Attach joins clients to jobs.
type Attach struct {
	config Config
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	feeds map[api.JobID]*feed
}

// New makes an Attach that follows no job yet.
func New(c Config) *Attach {
	ctx, cancel := context.WithCancel(context.Background())
	return &Attach{config: c, ctx: ctx, cancel: cancel, feeds: map[api.JobID]*feed{}}
}

// Close ends what gives ranks their input. Outputs end with their own contexts.
func (a *Attach) Close() { a.cancel() }

// allowed refuses a job that is not there or not for the principal.
func (a *Attach) allowed(by api.Principal, id api.JobID, v view) error {
	switch {
	case v.deleted:
		return api.NewError(api.ReasonJobDeleted, id.String())
	case !v.found:
		return api.NewError(api.ReasonNoSuchJob, id.String())
	case by != v.job.Principal && !a.config.May(by, v.job.Principal):
		return api.NewError(api.ReasonNotYourJob, id.String())
	}
	return nil
}
