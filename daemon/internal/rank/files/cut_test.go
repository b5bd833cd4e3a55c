package files_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rank/files"
	"fulmen/native/nativetest"
	"fulmen/native/nativetest/testkit"
)

// cutting peers end each connection once so many bytes have come over it.
type cutting struct {
	peer.Caller
	after *atomic.Int64
}

func (c cutting) Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error) {
	conn, err := c.Caller.Stream(ctx, node, first)
	return &cutConn{Conn: conn, left: c.after.Load()}, err
}

type cutConn struct {
	net.Conn
	left int64
}

func (c *cutConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// cuttable lets a desk's connections be cut.
func (d *scenario) cuttable(t *testing.T) *atomic.Int64 {
	t.Helper()
	after := &atomic.Int64{}
	config := d.config
	config.Peers = counting{cutting{d.peers, after}, &d.sent}
	d.here = files.New(config)
	return after
}

func TestACutConnectionLeavesTheCopyAndIsTakenUp(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	after := d.cuttable(t)
	d.write(t, map[string]string{"a": "old a", "b": "old b", "c": "old c", "gone": "x"})
	after.Store(1 << 40)
	dir, err := d.fetch()
	is.NoErr(err)
	before := tree(t, dir)

	large := strings.Repeat("x", 300<<10)
	is.NoErr(os.Remove(filepath.Join(d.from, "gone")))
	d.write(t, map[string]string{"a": "a" + large, "b": "b" + large, "c": "c" + large})
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"a", "b", "c"} {
		is.NoErr(os.Chtimes(filepath.Join(d.from, name), old, old))
	}
	after.Store(700 << 10)
	d.sent.Store(0)
	_, err = d.fetch()
	is.True(err != nil)
	is.True(d.sent.Swap(0) < int64(3*(1+len(large))))
	is.Equal(tree(t, dir), before)

	after.Store(1 << 40)
	_, err = d.fetch()
	is.NoErr(err)
	is.Equal(d.sent.Load(), int64(1+len(large))) // two of the three had come
	is.Equal(tree(t, dir), tree(t, d.from))
}

func TestANodeThatSaysNothingIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	d.write(t, map[string]string{"a": "a"})
	clock := nativetest.NewClock(time.Now())
	config := d.config
	config.Clock = clock
	scenario := peertest.NewNetwork()
	peer.New(there, scenario.Add(there), peertest.GateFor(there, nil, nil)).HandleStream(gate.ServeRank(gate.Files, func(ctx context.Context, _ gate.RankNode, _ error, _ api.PeerConn, _ net.Conn) {
		clock.Advance(time.Minute)
		<-ctx.Done()
	}))
	config.Peers = peer.New(here, scenario.Add(here), peertest.GateFor(here, nil, nil))
	_, err := files.New(config).Fetch(t.Context(), job, 3, there, d.who, d.from)
	known := api.AsError(err)
	is.Equal(known.Data.Reason, api.ReasonDeadline)
	is.True(strings.HasPrefix(known.Data.WaitingFor, "files from "))
}

func TestAFetchThatIsCalledOffEnds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	scenario := peertest.NewNetwork()
	ctx, cancel := context.WithCancel(t.Context())
	peer.New(there, scenario.Add(there), peertest.GateFor(there, nil, nil)).HandleStream(gate.ServeRank(gate.Files, func(ctx context.Context, _ gate.RankNode, _ error, _ api.PeerConn, _ net.Conn) {
		cancel()
		<-ctx.Done()
	}))
	config := d.config
	config.Peers = peer.New(here, scenario.Add(here), peertest.GateFor(here, nil, nil))
	_, err := files.New(config).Fetch(ctx, job, 3, there, d.who, d.from)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonCancelled)
}

// Two jobs from the same folder take turns, and both have it.
func TestFetchesOfOneFolderTakeTurns(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := newScenario(t)
	d.write(t, map[string]string{"a": "a", "b/c": "c"})
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() {
			_, err := d.fetch()
			errs <- err
		}()
	}
	for range cap(errs) {
		is.NoErr(<-errs)
	}
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

func BenchmarkFetch(b *testing.B) {
	d := newScenario(b)
	const size = 256 << 20
	d.write(b, map[string]string{"large": strings.Repeat("0123456789abcdef", size/16)})
	b.SetBytes(size)
	for b.Loop() {
		if _, err := d.fetch(); err != nil {
			b.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(d.home, ".fulmen")); err != nil {
			b.Fatal(err)
		}
	}
}
