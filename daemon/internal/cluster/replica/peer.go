package replica

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// peer is a neighbour, from when it came up until it goes. Replica.mu guards it.
type peer struct {
	node api.NodeID
	// ctx ends when it goes.
	ctx    context.Context
	cancel context.CancelFunc

	out outbox
	// isSending says that a goroutine empties the outbox.
	isSending bool
	// isBehind says that something was dropped on its way there: nothing is
	// queued until a comparison finds what.
	isBehind bool
	failures int
	// isWatched says that somebody looked there at what was sent last.
	isWatched bool

	compare comparison
	pulls   []pull
	pending int // keys in pulls, and those that are being fetched
	// isPulling says that a goroutine works on pulls.
	isPulling bool
	live      subscription
}

// comparison is what is known of the comparing of digests with a peer.
type comparison struct {
	timer native.Timer // nil: none is planned
	due   time.Duration
	// isRunning says that a goroutine is at it, isWanted that another must follow.
	isRunning, isWanted bool
	wanted
	// agreed is the hash that both had, and rosters of then.
	agreed, agreedRoster string
	// differs is of which nodes not the same was held here and there when it was seen first.
	differs map[api.NodeID]difference
	// parts is how many comparisons in a row said that there is more.
	parts int
}

// wanted says what a comparison is to do.
type wanted struct {
	// isPlanned says that it is not only for what the last left alone, isUrgent not to wait
	// whether a difference goes away by itself, isHinted that the neighbour says that this
	// node lacks something, isForced to ask although nothing has changed since both agreed.
	isPlanned, isUrgent, isHinted, isForced bool
}

func newPeer(ctx context.Context, node api.NodeID) *peer {
	p := &peer{node: node}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// end stops all that is under way.
func (p *peer) end() {
	p.cancel()
	p.out.clear()
	if p.compare.timer != nil {
		p.compare.timer.Stop()
	}
	if p.live.silence != nil {
		p.live.silence.Stop()
	}
}

// isGone reports whether it has ended.
func (p *peer) isGone() bool { return p.ctx.Err() != nil }
