package rdma

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rdma/change"
)

// planRounds bounds how often the ends propose networks to each other: each round
// passes over one at least that one of them cannot use.
const planRounds = 64

// reachWithin is how long an end that is not reached is asked again.
const reachWithin = 15 * time.Second

// answerWithin is what a call may take longer than what it asks for.
const answerWithin = 5 * time.Second

// Enable puts RDMA in order on a cable, at both ends or not at all, and gives what
// both changed. It goes on to its end when ctx ends. With dry nothing is changed,
// and taken are networks that are not to be used. An error is an *api.Error.
func (o *Owner) Enable(ctx context.Context, by api.Principal, link api.LinkID, dry bool, taken []netip.Prefix) ([]api.NodeRDMAChange, error) {
	l := &leading{owner: o, by: by, link: link, id: "c" + strings.ToLower(rand.Text()[:8]), dry: dry, taken: taken}
	ctx = context.WithoutCancel(ctx)
	ends, fault := l.plan(ctx)
	if fault == nil && !dry && !l.already {
		ends, fault = l.make(ctx)
	}
	if fault != nil {
		if !l.already && !dry {
			l.putBack(ctx, fault)
		}
		return nil, fault
	}
	return ends, nil
}

// leading is a change as the node sees it that leads.
type leading struct {
	owner *Owner
	by    api.Principal
	link  api.LinkID
	id    string
	dry   bool
	taken []netip.Prefix
	// already says that both ends are changed and all of that is in force.
	already bool
	// asked are the ends that may have something to put back.
	asked []api.LinkEnd
}

// call asks one end for a step.
func (l *leading) call(ctx context.Context, end api.LinkEnd, step api.RDMAChangeStep, within time.Duration, with func(*api.PeerRDMAParams)) (api.RDMAChange, *api.Error) {
	name := l.owner.cfg.Name(end.Node)
	ctx, cancel := l.owner.within(ctx, within+answerWithin, fmt.Sprintf("%s to %s the change of %s", name, step, end))
	defer cancel()
	p := api.PeerRDMAParams{Step: step, Link: l.link, Change: l.id, By: l.by}
	if with != nil {
		with(&p)
	}
	var lost time.Duration // when the end was first not reached; 0: it is
	// What is changed is the network that the call may have come over: it is found
	// again on another path, and asking twice is harmless.
	isLost := func(err error) bool {
		return ctx.Err() != nil || errors.Is(err, api.ReasonUnreachable) || errors.Is(err, api.ReasonNoPath)
	}
	again := func(err error) bool {
		now := l.owner.cfg.Clock.Boot()
		lost = cmp.Or(lost, now)
		return isLost(err) && now-lost < reachWithin
	}
	var answer api.RDMAChange
	err := peer.Again(ctx, l.owner.cfg.Clock, retryAfter, again, func() error {
		answer = api.RDMAChange{}
		return l.owner.cfg.Peers.Call(ctx, end.Node, "peer.rdma", p, &answer)
	})
	if err == nil || !isLost(err) {
		return answer, api.AsError(err)
	}
	return answer, api.Errorf(api.ReasonUnreachable, end.String(), "%s does not answer: it was asked to %s its end of the change.", name, step).
		WithWait(name)
}

// plan has both ends plan, the lower one first, until they agree on a network.
func (l *leading) plan(ctx context.Context) ([]api.NodeRDMAChange, *api.Error) {
	for again := true; ; again = false {
		low, high, fault := l.agree(ctx)
		if fault != nil {
			return nil, fault
		}
		there := func(c api.RDMAChange) bool { return c.State == api.RDMAChangeActive }
		switch {
		case there(low) && there(high) && low.Change == high.Change && low.Reason == "" && high.Reason == "":
			l.already = true
			return l.both(low, high), nil
		case !there(low) && !there(high) || l.dry:
			return l.both(low, high), nil
		case !again:
			return nil, api.Errorf(api.ReasonRDMAChangeFailed, l.link.String(), "What is left of an earlier change of %s cannot be put back.", l.link)
		}
		// One end is changed and the other not, or what was changed is not in force any
		// more: it goes back, and everything begins anew.
		for _, end := range []api.LinkEnd{l.link.Low, l.link.High} {
			if _, fault := l.call(ctx, end, api.RDMARollback, backWithin, func(p *api.PeerRDMAParams) { p.Change = "" }); fault != nil && !fault.Is(api.ReasonRDMANothingToUndo) {
				return nil, fault
			}
		}
	}
}

