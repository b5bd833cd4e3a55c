package profile

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// Prove tests a cable of this node over RDMA and says whether it works. The
// error is an *api.Error.
func (p *Profiler) Prove(ctx context.Context, link api.LinkID) error {
	watch, err := p.MeasureCable(ctx, Caller{}, link)
	if err != nil {
		return err
	}
	for {
		m, terminal, err := watch.Next(ctx)
		switch {
		case err != nil:
			_, _ = p.Cancel(context.WithoutCancel(ctx), Caller{Admin: true}, api.MeasureSelect{Measurement: watch.Measurement.ID}) // nobody waits for it any more
			return api.AsError(context.Cause(ctx))
		case !terminal:
		case m.Items[0].Error != nil:
			return m.Items[0].Error
		case m.Items[0].State != api.MeasureDone:
			return api.NewError(api.ReasonCancelled, link.String())
		default:
			return nil
		}
	}
}

// ProbesOf counts the tests of an end since its Mac started, as its node says.
func ProbesOf(l *ledger.Ledger, end api.LinkEnd) int {
	r, known := ledger.Read[api.RDMA](l, api.Key{Node: end.Node, Kind: api.KindRDMA, Name: end.Receptacle.String()})
	if !known {
		return 0
	}
	return r.ProbesSinceBoot
}
