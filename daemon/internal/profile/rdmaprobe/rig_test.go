package rdmaprobe

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

const (
	low  api.NodeID = "cpv0cwypxp44qw0p"
	high api.NodeID = "y1m2wb3jdk61ktcs"
)

// link is the cable of the desk: receptacle 2 of the lower node to receptacle 3.
var link = api.LinkID{Low: api.LinkEnd{Node: low, PortNumber: 2}, High: api.LinkEnd{Node: high, PortNumber: 3}}

// end is one end of a cable in a bubble, whose worker does as the test says.
type end struct {
	*Prober
	scenario *scenario
	node     api.NodeID
	began    time.Time

	mu        sync.Mutex
	refusal   *api.Error // of Ready
	busy      error      // of Hold
	isHeld    bool
	holds     int
	works     func(ctx context.Context, e *end, number int) proc.Record
	env       []string // of the worker that ran last
	matrix    string   // that it was given
	files     []string // that were there after it
	pid       int      // of the worker that runs
	counted   []api.PortNumber
	used      int
	killed    int
	handshake api.HandshakeState // at the worker's end
	openNow   map[api.RankRef]bool
}

// scenario is the two ends.
type scenario struct {
	peers *peertest.Network
	ends  map[api.NodeID]*end
}

// bubble runs a test with a cable.
func bubble(t *testing.T, test func(t *testing.T, low, high *end), change ...func(*Config)) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := &scenario{peers: peertest.NewNetwork(), ends: map[api.NodeID]*end{}}
		for i, node := range []api.NodeID{low, high} {
			e := &end{scenario: d, node: node, began: time.Now(), openNow: map[api.RankRef]bool{}, handshake: api.HandshakeJoined}
			clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(e.began) })
			config := Config{
				Node: node, Clock: clock,
				Peers: peer.New(node, d.peers.Add(node), peertest.GateFor(node, clock, nil)), Channels: (*channels)(e), Ready: e.ready, Hold: e.hold, Launch: e.launch,
				Worker: "fulmen-rank", Env: []string{"PATH=/bin"}, Folder: folder + "/" + strconv.Itoa(i),
				Opened: func(r api.PortNumber) { e.note(func() { e.counted = append(e.counted, r) }) },
				Used:   func(api.PortNumber) { e.note(func() { e.used++ }) },
				Killed: func(api.PortNumber) { e.note(func() { e.killed++ }) },
				Name:   func(id api.NodeID) string { return map[api.NodeID]string{low: "studio", high: "book"}[id] },
				Log:    slog.New(slog.DiscardHandler),
			}
			if err := os.Mkdir(config.Folder, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, f := range change {
				f(&config)
			}
			e.works = good
			e.Prober = New(config)
			d.ends[node] = e
		}
		defer func() {
			for _, e := range d.ends {
				e.Close()
			}
		}()
		test(t, d.ends[low], d.ends[high])
		synctest.Wait()
		for _, e := range d.ends {
			e.mu.Lock()
			if e.isHeld || len(e.openNow) > 0 || e.pid != 0 {
				t.Errorf("%s is held: %v; channels: %v; worker: %d", e.node, e.isHeld, e.openNow, e.pid)
			}
			if len(e.files) > 1 {
				t.Errorf("files are left: %v", e.files)
			}
			e.mu.Unlock()
			if left, _ := os.ReadDir(e.cfg.Folder); len(left) > 0 {
				t.Errorf("%s left %v", e.node, left)
			}
		}
	})
}

func (e *end) note(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

func (e *end) ready(_ context.Context, at api.LinkEnd) (string, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if at.Node != e.node {
		return "", api.NewError(api.ReasonInternal, "another's end")
	}
	return "rdma_en" + at.PortNumber.String(), e.refusal
}

func (e *end) hold(_ context.Context, _ api.NodeID, _ api.MeasureID, r api.PortNumber) (func(), error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case r != 3:
		return nil, errors.New("another receptacle")
	case e.busy != nil:
		return nil, e.busy
	case e.isHeld:
		return nil, api.NewError(api.ReasonMeasurementRunning, "")
	}
	e.isHeld = true
	e.holds++
	return func() { e.note(func() { e.isHeld = false }) }, nil
}

