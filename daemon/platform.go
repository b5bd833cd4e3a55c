package daemon

import (
	"context"
	"errors"
	"log/slog"

	"fulmen/daemon/api"
	"fulmen/native/darwin"
)

// right is what an authorisation has to give.
type right interface {
	Define(ctx context.Context) error
	Check(ctx context.Context, form []byte) error
}

// authorizer makes an administrator of who shows an authorisation that gives a right.
type authorizer struct {
	right right
	log   *slog.Logger
}

// authorizes is none where nobody is asked: in user mode, on a system without
// authorisations, and in a simulation, which leaves this Mac as it is.
func authorizes(options Options, mode api.DaemonMode, log *slog.Logger) (authorizer, bool) {
	if mode != api.ModeSystem || options.Simulation != nil || options.Platform.Name != "" {
		return authorizer{}, false
	}
	a := authorizer{systemRight(), log}
	return a, a.right != nil
}

// define says to the system what the right takes. Where that fails, it is tried
// again when somebody shows an authorisation.
func (a authorizer) define(ctx context.Context) {
	if err := a.right.Define(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("nobody can authorise in the menu bar", "error", err)
	}
}

// Authorize refuses what does not give the right. The form is in no message: who
// has it is an administrator for as long as it counts.
func (a authorizer) Authorize(ctx context.Context, uid uint32, form []byte) error {
	err := a.right.Check(ctx, form)
	switch {
	case err == nil:
		a.log.Info("authorised as an administrator", "uid", uid)
		return nil
	case errors.Is(err, darwin.ErrNoForm):
		return api.Errorf(api.ReasonBadValue, "authorization", "%v.", darwin.ErrNoForm)
	case errors.Is(err, darwin.ErrNotAuthorized):
		a.log.Warn("an authorisation was refused", "uid", uid)
		return api.NewError(api.ReasonAdminRequired, "")
	}
	return err
}
