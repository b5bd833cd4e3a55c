package readiness

import (
	"time"

	"fulmen/daemon/api"
)

// shownDone is how long a user action that was made is still listed, with all its steps
// done: somebody at another Mac sees that it worked.
const shownDone = 10 * time.Minute

// ActionProgress is what was seen of a user action since it became necessary.
type ActionProgress struct {
	// Kind is what has to be done; Name is the Mac's; Links are the cables that it makes ready.
	Kind  api.RDMAUserActionKind `json:"kind"`
	Name  string                 `json:"name"`
	Links []api.LinkID           `json:"links"`
	// Boot is the system's last start that was heard of.
	Boot api.Time `json:"boot,omitzero"`
	// Left says that the Mac is away since; Returns counts how often it came back with
	// the user action still to be made.
	Left    bool `json:"left,omitempty"`
	Returns int  `json:"returns,omitempty"`
	// Done says that it was made, seen at DoneAt on a clock that counts sleep.
	Done   bool          `json:"-"`
	DoneAt time.Duration `json:"-"`
}

// ActionsProgress are the user actions by Mac. They hold what documents do not: that a Mac went away
// and came back. A daemon that starts anew begins with none and loses only that.
type ActionsProgress map[api.NodeID]ActionProgress

// Next is what is known of the user actions when the cables have become these.
func (t ActionsProgress) Next(cables []Cable, now time.Duration) ActionsProgress {
	next := ActionsProgress{}
	for node, n := range needs(cables) {
		action, known := t[node]
		if !known || action.Done {
			action = ActionProgress{Kind: n.kind, Boot: n.end.identity().BootedAt}
		}
		next[node] = action.on(n)
	}
	ends := map[api.NodeID]*End{}
	for i := range cables {
		for _, e := range cables[i].ends() {
			ends[e.End.Node] = e
		}
	}
	for node, action := range t {
		if _, still := next[node]; still {
			continue
		}
		if !action.Done {
			e := ends[node]
			switch {
			case e == nil || !isTrue(e.isOn()):
				continue // the cable went, not the need
			case e.Stale || e.device() == nil:
				next[node] = action // what the Mac says of itself comes before it counts as back
				continue
			}
			action.Done, action.DoneAt = true, now
		}
		if now-action.DoneAt < shownDone {
			next[node] = action
		}
	}
	return next
}

// on is a user action that is still to be made, seen once more.
func (t ActionProgress) on(n *need) ActionProgress {
	t.Name, t.Links = n.end.Name, n.links
	if n.kind != api.UserActionRestart { // a restart ends a user action of any kind
		t.Kind = n.kind
	}
	gone := n.end.Stale
	if s := n.end.State; s != nil && (s.State == api.SelfRestarting || s.State == api.SelfStopping) {
		gone = true
	}
	boot := n.end.identity().BootedAt
	switch {
	case gone:
		t.Left = true
	case started(t.Boot, boot), t.Left && (t.Boot.IsZero() || boot.IsZero()):
		t.Left = false
		t.Returns++
	default:
		t.Left = false // it was out of reach at most, and never restarted
	}
	if !gone && !boot.IsZero() {
		t.Boot = boot
	}
	return t
}

// bootSlack is how far apart two readings of one start may be: the system derives it
// from the wall clock.
const bootSlack = 30 * time.Second

// started reports whether the system was started again between two readings.
func started(was, is api.Time) bool {
	return !was.IsZero() && !is.IsZero() && is.Sub(was.Time).Abs() > bootSlack
}

// WaitsForUserAction reports whether RDMA could be enabled on a cable if only a person had
// been to a Mac: nothing else is missing than a switch, or a restart, and what Fulmen
// itself does. While that person is there the Mac is away.
func WaitsForUserAction(r Report) bool {
	waits := false
	for _, c := range r.Causes {
		switch c.Reason {
		case api.ReasonRDMASwitchOff, api.ReasonRDMANoDevice:
			waits = true
		case api.ReasonUnreachable, api.ReasonAsleep, api.ReasonRestarting:
		case api.ReasonInBridge, api.ReasonBridgeLoop, api.ReasonRDMANoIPv4GID:
		default:
			return false
		}
	}
	return waits
}
