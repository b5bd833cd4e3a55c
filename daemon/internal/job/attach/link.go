package attach

import (
	"context"
	"net"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

const (
	// openWithin is how long a node may take to take a connection.
	openWithin = 5 * time.Second
	// restWithin is how long it is tried to have the rest of a rank's output once the
	// job has ended: a daemon that was restarted is back long before, and a Mac that is
	// gone keeps nobody for longer.
	restWithin = time.Minute
	// drainWithin is how long a node may be silent once the job has ended.
	drainWithin = 5 * time.Second
	// againFirst and againMost bound the time between two attempts to reach a node.
	againFirst = 250 * time.Millisecond
	againMost  = 5 * time.Second
	// againHurried is the longest once the job has ended, and somebody waits for the rest.
	againHurried = time.Second
)

// link is a connection to a rank's node that notices when nobody is there.
type link struct {
	conn  net.Conn
	to    *peer.Writer
	from  *peer.Reader
	clock native.Clock

	mu      sync.Mutex
	hurried bool
	timer   native.Timer // nil while nobody reads
}

func (a *Attach) open(ctx context.Context, node api.NodeID, first api.PeerConn) (*link, error) {
	opening, cancel := native.WithTimeout(ctx, a.config.Clock, openWithin, "the node of "+first.Rank.String())
	defer cancel()
	conn, err := a.config.Peers.Stream(opening, node, first)
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, to: peer.NewWriter(conn), from: peer.NewReader(conn), clock: a.config.Clock}
	return l, nil
}

// closeWith closes the connection when ctx ends.
func (l *link) closeWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = l.conn.Close() })
}

// next is the next message that is no beat.
func (l *link) next() (peer.Message, error) {
	l.watch(true)
	defer l.unwatch()
	for {
		m, err := l.from.Next()
		if err != nil {
			return nil, err
		}
		if _, beat := m.(peer.Beat); !beat {
			return m, nil
		}
		l.watch(false)
	}
}

// hurry is told that the job has ended: from now on only what comes counts, and
// not that somebody is there.
func (l *link) hurry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.hurried && l.timer != nil {
		l.timer.Stop()
		l.arm(drainWithin)
	}
	l.hurried = true
}

func (l *link) watch(begin bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hurried && !begin {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.hurried {
		l.arm(drainWithin)
		return
	}
	l.arm(peer.SilentFor)
}

func (l *link) arm(d time.Duration) {
	l.timer = l.clock.AfterFunc(d, func() { _ = l.conn.Close() })
}

func (l *link) unwatch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Stop()
	l.timer = nil
}

// longer is the pause that follows a pause: twice as long, within bounds.
func longer(d time.Duration) time.Duration { return min(2*max(d, againFirst/2), againMost) }