func (e *end) launch(ctx context.Context, c proc.Command) proc.Record {
	rank := 0
	matrix := ""
	for _, pair := range c.Env {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case api.EnvMLXRank:
			rank, _ = strconv.Atoi(value)
		case api.EnvMLXDevices:
			text, _ := os.ReadFile(value)
			matrix = strings.TrimSpace(string(text))
		}
	}
	c.Started(4000 + rank)
	c.Progress(worker.Progress{Stage: "sending", DoneRatio: 0.5})
	e.mu.Lock()
	e.env, e.matrix = slices.Clone(c.Env), matrix
	works := e.works
	e.mu.Unlock()
	record := works(ctx, e, rank)
	e.note(func() { e.pid = 0 })
	return record
}

// result is what a worker tells.
func result(value worker.SendRecv) proc.Record {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return proc.Record{Outcome: proc.OK, Word: &worker.Message{Type: worker.TypeResult, Value: text}}
}

func sample() worker.SendRecv {
	return worker.SendRecv{Backend: "jaccl", Size: 2, DType: "float32", Rows: []worker.SendRecvRow{
		{MessageBytes: 64, Runs: 200, RTTUS: 18, JitterUS: 2, UpBytesPerS: 20e6, DownBytesPerS: 25e6},
		{MessageBytes: 1 << 20, Runs: 50, RTTUS: 240, JitterUS: 9, UpBytesPerS: 9.35e9, DownBytesPerS: 9e9},
		{MessageBytes: 1 << 26, Runs: 3, RTTUS: 15000, JitterUS: 100, UpBytesPerS: 9e9, DownBytesPerS: 9.2e9},
	}}
}

// good measures for three seconds.
func good(ctx context.Context, e *end, _ int) proc.Record {
	if !native.Pause(ctx, e.cfg.Clock, 3*time.Second) {
		return proc.Record{Outcome: proc.Cancelled, Sentence: "The test's worker was ended on request."}
	}
	return result(sample())
}

// hangs ends when it is told to, as by its supervisor.
func hangs(ctx context.Context, _ *end, _ int) proc.Record {
	<-ctx.Done()
	return proc.Record{Outcome: proc.Cancelled, Sentence: "The test's worker was ended on request."}
}

// after is a worker's end after a while, unless it is ended before.
func after(d time.Duration, record proc.Record) func(context.Context, *end, int) proc.Record {
	return func(ctx context.Context, e *end, _ int) proc.Record {
		if !native.Pause(ctx, e.cfg.Clock, d) {
			return proc.Record{Outcome: proc.Cancelled, Sentence: "The test's worker was ended on request."}
		}
		return record
	}
}

// channels are an end's side channels, which carry nothing.
type channels end

func (c *channels) Open(rank api.RankRef, _ uint64, nodes []api.NodeID, _ time.Duration) (netip.AddrPort, error) {
	e := (*end)(c)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.openNow[rank] || !slices.Equal(nodes, []api.NodeID{low, high}) {
		return netip.AddrPort{}, errors.New("no such channel")
	}
	e.openNow[rank] = true
	return netip.MustParseAddrPort("127.0.0.1:20001"), nil
}

func (c *channels) Spawned(rank api.RankRef) {
	e := (*end)(c)
	pid, isOwn := e.Group(rank)
	e.note(func() { e.pid = pid })
	if !isOwn {
		panic("a rank that is not known runs")
	}
}

func (c *channels) Settle(api.RankRef) (api.Handshake, bool) {
	e := (*end)(c)
	e.mu.Lock()
	defer e.mu.Unlock()
	return api.Handshake{State: e.handshake}, true
}

func (c *channels) Close(rank api.RankRef) {
	e := (*end)(c)
	e.note(func() { delete(e.openNow, rank) })
}
