package node

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/native/frame"
)

// flooder is a program with a member's key that keeps to nothing.
type flooder struct {
	*mac
	on  context.Context
	run sync.WaitGroup
}

// held is a connection that the end of the flood ends, and that is forgotten before
// when it is closed.
type held struct {
	net.Conn
	stop func() bool
}

func (h held) Close() error { h.stop(); return h.Conn.Close() }

// opens connects to a Mac as a member, for a kind of connection.
func (f *flooder) opens(to *mac, carries api.PeerConnKind) net.Conn {
	raw, err := f.sockets.Dial(f.on, "en0", netip.Addr{}, netip.AddrPortFrom(to.office().Addr(), api.PeerPort))
	if err != nil {
		return nil
	}
	name := cluster.DailyID(to.holder.Cluster(), to.identity.Node, cluster.UseDial, time.Now()) + ".fulmen"
	conn := tls.Client(raw, &tls.Config{NextProtos: []string{api.ALPN}, ServerName: name, InsecureSkipVerify: true,
		Certificates: []tls.Certificate{certificateOf(f.desk, f.identity)}, SessionTicketsDisabled: true})
	stop := context.AfterFunc(f.on, func() { raw.Close() })
	if conn.HandshakeContext(f.on) == nil {
		_, err = conn.Write(frame.Encode(fmt.Appendf(nil, `{"carries":%q,"protocol":1}`, carries)))
	}
	if err != nil {
		stop()
		raw.Close()
		return nil
	}
	return held{conn, stop}
}

// again does something over and over, with a pause, until the flood is over.
func (f *flooder) again(pause time.Duration, do func(i int)) {
	f.run.Go(func() {
		for i := 0; f.on.Err() == nil; i++ {
			do(i)
			select {
			case <-f.on.Done():
			case <-time.After(pause):
			}
		}
	})
}

// calls makes calls on connections of its own, one after the other.
func (f *flooder) calls(to *mac, pause time.Duration, message func(i int) []byte) {
	var conn net.Conn
	f.again(pause, func(i int) {
		if conn == nil {
			if conn = f.opens(to, api.ConnCalls); conn != nil {
				_, _ = frame.Read(conn, 1)
			}
			return
		}
		_, err := conn.Write(frame.Encode(message(i)))
		if err == nil {
			_, err = frame.Read(conn, api.MaxMessageBytes)
		}
		if err != nil {
			conn.Close()
			conn = nil
		}
	})
}

// documents are messages that bring more than is kept of one member: large jobs,
// many ranks, deletions, and kinds that nobody knows.
func (f *flooder) documents(messages int) [][]byte {
	text := json.RawMessage(`{"t":"` + strings.Repeat("x", 100<<10) + `"}`)
	small := json.RawMessage(`{"t":"` + strings.Repeat("y", 300) + `"}`)
	var all [][]byte
	seq := uint64(0)
	for m := range messages {
		var docs []json.RawMessage
		add := func(kind api.Kind, name string, value json.RawMessage) {
			seq++
			doc := api.Document{Node: f.identity.Node, Kind: kind, Name: name, Inc: 1 << 20, Seq: seq, At: api.TimeOf(time.Now()), Value: value, Deleted: value == nil}
			f.desk.must(doc.Sign(f.holder.Cluster(), f.identity.Key()))
			raw, err := doc.MarshalJSON()
			f.desk.must(err)
			docs = append(docs, raw)
		}
		for i := range 7 {
			add(api.KindJob, fmt.Sprintf("j%08d", 10*m+i), text)
		}
		for i := range 100 {
			add(api.KindRank, fmt.Sprintf("j%08d/1/0", 100*m+i), small)
			add(api.KindGrant, fmt.Sprintf("j%08d/1/0", 100*m+i), nil)
		}
		add(api.Kind(fmt.Sprintf("next-%d", m)), "x", small)
		raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "peer.put", "params": map[string]any{"docs": docs}})
		f.desk.must(err)
		all = append(all, raw)
	}
	return all
}

// TestFlood has one member say all that it can to every other one: documents beyond
// its quota, half of a frame on as many connections as are taken, connections that
// say nothing, and calls without end. Nobody has 100 MB more of it, and the calls of
// others are answered. It takes 20 s of virtual time; FULMEN_SOAK=1 makes it ten minutes.
func TestFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("gigabytes are offered")
	}
	lasts := 20 * time.Second
	if os.Getenv("FULMEN_SOAK") != "" {
		lasts = 10 * time.Minute
	}
	const most = 100 << 20
	in(t, 4, func(d *desk) {
		is := is.New(t)
		hostile := d.macs[3]
		hostile.halt()
		others := d.macs[:3]
		ctx, cancel := context.WithCancel(context.Background())
		f := &flooder{mac: hostile, on: ctx}
		documents := f.documents(80)
		used := func() int64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		d.pass(30 * time.Second)
		before := used()
		half := frame.Encode(make([]byte, api.MaxMessageBytes))[:api.MaxMessageBytes]
		hello := []byte(`{"jsonrpc":"2.0","id":1,"method":"peer.hello","params":{}}`)
		for _, to := range others {
			f.calls(to, time.Millisecond, func(i int) []byte { return documents[i%len(documents)] })
			f.calls(to, time.Millisecond, func(int) []byte { return hello })
			f.again(50*time.Millisecond, func(int) { // says nothing
				if raw, err := f.sockets.Dial(ctx, "en0", netip.Addr{}, netip.AddrPortFrom(to.office().Addr(), api.PeerPort)); err == nil {
					f.run.Go(func() {
						defer context.AfterFunc(ctx, func() { raw.Close() })()
						_, _ = raw.Read(make([]byte, 1)) // until it is ended
						raw.Close()
					})
				}
			})
			f.again(50*time.Millisecond, func(int) { // half of a frame
				conn := f.opens(to, api.ConnCalls)
				if conn == nil {
					return
				}
				if said, err := frame.Read(conn, 1); err != nil || said[0] != 1 {
					conn.Close() // it was not taken
					return
				}
				f.run.Go(func() { _, _ = conn.Write(half) })
			})
		}
		var grown int64
		var slowest time.Duration
		for began := time.Now(); time.Since(began) < lasts; {
			d.pass(500 * time.Millisecond)
			for i, m := range others {
				at := time.Now()
				is.NoErr(m.call(others[(i+1)%3], "peer.hello", struct{}{}, nil))
				slowest = max(slowest, time.Since(at))
			}
			if n := used() - before; n > grown {
				grown = n
			}
		}
		cancel()
		f.run.Wait()
		t.Logf("%d MB more on 3 nodes together, the calls of others took %v at most", grown>>20, slowest)
		is.True(grown < 3*most)
		is.True(slowest < 2*time.Second)
		for _, m := range others {
			is.True(len(m.ledger.OverQuota()) > 0)
		}
		others[0].say(7)
		d.pass(2 * time.Minute)
		is.Equal(others[1].hears(others[0]), 7)
		t.Logf("%d MB more when it is over", (used()-before)>>20)
	})
}
