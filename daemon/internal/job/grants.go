package job

import (
	"cmp"
	"context"
	"maps"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// calls orders the calls about one grant: giving back what was asked for, then
// asking for it again, must arrive in that order.
type calls struct {
	done   chan struct{}
	cancel context.CancelFunc
	waits  bool // for as long as others are in line
}

// enqueue makes a call after the one before about the same grant. Giving back ends
// a request that may stand in line; one that is answered at once is waited for, so
// that it cannot arrive after it was given back.
func (a *actor) enqueue(ref api.RankRef, waits bool, f func(ctx context.Context) func()) {
	before := a.queues[ref]
	ctx, cancel := context.WithCancel(a.j.ctx)
	l := &calls{done: make(chan struct{}), cancel: cancel, waits: waits}
	if before != nil && before.waits {
		before.cancel()
	}
	a.queues[ref] = l
	a.async(func() func() {
		defer close(l.done)
		defer cancel()
		if before != nil {
			<-before.done // it has a deadline of its own
		}
		then := f(ctx)
		return func() {
			if a.queues[ref] == l {
				delete(a.queues, ref)
			}
			if then != nil {
				then()
			}
		}
	})
}

// askGrant asks a node for what the plan gives it.
func (a *actor) askGrant(e phase.AskGrant) {
	ref := api.RankRef{Job: a.id, Attempt: e.Attempt, Rank: e.Rank.Rank}
	node := e.Rank.Node
	params := api.PeerGrantParams{
		PeerHolderParams: a.holder(ref, e.Epoch), Principal: a.spec.Principal,
		GPU: e.Rank.GPU, MemoryBytes: e.Rank.MemoryBytes, PortNumbers: e.Rank.PortNumbers, WaitS: seconds(e.Wait),
	}
	anew := a.anew(e)
	a.enqueue(ref, e.Wait > 0, func(ctx context.Context) func() {
		var g api.Grant
		err := a.j.call(ctx, node, "peer.grant", params, &g, e.Wait+callWithin, "to grant what rank "+ref.String()+" needs")
		refused := phase.GrantRefused{Attempt: e.Attempt, Rank: e.Rank.Rank}
		switch {
		case err != nil && ctx.Err() != nil:
			return nil // it was given back meanwhile
		case err != nil:
			if newer := a.j.newerHome(a.id, node, err); newer != nil {
				return a.events(newer)
			}
			refused.Cause = a.j.causeOf(err, node)
			if !definite(err) { // it may be lent all the same
				a.giveBack(ctx, node, ref, params.PeerHolderParams)
			}
			return anew(err, a.events(refused))
		case g.State == api.GrantHeld:
			granted := phase.Granted{Attempt: e.Attempt, Rank: e.Rank.Rank, Node: node}
			if g.Reason != api.ReasonGPUUsedByOtherProgram {
				return a.events(granted)
			}
			return a.events(phase.Noted{Attempt: e.Attempt, Note: api.Cause{Reason: g.Reason, Subject: string(node),
				Message: "other programs used the GPU of " + a.j.name(node) + " when the job started, which may be slow"}}, granted)
		case g.Reason == api.ReasonStaleEpoch:
			if newer := a.j.newerHome(a.id, node, api.NewError(g.Reason, "")); newer != nil {
				return a.events(newer)
			}
		}
		refused.Busy = g.State == api.GrantWaiting
		refused.Cause = phase.Cause{Reason: cmp.Or(g.Reason, api.ReasonGrantRefused), WaitingFor: cmp.Or(g.WaitingFor, "node "+a.j.name(node))}
		return a.events(refused)
	})
}

// release gives a grant back, or leaves the line.
func (a *actor) release(e phase.Release) {
	ref := api.RankRef{Job: a.id, Attempt: e.Attempt, Rank: e.Rank}
	before, holder := a.queues[ref], a.holder(ref, e.Epoch)
	a.enqueue(ref, false, func(ctx context.Context) func() {
		newer := a.giveBack(ctx, e.Node, ref, holder)
		if before != nil && before.waits && a.pause(releaseAgain) { // the node may have begun with that request only now
			a.giveBack(ctx, e.Node, ref, holder)
		}
		return a.events(newer)
	})
}

// giveBack tells the node. Where that fails the grant ends with its lease, which
// nobody renews.
func (a *actor) giveBack(ctx context.Context, node api.NodeID, ref api.RankRef, holder api.PeerHolderParams) phase.Event {
	err := a.j.call(ctx, node, "peer.release", holder, nil, callWithin, "to take back a grant")
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
	params.Stacks = a.progress.stacks
	before := maps.Clone(a.acked)
	// No order to start is on its way any more that the daemon before gave.
	acked := func(rank int) bool {
		return before[api.RankRef{Job: a.id, Attempt: e.Attempt, Rank: rank}] || e.Attempt == a.resumed
	}
	anew, slept := a.anew(e), a.slept
	a.async(func() func() {
		var result api.PeerRenewResult
		err := a.j.callUntilThere(a.j.ctx, e.Node, "peer.renew", params, &result, period, "to renew the leases of "+a.id.String())
		if err != nil {
			return anew(err, a.events(a.j.newerHome(a.id, e.Node, err)))
		}
		return func() {
			if a.slept == slept { // else it is as old as the sleep
				a.compare(e, acked, result.Ranks)
			}
			if key := (nodeAttempt{e.Node, e.Attempt}); result.PrintedBytes > a.printed[key] {
				a.printed[key] = result.PrintedBytes
				a.event(phase.Printed{})
			}
			a.event(phase.Renewed{Attempt: e.Attempt, Node: e.Node})
			a.judge(e, result.Progress)
		}
	})
}
