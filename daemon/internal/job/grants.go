package job

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// lane orders the calls about one grant: giving back what was asked for, then
// asking for it again, must arrive in that order.
type lane struct {
	done   chan struct{}
	cancel context.CancelFunc
	waits  bool // for as long as others are in line
}

// inLane makes a call after the one before about the same grant. Giving back ends
// a request that may stand in line; one that is answered at once is waited for, so
// that it cannot arrive after it was given back.
func (a *actor) inLane(ref api.RankRef, waits bool, f func(ctx context.Context) came) {
	before := a.lanes[ref]
	ctx, cancel := context.WithCancel(a.j.ctx)
	l := &lane{done: make(chan struct{}), cancel: cancel, waits: waits}
	if before != nil && before.waits {
		before.cancel()
	}
	a.lanes[ref] = l
	a.async(func() came {
		defer close(l.done)
		defer cancel()
		if before != nil {
			<-before.done // it has a deadline of its own
		}
		c := f(ctx)
		after := c.after
		c.after = func() {
			if a.lanes[ref] == l {
				delete(a.lanes, ref)
			}
			if after != nil {
				after()
			}
		}
		return c
	})
}

// askGrant asks a rank's node for what the plan gives it.
func (a *actor) askGrant(e phase.AskGrant) {
	ref := api.RankRef{Job: a.id, Attempt: e.Attempt, Rank: e.Rank.Rank}
	node := e.Rank.Node
	params := api.PeerGrantParams{
		PeerHolderParams: a.holder(ref, e.Epoch), Principal: a.spec.Principal,
		GPU: e.Rank.GPU, MemoryBytes: e.Rank.MemoryBytes, Receptacles: e.Rank.Receptacles, WaitS: seconds(e.Wait),
	}
	anew := a.anew(e)
	a.inLane(ref, e.Wait > 0, func(ctx context.Context) came {
		var g api.Grant
		err := a.j.call(ctx, node, "peer.grant", params, &g, a.j.within(e.Wait+callWithin, node, "to grant what rank "+ref.String()+" needs"))
		refused := phase.GrantRefused{Attempt: e.Attempt, Rank: e.Rank.Rank}
		switch {
		case err != nil && ctx.Err() != nil:
			return came{} // it was given back meanwhile
		case err != nil:
			if newer := a.j.newerHome(a.id, node, err); newer != nil {
				return events(newer)
			}
			refused.Cause = a.j.causeOf(err, node)
			if !definite(err) { // it may be lent all the same
				a.giveBack(ctx, node, ref, params.PeerHolderParams)
			}
			return anew(err, events(refused))
		case g.State == api.GrantHeld:
			granted := phase.Granted{Attempt: e.Attempt, Rank: e.Rank.Rank, Node: node}
			if g.Reason != api.ReasonGPUUsedByOtherProgram {
				return events(granted)
			}
			return events(phase.Noted{Attempt: e.Attempt, Note: api.Cause{Reason: g.Reason, Subject: string(node),
				Message: "other programs used the GPU of " + a.j.name(node) + " when the job started, which may be slow"}}, granted)
		case g.Reason == api.ReasonStaleEpoch:
			if newer := a.j.newerHome(a.id, node, api.NewError(g.Reason, "")); newer != nil {
				return events(newer)
			}
		}
		refused.Busy = g.State == api.GrantWaiting
		refused.Cause = phase.Cause{Reason: g.Reason, WaitingFor: g.WaitingFor}
		if refused.Cause.Reason == "" {
			refused.Cause.Reason = api.ReasonGrantRefused
		}
		if refused.Cause.WaitingFor == "" {
			refused.Cause.WaitingFor = "node " + a.j.name(node)
		}
		return events(refused)
	})
}

// release gives a grant back, or leaves the line.
func (a *actor) release(e phase.Release) {
	ref := api.RankRef{Job: a.id, Attempt: e.Attempt, Rank: e.Rank}
	before, holder := a.lanes[ref], a.holder(ref, e.Epoch)
	a.inLane(ref, false, func(ctx context.Context) came {
		c := events(a.giveBack(ctx, e.Node, ref, holder))
		if before != nil && before.waits && a.pause(releaseAgain) { // the node may have begun with that request only now
			a.giveBack(ctx, e.Node, ref, holder)
		}
		return c
	})
}

// giveBack tells the node. Where that fails the grant ends with its lease, which
// nobody renews.
func (a *actor) giveBack(ctx context.Context, node api.NodeID, ref api.RankRef, holder api.PeerHolderParams) phase.Event {
	err := a.j.call(ctx, node, "peer.release", holder, nil, a.j.within(callWithin, node, "to take back a grant"))
	if err != nil {
		a.j.cfg.Log.Info("a grant could not be given back", "rank", ref, "node", node, "error", err)
		return a.j.newerHome(a.id, node, err)
	}
	return nil
}

// holder names a rank's grant, with the proof that this node may ask for it.
func (a *actor) holder(ref api.RankRef, epoch uint64) api.PeerHolderParams {
	warrant := a.state.Job.Warrant()
	return api.PeerHolderParams{Holder: ref.String(), Epoch: epoch, Warrant: &warrant}
}

// renew renews the leases on a node.
func (a *actor) renew(e phase.Renew) {
	params := api.PeerRenewParams{Warrant: a.state.Job.Warrant(), Job: a.id, Attempt: e.Attempt, Epoch: e.Epoch, LeaseS: seconds(e.Lease)}
	period := max(a.state.Rules.Renewal, time.Millisecond)
	// No order to start is on its way any more that the daemon before gave.
	acked := a.acked[nodeAttempt{e.Node, e.Attempt}] || e.Attempt == a.resumed
	anew, slept := a.anew(e), a.slept
	a.async(func() came {
		var result api.PeerRenewResult
		err := a.j.callUntilThere(a.j.ctx, e.Node, "peer.renew", params, &result, a.j.within(period, e.Node, "to renew the leases of "+a.id.String()))
		if err != nil {
			return anew(err, events(a.j.newerHome(a.id, e.Node, err)))
		}
		c := events(phase.Renewed{Attempt: e.Attempt, Node: e.Node})
		c.after = func() {
			if acked && a.slept == slept { // else it is as old as the sleep
				a.compare(e, result.Ranks)
			}
			if key := (nodeAttempt{e.Node, e.Attempt}); result.PrintedBytes > a.printed[key] {
				a.printed[key] = result.PrintedBytes
				a.event(phase.Printed{})
			}
		}
		return c
	})
}
