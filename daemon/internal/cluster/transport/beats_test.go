package transport

import (
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A beat is heard as long as any path is there.
func TestBeats(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		var received atomic.Int32
		b.Beats(func(from api.NodeID) {
			if from == a.id.Node {
				received.Add(1)
			}
		})
		var op *net.OpError
		is.True(errors.As(a.Beat(b.id.Node), &op)) // no path yet
		d.open()
		is.NoErr(a.Beat(b.id.Node))
		d.pass(time.Second)
		is.Equal(received.Load(), int32(2)) // by both paths
		d.net.SetLAN("cable", false)
		is.NoErr(a.Beat(b.id.Node))
		d.pass(time.Second)
		is.Equal(received.Load(), int32(3))
	})
}

// The end of a peer's daemon is told, of which its system speaks; that nothing is heard of
// a peer any more is not told as that.
func TestAHangUpIsTold(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		var reported atomic.Int32
		a.HungUp(func(node api.NodeID) {
			if node == b.id.Node {
				reported.Add(1)
			}
		})
		d.open()
		d.net.SetApart("host0", "host1", true)
		d.pass(time.Minute)
		is.Equal(reported.Load(), int32(0))
		d.net.SetApart("host0", "host1", false)
		d.pass(time.Minute)
		is.True(a.Reachable(b.id.Node))
		is.NoErr(b.Close())
		d.pass(time.Second)
		is.Equal(reported.Load(), int32(1))
	})
}

// That a daemon was started again is told also where no path was seen to end.
func TestStartedAgainIsTold(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		d.open()
		a, b := d.nodes[0], d.nodes[1]
		d.net.SetApart("host0", "host1", true) // so that the end is not heard
		is.NoErr(b.Close())
		again := d.start(1)
		d.nodes = append(d.nodes, again)
		again.SetCandidates(a.id.Node, d.candidates(a))
		a.mu.Lock()
		a.events = nil
		a.mu.Unlock()
		d.net.SetApart("host0", "host1", false)
		is.NoErr(again.Start())
		d.pass(2 * time.Second)
		a.mu.Lock()
		defer a.mu.Unlock()
		anew := 0
		for _, e := range a.events {
			if e.Anew {
				anew++
			}
		}
		is.Equal(anew, 1)
	})
}
