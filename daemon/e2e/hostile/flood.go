package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/frame"
)

// Flood is a member that says all it can to daemons until its context ends.
type Flood struct {
	by  *Member
	ctx context.Context
	run sync.WaitGroup
	mu  sync.Mutex
	// reported counts what was said, by what it was.
	reported map[string]int
}

// Floods has a member flood daemons: with documents beyond its quota, new versions of
// the few that it has, things that become events, calls without end, connections that
// say nothing before they are known and after, and half of a frame on as many as are
// taken.
func (m *Member) Floods(ctx context.Context, nodes ...api.NodeID) *Flood {
	f := &Flood{by: m, ctx: ctx, reported: map[string]int{}}
	text := strings.Repeat("x", 100<<10)
	half := frame.Encode(make([]byte, api.MaxMessageBytes))[:api.MaxMessageBytes/2]
	for _, to := range nodes {
		var open sync.WaitGroup // its own calls are not kept out by its half frames
		open.Add(3)
		f.calls(to, &open, "documents", func(i int) (string, any) {
			var docs []api.Document
			for k := range 7 {
				docs = f.add(docs, api.KindJob, fmt.Sprintf("j%08d", 10*i+k), map[string]string{"t": text})
			}
			for k := range 40 {
				docs = f.add(docs, api.KindRank, fmt.Sprintf("j%08d/1/0", 100*i+k), map[string]string{"t": text[:300]})
				docs = f.add(docs, api.KindGrant, fmt.Sprintf("j%08d/1/0", 100*i+k), nil)
			}
			for k := range 10 {
				kind := api.Kind("next-" + strings.Repeat("x", 1+i%50))
				docs = f.add(docs, kind, fmt.Sprintf("x%d", 10*i+k), map[string]string{"t": text[:300]})
			}
			return "peer.put", api.PeerPutParams{Docs: docs}
		})
		f.calls(to, &open, "events", func(i int) (string, any) {
			var docs []api.Document
			for k := range 20 {
				docs = f.add(docs, api.KindCondition, fmt.Sprintf("%s/s%d", api.ReasonGPUBusy, k), api.Condition{
					Code: api.ReasonGPUBusy, Severity: api.SeverityWarning, Text: fmt.Sprint("The ", i, "th one of ", k, "."), Since: api.TimeOf(time.Now())})
			}
			return "peer.put", api.PeerPutParams{Docs: docs}
		})
		f.calls(to, &open, "calls", func(int) (string, any) { return "peer.hello", struct{}{} })
		f.again("silent strangers", func() bool {
			conn, err := m.Connect(ctx, to)
			if err == nil {
				f.holds(conn, nil)
			}
			return err == nil
		})
		open.Wait()
		for _, kind := range []api.PeerConnKind{api.ConnStream, api.ConnOutput, api.ConnFiles, api.ConnPublish, api.ConnCalls} {
			f.again("half frames", func() bool {
				conn, err := m.Open(ctx, to, api.PeerConn{Carries: kind})
				if err != nil {
					return false
				}
				over := f.holds(conn, half)
				if kind == api.ConnCalls { // more would end its own calls: the newest are heard
					<-over
				}
				return true
			})
		}
	}
	return f
}

// Over waits until all that the flood does has ended, and gives what it said.
func (f *Flood) Over() map[string]int {
	f.run.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reported
}

func (f *Flood) add(docs []api.Document, kind api.Kind, name string, value any) []api.Document {
	d, err := f.by.Signs(kind, name, value)
	if err != nil {
		panic(err) // it is as fixed as the code
	}
	return append(docs, d)
}

// again does something over and over until the flood is over.
func (f *Flood) again(what string, do func() bool) {
	f.run.Go(func() {
		// Nothing announces that a daemon takes more.
		pause := time.NewTicker(20 * time.Millisecond)
		defer pause.Stop()
		for f.ctx.Err() == nil {
			if do() {
				f.mu.Lock()
				f.reported[what]++
				f.mu.Unlock()
			}
			select {
			case <-f.ctx.Done():
			case <-pause.C:
			}
		}
	})
}

// holds keeps a connection until the daemon or the flood ends it, and closes over then.
func (f *Flood) holds(conn net.Conn, report []byte) (over <-chan struct{}) {
	stop := context.AfterFunc(f.ctx, func() { conn.Close() })
	ended := make(chan struct{})
	f.run.Go(func() {
		defer close(ended)
		defer stop()
		defer conn.Close()
		if report != nil {
			if _, err := conn.Write(report); err != nil {
				return
			}
		}
		buffer := make([]byte, 64)
		for {
			if _, err := conn.Read(buffer); err != nil {
				return
			}
		}
	})
	return ended
}

// calls makes calls on a connection of its own, each when the one before is answered.
func (f *Flood) calls(to api.NodeID, open *sync.WaitGroup, what string, message func(i int) (method string, params any)) {
	i := 0
	var c calls
	var once sync.Once
	context.AfterFunc(f.ctx, func() { once.Do(open.Done) })
	f.again(what, func() bool {
		if c.conn == nil {
			conn, err := f.by.Stream(f.ctx, to, api.PeerConn{Carries: api.ConnCalls})
			if err != nil {
				return false
			}
			context.AfterFunc(f.ctx, func() { conn.Close() })
			c.conn = conn
			once.Do(open.Done)
		}
		i++
		method, params := message(i)
		raw, err := json.Marshal(params)
		if err == nil {
			_, err = c.ask(method, json.RawMessage(raw))
		}
		if err != nil {
			c.conn.Close()
			c.conn = nil
		}
		return err == nil
	})
}
