package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

// How often an order to start is given whose answer was lost, as by the death of the
// node's daemon. A node takes it once, and answers before it prepares anything.
const (
	startTries = 3
	startAgain = 250 * time.Millisecond
)

// startRank orders a node to start a rank.
func (a *actor) startRank(e phase.StartRank) {
	key := nodeAttempt{e.Node, e.Attempt}
	at := a.state.Job.OpenAttempt()
	if at == nil || at.Plan == nil {
		return
	}
	ref := api.RankRef{Job: a.id, Attempt: e.Attempt, Rank: e.Rank}
	params := api.PeerStartParams{Rank: ref, Epoch: e.Epoch, Warrant: a.state.Job.Warrant(), Plan: toStart(*at.Plan),
		Environment: a.j.environment(a.id), LeaseS: seconds(e.Lease), Wait: e.Wait}
	done := make(chan struct{})
	a.starts[key] = append(a.starts[key], done)
	delete(a.missed, e.Rank)
	anew := a.anew(e)
	a.async(func() func() {
		defer close(done)
		err := a.order(e.Node, "peer.start", params, "to start rank "+ref.String())
		if err == nil {
			return func() {
				a.acked[ref] = true
				if a.state.Job.SpecSHA256 != params.Plan.SpecSHA256 { // it came before the new spec, and was taken after
					a.j.cfg.Bind(a.id, a.state.Job.SpecSHA256)
				}
			}
		}
		return anew(err, a.notStarted(err, e.Node, ref))
	})
}

// toStart is what of a plan a node needs to start a rank. What the plan rests on is more
// than half of it; it is for people, who find it in the job's document.
func toStart(plan api.Plan) api.Plan {
	plan.Links, plan.Used, plan.Notes = nil, nil, nil
	return plan
}

// order gives a node an order that it takes once, however often it comes.
func (a *actor) order(node api.NodeID, method string, params any, what string) (err error) {
	for try := range startTries {
		if try > 0 && !a.pause(startAgain) {
			return err
		}
		err = a.j.call(a.j.ctx, node, method, params, nil, callWithin, what)
		if err == nil || definite(err) {
			break
		}
	}
	return err
}

// notStarted is what an order to start that was not taken means for the attempt.
func (a *actor) notStarted(err error, node api.NodeID, ref api.RankRef) (then func()) {
	c := a.j.causeOf(err, node)
	if a.j.ctx.Err() != nil {
		return nil
	}
	if !definite(err) { // it may run: the whole group is ended
		return a.events(phase.NodeLost{Node: node, Cause: c})
	}
	if newer := a.j.newerHome(a.id, node, err); newer != nil {
		return a.events(newer)
	}
	return a.events(phase.RankEnded{Attempt: ref.Attempt, Rank: ref.Rank, Reason: c.Reason, Message: c.Message, Final: c.Final})
}

// endRanks orders a node to end its ranks of an attempt. It waits a moment for the
// order to start them that is under way, so as not to overtake it; whoever has
// taken the end first does not start them.
func (a *actor) endRanks(e phase.EndRanks) {
	key := nodeAttempt{e.Node, e.Attempt}
	starts := a.starts[key]
	delete(a.starts, key)
	params := api.PeerEndParams{Warrant: a.state.Job.Warrant(), Job: a.id, Attempt: e.Attempt, Epoch: e.Epoch,
		Reason: e.Reason, Message: e.Message, GraceS: seconds(e.Grace)}
	if at := a.state.Job.OpenAttempt(); at != nil && at.Plan != nil {
		for _, r := range at.Plan.Ranks {
			if r.Node == e.Node {
				params.Ranks = append(params.Ranks, r.Rank)
			}
		}
	}
	period, anew := max(a.state.Rules.Renewal, time.Second), a.anew(e)
	stop := a.state.Job.StopRequested
	isGentle := stop != nil && !stop.Kill && (e.Reason == api.ReasonStoppedByPerson || e.Reason == api.ReasonReplaced) && a.j.cfg.Quiet != nil
	// Nothing renews the leases any more.
	within := min(api.DrainRequests+drainMargin, a.state.Rules.Lease/2)
	a.async(func() func() {
		a.settled(starts)
		if isGentle {
			ctx, cancel := native.WithTimeout(a.j.ctx, a.j.cfg.Clock, within, "the requests of "+a.id.String())
			a.j.cfg.Quiet(ctx, api.RankRef{Job: a.id, Attempt: e.Attempt})
			cancel()
		}
		// The way by which it is called may go with the cable for which the group is ended.
		err := a.j.callUntilThere(a.j.ctx, e.Node, "peer.end", params, nil, period, "to end its ranks of "+a.id.String())
		if err == nil {
			return a.events(phase.EndAccepted{Attempt: e.Attempt, Node: e.Node})
		}
		a.j.cfg.Log.Info("an order to end was not taken; it is repeated", "job", a.id, "node", e.Node, "error", err)
		return anew(err, a.events(a.j.newerHome(a.id, e.Node, err)))
	})
}

