package policy

import (
	"context"
	"time"

	"fulmen/daemon/api"
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
	report  func(Use) error
}

// run looks until ctx ends; never while the rules do not ask for it.
func (u useWatch) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, cancel := ctx, context.CancelFunc(func() {})
		if rules := u.rules(); rules.OnlyWhenIdle {
			use := Use{}
			if use.IdleS, use.Unknown = u.read(ctx); use.IdleS != nil {
				use.Idle = new(IsIdle(rules, use.IdleS))
			}
			_ = u.report(use) // it is said again at the next look
			wait, cancel = native.WithTimeout(ctx, u.clock, useEvery, "the next look at whether somebody uses this Mac")
		}
		u.changed(wait)
		cancel()
	}
}

// WatchUse looks whether somebody uses this machine, where it tells, and says so by self.
func (n Now) WatchUse(ctx context.Context, clock native.Clock, self *Self) {
	if _, reports := n.Facts.(native.UserActivity); !reports {
		return
	}
	_, watch := n.Ledger.Watch(ledger.WatchOptions{
		Name: "use", Passive: true, Filter: ledger.Filter{Kinds: []api.Kind{api.KindSharing}, Nodes: []api.NodeID{n.Ledger.Node()}},
	})
	defer watch.Close()
	useWatch{
		clock: clock, rules: n.Policy.Sharing, read: n.unused, report: self.SetUse,
		changed: func(ctx context.Context) { _, _ = watch.Next(ctx) },
	}.run(ctx)
}

// Unused is for how long nobody has used this machine, in seconds, or why that is not known.
func Unused(ctx context.Context, facts native.Facts) (seconds *float64, why api.Reason) {
	reporter, reports := facts.(native.UserActivity)
	if !reports {
		return nil, api.ReasonNotSupportedByPlatform
	}
	unused, reason := reporter.Unused(ctx)
	if reason != "" {
		return nil, api.Reason(reason.Key())
	}
	return new(unused.Seconds()), ""
}

// Now is what this node lends in the circumstances of now.
type Now struct {
	Policy *Policy
	Ledger *ledger.Ledger
	Facts  native.Facts
}

func (n Now) unused(ctx context.Context) (seconds *float64, why api.Reason) {
	return Unused(ctx, n.Facts)
}

// Allows decides whether a principal's job may run here now, and as which account.
func (n Now) Allows(p api.Principal) (account string, reason api.Reason) {
	var now Circumstances
	if system, known := ledger.Read[api.System](n.Ledger, api.Key{Node: n.Ledger.Node(), Kind: api.KindSystem}); known {
		now.PowerSource = system.PowerSource
	}
	if n.Policy.Sharing().OnlyWhenIdle {
		now.UserIdleS, _ = n.unused(context.Background())
	}
	return n.Policy.Allows(p, now)
}

// May reports whether by, of this node, may stop, see and feed a job of a principal:
// who has the account as which the job would run here. When jobs may run here has no
// part in whose they are.
func (n Now) May(by, job api.Principal) bool {
	if by == job {
		return true
	}
	idle := 1e9
	account, reason := n.Policy.Allows(job, Circumstances{UserIdleS: &idle})
	return by.Node == n.Ledger.Node() && reason == "" && account == by.User
}

// Shares reports whether this Mac's map leads two people to one account.
func (n Now) Shares(by, job api.Principal) bool {
	idle := 1e9
	own, why := n.Policy.Allows(by, Circumstances{UserIdleS: &idle})
	account, reason := n.Policy.Allows(job, Circumstances{UserIdleS: &idle})
	return why == "" && reason == "" && account == own
}

// Maps reports whether the node of by says that a principal's jobs run there as the
// account of by. Of this node that is its map, elsewhere what that node publishes,
// which names no account: any of its people is believed.
func (n Now) Maps(by, principal api.Principal) bool {
	if by.Node == n.Ledger.Node() {
		return n.May(by, principal)
	}
	sharing, known := ledger.Read[api.Sharing](n.Ledger, api.Key{Node: by.Node, Kind: api.KindSharing})
	return known && sharing.IsMapped(principal)
}
