package attach

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Resize gives the job's terminal a size. Where it has none yet, it gets the size
// when it comes, and so does that of a later attempt. Errors are *api.Error.
func (a *Attach) Resize(ctx context.Context, by api.Principal, p api.JobResizeParams) error {
	f, v, err := a.feed(by, p.Job)
	if err != nil {
		return err
	}
	if !v.spec.Program.Terminal {
		return api.Errorf(api.ReasonBadValue, "job", "%s has no terminal.", p.Job)
	}
	f.mu.Lock()
	f.by, f.size = by, &p
	at := f.rank0
	f.mu.Unlock()
	if at == nil {
		return nil
	}
	return f.resize(ctx, *at)
}

// hasTerminal notes that rank 0 has its terminal, which gets the size that was
// asked for before.
func (f *feed) hasTerminal(at rankAt) {
	f.mu.Lock()
	isNew := f.rank0 == nil
	f.rank0 = &at
	f.mu.Unlock()
	if isNew {
		go func() {
			if err := f.resize(f.ctx, at); err != nil {
				f.attach.config.Log.Info("the terminal of a rank did not get its size", "rank", at.ref, "error", err)
			}
		}()
	}
}

func (f *feed) resize(ctx context.Context, at rankAt) error {
	f.mu.Lock()
	by, size := f.by, f.size
	f.mu.Unlock()
	if size == nil {
		return nil
	}
	ctx, cancel := native.WithTimeout(ctx, f.attach.config.Clock, openWithin, "the terminal of "+at.ref.String())
	defer cancel()
	return f.attach.config.Peers.Call(ctx, at.node, "peer.resize", api.PeerResizeParams{
		Rank: at.ref, By: by, Rows: size.Rows, Columns: size.Columns,
	}, nil)
}