// drainMargin is what requests get beyond [api.DrainRequests] to say that they end.
const drainMargin = 2 * time.Second

// settled waits for calls, a moment in all.
func (a *actor) settled(calls []chan struct{}) {
	ctx, cancel := native.WithTimeout(a.j.ctx, a.j.cfg.Clock, startSettle, "orders to start")
	defer cancel()
	for _, done := range calls {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// reportWithin is how long the document of a rank's end may be on its way: on a busy Mac,
// longer than two renewals that follow each other quickly.
const reportWithin = 3 * time.Second

// unlisted is a rank that its node does not list any more.
type unlisted struct {
	renewals int
	since    time.Duration // on Boot
}

// compare holds the ranks that a node still has against those that had taken the order to
// start before it was asked. One that it does not list twice in a row, over some seconds, has ended,
// whatever became of its document.
func (a *actor) compare(e phase.Renew, acked func(rank int) bool, listed []int) {
	at := a.state.Job.OpenAttempt()
	if at == nil || at.Attempt != e.Attempt || a.state.Role != phase.RoleHome {
		return
	}
	for i, r := range a.state.Ranks {
		if r.Node != e.Node {
			continue
		}
		if !r.MayLive() || !acked(i) || slices.Contains(listed, i) {
			delete(a.missed, i)
			continue
		}
		now := a.j.cfg.Clock.Boot()
		m := a.missed[i]
		if m.renewals == 0 {
			m.since = now
		}
		m.renewals++
		if a.missed[i] = m; m.renewals > 1 && now-m.since >= reportWithin {
			a.event(phase.RankEnded{Attempt: e.Attempt, Rank: i, Reason: api.ReasonRankLost,
				Message: a.j.name(e.Node) + " no longer has the rank and did not say how it ended."})
		}
	}
}

// rankReported takes what a node says of a rank, if it is the node of that rank, and
// says it of what this home started.
func (a *actor) rankReported(d rankDoc) {
	if !a.begun || a.state.Role != phase.RoleHome {
		return
	}
	s, r := a.state, d.rank
	if r.Attempt != s.Job.Attempt || r.Rank < 0 || r.Rank >= len(s.Ranks) || s.Ranks[r.Rank].Node != d.record.Key().Node {
		return
	}
	if r.Epoch > s.Job.Epoch || r.Epoch < s.Job.Epoch && !s.Inherited(r.Attempt) {
		return // of an attempt of the same number that another home made
	}
	if r.Reason == api.ReasonNodeAsleep || r.Reason == api.ReasonRestarting || r.Reason == api.ReasonShuttingDown {
		a.inspect() // its node ended it before it goes, and has said so
	}
	if r.Reason == api.ReasonLeaseExpired || r.Phase.Ended() && r.Attempt == a.resumed {
		a.lapse()
	}
	reported := r.Handshake
	if reported == nil {
		reported = &api.Handshake{}
	}
	ended := phase.RankEnded{Attempt: r.Attempt, Rank: r.Rank, Exit: r.Exit, At: endedByItself(r), Reason: r.Reason, Message: a.sentence(d),
		Final: final(r.Reason), Handshake: reported.State, Severed: reported.Severed}
	switch r.Phase {
	case api.RankExited:
		a.event(ended)
	case api.RankLost:
		a.event(phase.RankEnded{Attempt: r.Attempt, Rank: r.Rank, Reason: cmp.Or(r.Reason, api.ReasonRankLost), Message: ended.Message, Handshake: reported.State})
	default:
		a.acked[api.RankRef{Job: a.id, Attempt: r.Attempt, Rank: r.Rank}] = true
		if len(r.Versions) > 0 && a.unlike(r.Attempt) {
			return
		}
		if r.Phase == api.RankEnding && r.Exit != nil && r.Exit.Status() != 0 {
			a.event(phase.RankFailing(ended))
			return
		}
		e := phase.RankAt{Attempt: r.Attempt, Rank: r.Rank, Phase: r.Phase, Handshake: reported.State, Missing: reported.Missing, Prepared: !r.PreparedAt.IsZero(),
			Ready: !r.ReadyAt.IsZero()}
		if r.Reason == api.ReasonRankStopped || r.Reason == api.ReasonShimSilent {
			e.Trouble = phase.Cause{Reason: r.Reason, Message: ended.Message}
		} else if r.NotReady != "" {
			e.Trouble = phase.Cause{Reason: api.ReasonNotReady, Message: r.NotReady}
		}
		a.event(e)
	}
}

// lapse notes that leases ran out, or may have, that this home was to renew: then what a
// person elsewhere did binds it.
func (a *actor) lapse() {
	a.j.mu.Lock()
	defer a.j.mu.Unlock()
	if k := a.j.jobs[a.id]; k != nil && !k.lapsed {
		k.lapsed = true
		a.j.lookAgainLocked(a.id, k)
	}
}

// unlike compares what the nodes of an attempt found after they were prepared, which
// the preflight could not, and ends an attempt whose programs would differ. Those that
// have said nothing yet are compared when they do.
func (a *actor) unlike(attempt int) bool {
	var answers []api.Preflight
	a.j.mu.Lock()
	if k := a.j.jobs[a.id]; k != nil {
		for key, d := range k.ranks {
			if d.rank.Attempt == attempt && len(d.rank.Versions) > 0 && !d.rank.Phase.Ended() {
				answers = append(answers, api.Preflight{Node: key.Node, Versions: d.rank.Versions, MLX: d.rank.MLX})
			}
		}
	}
	a.j.mu.Unlock()
	slices.SortFunc(answers, func(x, y api.Preflight) int { return cmp.Compare(x.Node, y.Node) })
	faults := a.j.cfg.Compare(answers, a.spec.AllowMixed)
	if at := a.state.Job.OpenAttempt(); len(faults) == 0 && at != nil && at.Plan != nil {
		faults, _ = a.j.unfit(a.spec, *at.Plan, mlxOf(answers))
	}
	if len(faults) == 0 {
		return false
	}
	a.event(phase.Unlike{Attempt: attempt, Cause: together(faults)})
	return true
}

// sentence is what a node says of a rank, with the node.
func (a *actor) sentence(d rankDoc) string {
	r, name := d.rank, a.j.name(d.record.Key().Node)
	if r.Message == "" && r.Reason == "" && r.Exit != nil && r.Exit.Code != nil {
		return fmt.Sprintf("Rank %d on %s ended with exit code %d.", r.Rank, name, *r.Exit.Code)
	}
	for _, word := range []string{"Rank", "rank"} {
		alone := fmt.Sprintf("%s %d ", word, r.Rank)
		if before, rest, found := strings.Cut(r.Message, alone); found {
			if strings.HasPrefix(rest, "on ") {
				break
			}
			return before + alone + "on " + name + " " + rest
		}
	}
	return r.Message
}

// endedByItself is when a rank's program ended, where nobody ended it but for what its own
// node knows for the cause.
func endedByItself(r api.Rank) api.Time {
	switch r.Reason {
	case "", api.ReasonDaemonRestarted, api.ReasonRankFailed, api.ReasonRankKilled, api.ReasonRankCrashed, api.ReasonRankOutOfMemory:
		return r.EndedAt
	}
	return api.Time{}
}

// spawnRank has a node run a rank that it has prepared. A node that was started
// again meanwhile has given the rank up, and says so.
func (a *actor) spawnRank(e phase.SpawnRank) {
	ref := api.RankRef{Job: a.id, Attempt: e.Attempt, Rank: e.Rank}
	params, anew := api.PeerSpawnParams{Warrant: a.state.Job.Warrant(), Rank: ref, Epoch: e.Epoch}, a.anew(e)
	a.async(func() func() {
		err := a.order(e.Node, "peer.spawn", params, "to run rank "+ref.String())
		if err == nil {
			return nil
		}
		return anew(err, a.notStarted(err, e.Node, ref))
	})
}

// call asks a node something, for so long at most; what is what that node is to do.
// It asks again where the time passed while this daemon did not run itself: every method
// may be called again with the same. And it does while there is no path to a node that is in
// sight, which is so for a moment after a cable was plugged in.
func (j *Jobs) call(ctx context.Context, node api.NodeID, method string, params, result any, d time.Duration, what string) error {
	for {
		away := j.away()
		bound, cancel := native.WithTimeout(ctx, j.cfg.Clock, d, j.name(node)+" "+what)
		err := j.callWhile(bound, node, method, params, result, func() bool { return slices.Contains(j.cfg.Presence.Reached(), node) })
		isLate := bound.Err() != nil
		cancel()
		if err == nil || !isLate || ctx.Err() != nil || j.away() == away {
			return err
		}
	}
}

// callUntilThere is call, and calls again while there is no path to the node, which
// is so for a moment when one of the two daemons was started again.
func (j *Jobs) callUntilThere(ctx context.Context, node api.NodeID, method string, params, result any, d time.Duration, what string) error {
	ctx, cancel := native.WithTimeout(ctx, j.cfg.Clock, d, j.name(node)+" "+what)
	defer cancel()
	return j.callWhile(ctx, node, method, params, result, func() bool { return true })
}

// callWhile calls again while there is no path to the node, for as long as may be.
func (j *Jobs) callWhile(ctx context.Context, node api.NodeID, method string, params, result any, may func() bool) error {
	again := func(err error) bool { return peer.IsUnreached(err) && may() }
	return peer.Again(ctx, j.cfg.Clock, callAgain, again, func() error { return j.cfg.Peers.Call(ctx, node, method, params, result) })
}