// agree is one planning at both ends.
func (l *leading) agree(ctx context.Context) (low, high api.RDMAChange, fault *api.Error) {
	ask := func(end api.LinkEnd, wanted netip.Prefix) (api.RDMAChange, *api.Error) {
		if !l.dry {
			l.asked = append(l.asked, end)
		}
		return l.call(ctx, end, api.RDMAPlan, planWithin+seenWithin, func(p *api.PeerRDMAParams) {
			p.Address, p.DryRun, p.Taken = wanted, l.dry, l.taken
		})
	}
	wanted := netip.Prefix{}
	for range planRounds {
		if low, fault = ask(l.link.Low, wanted); fault != nil {
			return low, high, fault
		}
		wanted = netip.Prefix{}
		if change.IsCable(low.Address, true) {
			wanted = change.Mate(low.Address)
		}
		if high, fault = ask(l.link.High, wanted); fault != nil {
			return low, high, fault
		}
		if low.State == api.RDMAChangeActive || high.State == api.RDMAChangeActive || high.Address == wanted {
			return low, high, nil
		}
		if !change.IsCable(high.Address, false) {
			break
		}
		wanted = change.Mate(high.Address)
	}
	return low, high, api.NewError(api.ReasonRDMANoFreeNetwork, l.link.String())
}

// make has both ends apply what they planned, proves it, and has both keep it.
func (l *leading) make(ctx context.Context) ([]api.NodeRDMAChange, *api.Error) {
	var done [2]api.RDMAChange
	ends := [2]api.LinkEnd{l.link.Low, l.link.High}
	for _, end := range ends {
		if _, fault := l.call(ctx, end, api.RDMAApply, applyWithin, nil); fault != nil {
			return nil, fault
		}
	}
	var untested *api.Cause
	if _, fault := l.call(ctx, l.link.Low, api.RDMAProve, proveWithin, nil); fault != nil {
		if condemns(fault.Data.Reason) {
			return nil, fault
		}
		untested = new(fault.Cause())
	}
	for i, end := range ends {
		kept, fault := l.call(ctx, end, api.RDMACommit, keepWithin, func(p *api.PeerRDMAParams) { p.Cause = untested })
		if fault != nil && i == 1 && fault.Data.Reason == api.ReasonUnreachable {
			// It has applied its part and will hear from the first end that it stays.
			l.owner.cfg.Log.Warn("an end of a cable could not be told that its change stays", "link", l.link, "error", fault)
			kept, fault = api.RDMAChange{Link: l.link, Change: l.id, State: api.RDMAChangeProving, By: l.by, Since: l.owner.now(), StartedAt: l.owner.now()}, nil
		}
		if fault != nil {
			return nil, fault
		}
		done[i] = kept
	}
	return l.both(done[0], done[1]), nil
}

// condemns reports whether a test that did not succeed speaks against the cable or
// an end. Else it could not be made now: MLX has no JACCL, another program uses the
// GPU, the time was over before its turn came.
func condemns(why api.Reason) bool {
	switch why {
	case api.ReasonRDMAProbeFailed, api.ReasonRDMAPortDown, api.ReasonRDMANoDevice, api.ReasonRDMANoIPv4GID,
		api.ReasonUnreachable, api.ReasonRDMAChangeFailed, api.ReasonNoSuchLink, api.ReasonLinkDown, api.ReasonLinkGone:
		return true
	}
	return false
}

// putBack has every end put back what it planned or made. An end that does not
// answer hears of it from the other one.
func (l *leading) putBack(ctx context.Context, why *api.Error) {
	cause := why.Cause()
	reported := map[api.LinkEnd]bool{}
	for _, end := range l.asked {
		if reported[end] {
			continue
		}
		reported[end] = true
		_, fault := l.call(ctx, end, api.RDMARollback, backWithin, func(p *api.PeerRDMAParams) { p.By, p.Cause = l.by, &cause })
		if fault != nil {
			left := fault.Cause()
			left.Message = l.owner.cfg.Name(end.Node) + " may not be as it was yet: " + left.Message
			why.Data.Causes = append(why.Data.Causes, left)
		}
	}
}

func (l *leading) both(low, high api.RDMAChange) []api.NodeRDMAChange {
	return []api.NodeRDMAChange{{Node: l.link.Low.Node, RDMAChange: low}, {Node: l.link.High.Node, RDMAChange: high}}
}

