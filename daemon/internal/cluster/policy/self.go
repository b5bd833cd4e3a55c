package policy

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// FlushWithin is the longest that this node waits until others have heard what
// it says. A path takes milliseconds; a lid that was closed should not leave
// the Mac awake for one that is gone.
const FlushWithin = 2 * time.Second

// DepartWithin is the longest that this node waits until what runs on it has ended.
const DepartWithin = 15 * time.Second

// SelfOptions is what a Self is made with.
type SelfOptions struct {
	Documents ledger.Publisher
	Power     native.Power
	Clock     native.Clock
	// Flush returns once the members that are reached have what was published.
	Flush func(ctx context.Context) error
	// Depart ends what must not be running when the machine sleeps or is switched off,
	// and returns once it has ended; nil where there is nothing. It is called when the
	// state is published, and others hear of that meanwhile.
	Depart func(ctx context.Context, state api.SelfState, reason api.Reason)
	// IdleUnknown is why it is not known whether somebody uses this Mac, up to
	// the first SetUse.
	IdleUnknown api.Reason
	Log         *slog.Logger
}

// Self says what this node does, in the node-state document, before it does it.
// It may be used by several goroutines.
type Self struct {
	options SelfOptions

	mu    sync.Mutex // held over a change and its publication, so that their order is one
	state api.NodeState
	use   Use
}

// Use is whether somebody uses this Mac.
type Use struct {
	// IdleS is for how long nobody has, in seconds, and Idle whether it counts as
	// idle by the sharing policy, see [IsIdle]. Both are nil where Unknown says why.
	IdleS   *float64
	Idle    *bool
	Unknown api.Reason
}

// NewSelf makes a Self that has not said anything.
func NewSelf(o SelfOptions) *Self {
	return &Self{options: o, use: Use{Unknown: o.IdleUnknown}}
}

// State is what was said last.
func (s *Self) State() api.NodeState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Announce publishes what this node does and waits until others have heard it, for
// FlushWithin at most. Who has left stays so until it is awake in another
// cluster, and a daemon that ends with its machine does not take back that the
// machine restarts. Saying the same again publishes nothing.
//
// The error is of the publication; that nobody could be told is only logged,
// since whoever sleeps or stops does it all the same.
func (s *Self) Announce(ctx context.Context, state api.SelfState, reason api.Reason) error {
	if err := s.report(state, reason, state == api.SelfAwake); err != nil {
		return err
	}
	s.flush(ctx, FlushWithin)
	return nil
}

// SetUse says whether somebody uses this Mac. It publishes only when that
// changes, not while the seconds go by.
func (s *Self) SetUse(use Use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.use
	if equal(before.Idle, use.Idle) && before.Unknown == use.Unknown && (before.IdleS == nil) == (use.IdleS == nil) {
		return nil
	}
	s.use = use
	if s.state.State == "" {
		return nil // goes along with the first word
	}
	return s.publishLocked(s.state)
}

func equal(a, b *bool) bool { return a == b || a != nil && b != nil && *a == *b }

// report publishes. Left is taken back only by whoever is allowed to.
func (s *Self) report(state api.SelfState, reason api.Reason, returns bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.state
	switch {
	case now.State == state && now.Reason == reason,
		now.State == api.SelfLeft && !returns,
		now.State == api.SelfRestarting && state == api.SelfStopping:
		return nil
	}
	return s.publishLocked(api.NodeState{State: state, Reason: reason, Since: api.TimeOf(s.options.Clock.Now())})
}

// publishLocked says a state with what is known about use.
func (s *Self) publishLocked(state api.NodeState) error {
	state.UserIdleS, state.Idle = s.use.IdleS, s.use.Idle
	var unknown map[string]api.Reason
	if s.use.Unknown != "" {
		unknown = map[string]api.Reason{}
		if state.UserIdleS == nil {
			unknown["user_idle_s"] = s.use.Unknown
		}
		if state.Idle == nil {
			unknown["idle"] = s.use.Unknown
		}
	}
	if err := s.options.Documents.Put(api.KindNodeState, "", state, unknown); err != nil {
		return err
	}
	s.state = state
	return nil
}

// flush waits until others have heard it.
func (s *Self) flush(ctx context.Context, within time.Duration) {
	ctx, cancel := native.WithTimeout(ctx, s.options.Clock, within, "the cluster to hear what this node does")
	defer cancel()
	if err := s.options.Flush(ctx); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		s.options.Log.Warn("not every member has heard what this node does", "error", err)
	}
}
