package sidechannel

import (
	"sync"
	"time"

	"fulmen/native"
)

// restAfter is how long a channel must be silent for its rank to count as joined
// where what it exchanged is no handshake that is known. To take a new version of
// JACCL for one that never joins would end every job of it.
const restAfter = 10 * time.Second

// flow is what the channel of one rank has carried.
type flow struct {
	gather
	bytes int64
	timer native.Timer
	round int // of settle
}

// settle has joined called when nothing more is carried for restAfter. The caller
// holds mu, which guards the flow.
func (f *flow) settle(clock native.Clock, mu *sync.Mutex, joined func()) {
	f.stop()
	if !f.rests() {
		return
	}
	round := f.round
	f.timer = clock.AfterFunc(restAfter, func() {
		mu.Lock()
		current := f.round == round
		mu.Unlock()
		if current {
			joined()
		}
	})
}

// stop gives up waiting for that.
func (f *flow) stop() {
	f.round++
	stopTimer(f.timer)
	f.timer = nil
}
