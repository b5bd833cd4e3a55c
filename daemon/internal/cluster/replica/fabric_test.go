package replica

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// fabric carries calls between nodes of one process, on a bubble's time: late,
// lossy, and cut where a test says so.
type fabric struct {
	mu    sync.Mutex
	nodes map[api.NodeID]*Replica // as they run now
	ways  map[[2]api.NodeID]*way
	rand  *rand.Rand
	loss  float64
	// sent counts bytes and calls, requests and answers, by who sent them.
	bytes map[api.NodeID]int
	calls map[string]int
}

// way is the connection of two nodes. It carries nothing where it is missing.
type way struct {
	delay time.Duration
}

func newFabric(seed testkit.Seed) *fabric {
	return &fabric{nodes: map[api.NodeID]*Replica{}, ways: map[[2]api.NodeID]*way{}, rand: seed.Source(1),
		bytes: map[api.NodeID]int{}, calls: map[string]int{}}
}

func pairOf(a, b api.NodeID) [2]api.NodeID {
	if a > b {
		a, b = b, a
	}
	return [2]api.NodeID{a, b}
}

// frame is what a message takes beside its parameters: JSON-RPC and TLS.
const frame = 90

// route is how a message gets across now: nil where none does.
func (f *fabric) route(from, to api.NodeID, method string, size int) (*Replica, *way, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes[from] += size + frame
	f.calls[method]++
	return f.nodes[to], f.ways[pairOf(from, to)], f.rand.Float64() < f.loss
}

// count is how often a method was called since the last total.
func (f *fabric) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// methods is how many methods were called since the last total.
func (f *fabric) methods() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// Call calls a method as TCP would: a cut is silence, a lost connection an error.
func (c *caller) Call(ctx context.Context, to api.NodeID, method string, params, result any) error {
	f := c.fabric
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if len(raw) > api.MaxMessageBytes {
		return api.NewError(api.ReasonMalformedMessage, "too large")
	}
	target, w, isLost := f.route(c.self, to, method, len(raw))
	unreachable := api.NewError(api.ReasonUnreachable, to.Display())
	if w == nil {
		<-ctx.Done()
		return unreachable
	}
	if !pause(ctx, w.delay) || target == nil || isLost && f.coin() {
		return unreachable
	}
	h := target.Handlers()[method]
	if h == nil {
		return api.NewError(api.ReasonUnknownMethod, method)
	}
	answer, err := h(context.WithoutCancel(ctx), c.self, raw)
	var back []byte
	if err == nil {
		if back, err = json.Marshal(answer); err == nil && len(back) > api.MaxMessageBytes {
			panic("an answer of " + method + " is too large")
		}
	}
	_, w, _ = f.route(to, c.self, method+" answer", len(back))
	if w == nil {
		<-ctx.Done()
		return unreachable
	}
	if !pause(ctx, w.delay) || isLost {
		return unreachable
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(back, result)
}

// Notify sends a notification.
func (c *caller) Notify(to api.NodeID, method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	target, w, isLost := c.fabric.route(c.self, to, method, len(raw))
	if w == nil || target == nil {
		return api.NewError(api.ReasonNoPath, to.Display())
	}
	if isLost {
		return nil
	}
	target.Notices()[method](c.self, raw)
	return nil
}

// caller is the fabric as one node sees it.
type caller struct {
	fabric *fabric
	self   api.NodeID
}

func (f *fabric) coin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rand.IntN(2) == 0
}

// pause waits on the bubble's time; false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// total is all bytes and calls since the last time, which it forgets.
func (f *fabric) total() (bytes, calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.bytes {
		bytes += n
	}
	for _, n := range f.calls {
		calls += n
	}
	clear(f.bytes)
	clear(f.calls)
	return bytes, calls
}
