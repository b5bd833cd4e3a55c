package gossip

import (
	"time"

	"fulmen/daemon/api"
)

// State is how a member is, as far as this node can tell.
type State struct {
	// Liveness is alive, suspect (no path leads there, and others have not given
	// it up), unreachable, or left (it said so).
	Liveness api.Liveness
	// Since is since when, by the wall clock; zero where it was never heard of.
	Since time.Time
	// Reason is why it is not alive.
	Reason api.Reason
}

// known is what is known of one member, and how it was judged last.
type known struct {
	view
	state    State
	isJudged bool
}

// view is what decides about one member.
type view struct {
	isListed  bool // memberlist counts it as alive, or suspects it only
	wasListed bool // it did once
	hasLeft   bool // it said farewell, and no path came up since
	hasPath   bool
	hadPath   bool // at any time
}

// liveness judges a view.
func (v view) liveness() (api.Liveness, api.Reason) {
	switch {
	case v.hasLeft && !v.hasPath:
		return api.LivenessLeft, api.ReasonLeft
	case !v.wasListed && v.hasPath:
		return api.LivenessAlive, "" // it has just proved who it is, and will be listed
	case !v.wasListed:
		return api.LivenessUnreachable, api.ReasonNeverHeardOf
	case v.isListed && v.hasPath:
		return api.LivenessAlive, ""
	case v.isListed && v.hadPath:
		return api.LivenessSuspect, api.ReasonSuspect
	case v.isListed:
		return api.LivenessUnreachable, api.ReasonNoPath // others reach it
	}
	return api.LivenessUnreachable, api.ReasonUnreachable
}
