package sidechannel

import (
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// restAfter is how long a channel must be silent for its rank to count as joined
// where what it exchanged is no handshake that is known. To take a new version of
// JACCL for one that never joins would end every job of it. After a first wait, which is
// the last of versions before, it is waitedAfter: longer than an end is kept back on
// its way by rank 0 to another rank.
const (
	restAfter   = 10 * time.Second
	waitedAfter = 3 * severAfter
)

// flow is what the channel of one rank has carried.
type flow struct {
	gather
	bytes int64
	own   int64 // of them, which the rank has sent
	timer native.Timer
	round int // of settle
}

// carry counts bytes, which the rank has sent or was sent, and reports whether as many
// may be carried.
func (f *flow) carry(n int, own bool) bool {
	f.bytes += int64(n)
	if own {
		f.own += int64(n)
	}
	return f.bytes <= api.MaxSideChannelBytes
}

// tooMuch ends a rank for what its flow has carried: for its own fault where it sent the
// most of that, else for what came from the other end.
func (f *flow) tooMuch(ended api.RankRef, rank int) *api.Error {
	if 2*f.own <= f.bytes {
		rank = 0
	}
	reason := api.ReasonSideChannelLimit
	if ended.Rank != rank {
		reason = api.ReasonSideChannelLost
	}
	return api.Errorf(reason, ended.String(), "Rank %d sent more than %d KiB before it had joined its group.", rank, api.MaxSideChannelBytes>>10)
}

// settleLocked has the rank count as joined, and tell called, when nothing more is carried
// for as long as a channel rests whose rank has joined. The caller holds mu, which guards
// the flow.
func (f *flow) settleLocked(clock native.Clock, mu *sync.Mutex, notify func()) {
	f.stop()
	if f.joined || !f.rests() {
		return
	}
	round, rest := f.round, restAfter
	if f.waits > 0 {
		rest = waitedAfter
	}
	f.timer = clock.AfterFunc(rest, func() {
		mu.Lock()
		current := f.round == round
		f.joined = f.joined || current
		mu.Unlock()
		if current {
			notify()
		}
	})
}

// stop gives up waiting for that.
func (f *flow) stop() {
	f.round++
	stopTimer(f.timer)
}
