package daemon

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/policy"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// useEvery is between two looks at whether somebody uses this Mac, while it lends only when
// nobody does: no system announces the first key or the last.
const useEvery = 10 * time.Second

// useWatch looks whether somebody uses this Mac.
type useWatch struct {
	clock native.Clock
	// rules are those by which this Mac lends now, and changed waits until they may have
	// changed, or its context ends.
	rules   func() api.Sharing
	changed func(context.Context)
	read    func(context.Context) (seconds *float64, why api.Reason)
	say     func(policy.Use) error
}

// run looks until ctx ends; never while the rules do not ask for it.
func (u useWatch) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, cancel := ctx, context.CancelFunc(func() {})
		if rules := u.rules(); rules.OnlyWhenIdle {
			use := policy.Use{}
			if use.IdleS, use.Unknown = u.read(ctx); use.IdleS != nil {
				use.Idle = new(policy.IsIdle(rules, use.IdleS))
			}
			_ = u.say(use) // it is said again at the next look
			wait, cancel = native.WithTimeout(ctx, u.clock, useEvery, "the next look at whether somebody uses this Mac")
		}
		u.changed(wait)
		cancel()
	}
}

// watchUse looks whether somebody uses this machine, where it tells.
func (d *daemon) watchUse(ctx context.Context) {
	if _, tells := d.platform.Facts.(native.UseTeller); !tells {
		return
	}
	_, watch := d.ledger.Watch(ledger.WatchOptions{
		Name: "use", Passive: true, Filter: ledger.Filter{Kinds: []api.Kind{api.KindSharing}, Nodes: []api.NodeID{d.identity.Node}},
	})
	defer watch.Close()
	useWatch{
		clock: d.platform.Clock, rules: d.policy.Sharing, read: d.unused, say: d.self.SetUse,
		changed: func(ctx context.Context) { _, _ = watch.Next(ctx) },
	}.run(ctx)
}

// unused is for how long nobody has used this machine, in seconds, or why that is not known.
func (d *daemon) unused(ctx context.Context) (seconds *float64, why api.Reason) {
	teller, tells := d.platform.Facts.(native.UseTeller)
	if !tells {
		return nil, api.ReasonNotSupportedByPlatform
	}
	unused, reason := teller.Unused(ctx)
	if reason != "" {
		return nil, api.Reason(reason.Key())
	}
	return new(unused.Seconds()), ""
}