// Disable puts back what was changed on a cable, at both ends, and gives what
// became of it. It goes on to its end when ctx ends. Where the other end cannot be
// reached, or does not allow it, nothing is put back. An error is an *api.Error.
func (o *Owner) Disable(ctx context.Context, by api.Principal, link api.LinkID) ([]api.NodeRDMAChange, error) {
	return o.back(ctx, by, link, true)
}

// Undo puts back what is left of changes of a cable at every end that can be
// reached and allows it. An error is an *api.Error: no end has put back anything.
func (o *Owner) Undo(ctx context.Context, by api.Principal, link api.LinkID) ([]api.NodeRDMAChange, error) {
	return o.back(ctx, by, link, false)
}

func (o *Owner) back(ctx context.Context, by api.Principal, link api.LinkID, both bool) ([]api.NodeRDMAChange, error) {
	ctx = context.WithoutCancel(ctx)
	if one := o.orphan(link); one != nil {
		return o.backHere(ctx, by, one)
	}
	l := &leading{owner: o, by: by, link: link}
	ends := []api.LinkEnd{link.Low, link.High}
	if both && link.Low.Node == o.cfg.Node {
		slices.Reverse(ends) // the other end may refuse
	}
	var done []api.NodeRDMAChange
	var first *api.Error
	for _, end := range ends {
		// Asked by its name, a change that was put back is told as such: the answer to
		// the first call may be lost with the way it came, and the end may have heard of
		// the other one's before it was asked.
		if l.id = o.changeAt(end, link); l.id == "" && len(done) > 0 {
			l.id = done[0].Change
		}
		undone, fault := l.call(ctx, end, api.RDMARollback, backWithin, nil)
		if fault == nil && len(undone.Steps) == 0 {
			fault = api.NewError(api.ReasonRDMANothingToUndo, end.String()) // it keeps nothing of that name
		}
		switch {
		case fault == nil:
			done = append(done, api.NodeRDMAChange{Node: end.Node, RDMAChange: undone})
		case first == nil || first.Is(api.ReasonRDMANothingToUndo):
			first = fault // there being nothing says less than anything else
		}
		if both && len(done) == 0 && !fault.Is(api.ReasonRDMANothingToUndo) {
			return nil, fault
		}
	}
	if len(done) == 0 {
		return nil, first
	}
	slices.SortFunc(done, func(a, b api.NodeRDMAChange) int { return strings.Compare(string(a.Node), string(b.Node)) })
	return done, nil
}

// changeAt is the change that an end was last heard to have something to put back of;
// empty where none is known.
func (o *Owner) changeAt(end api.LinkEnd, link api.LinkID) string {
	if end.Node == o.cfg.Node {
		if r := o.current(link); r != nil {
			return r.Change
		}
		return ""
	}
	if theirs, known := o.cfg.Others(end.Node, link); known && theirs.State != api.RDMAChangeUndone {
		return theirs.Change
	}
	return ""
}

// UndoAll puts back all that this node has changed, whatever becomes of the other
// ends, which hear of it.
func (o *Owner) UndoAll(ctx context.Context) error {
	o.mu.Lock()
	broken, parts := o.broken, slices.Clone(o.parts)
	o.mu.Unlock()
	if broken != nil {
		return broken
	}
	var left *api.Error
	for _, one := range parts { // one that was put back before stays so
		done, err := o.backHere(ctx, api.Principal{}, one)
		fault := api.AsError(err)
		if err == nil && done[0].State == api.RDMAChangePartial {
			fault = api.Errorf(api.ReasonRDMAUndoPartial, done[0].Link.String(), "Not everything was put back: %s.", done[0].Message)
		}
		switch {
		case fault == nil:
		case left == nil:
			left = fault
		default:
			left.Message += " " + fault.Message
			left.Data.Causes = append(left.Data.Causes, fault.Cause())
		}
	}
	if left == nil {
		return nil
	}
	return left
}

// orphan is what this node changed when it had another key: no end of the cable is
// called as it is now.
func (o *Owner) orphan(link api.LinkID) *part {
	return o.find(func(r change.Record) bool { return r.Link == link && r.End.Node != o.cfg.Node })
}

// backHere puts a change back at this end alone.
func (o *Owner) backHere(ctx context.Context, by api.Principal, one *part) ([]api.NodeRDMAChange, error) {
	o.notify(one, change.Rollback{By: by})
	view, err := o.reach(ctx, one, backWithin, isPutBack)
	if err != nil {
		return nil, err
	}
	return []api.NodeRDMAChange{{Node: o.cfg.Node, RDMAChange: view}}, nil
}
