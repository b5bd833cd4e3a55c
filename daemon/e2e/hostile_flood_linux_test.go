package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/hostile"
	"fulmen/native/nativetest"
)

// What a flood may do at most.
const (
	mostMore       = 100 << 20
	longestTimeout = 2 * time.Second
	floodLasts     = 8 * time.Second // at least; it goes on until it is told of
	// soakLasts is as long as FULMEN_SOAK=1 takes.
	soakLasts = 10 * time.Minute
)

// resident is how much memory a process has, in bytes.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, "a daemon that runs", err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	var kib int64
	_, err = fmt.Sscan(rest, &kib)
	must(t, "its memory", err)
	return kib << 10
}

// testFlood has the hostile member flood all three daemons.
func (a *attack) testFlood(t *testing.T) {
	is := is.New(t)
	// Beside other tests a process is kept waiting by itself now and then: one call in a hundred.
	lasts, mostSlow := floodLasts, 0.01
	if os.Getenv("FULMEN_SOAK") != "" {
		lasts, mostSlow = soakLasts, 0
	}
	pids, before, most := map[api.NodeID]int{}, map[api.NodeID]int64{}, map[api.NodeID]int64{}
	others := map[api.NodeID]*hostile.Member{}
	var nodes []api.NodeID
	for i, at := range a.Nodes[:3] {
		nodes = append(nodes, at.ID)
		pids[at.ID] = call[api.DaemonInfoResult](t, at.Client, "daemon.info", nil).PID
		before[at.ID] = resident(t, pids[at.ID])
		other, err := a.network.Stolen(a.Nodes[(i+1)%3].Home, a.cluster)
		must(t, "a key", err)
		others[at.ID] = other
	}
	ctx, cancel := context.WithTimeout(t.Context(), lasts+timeout)
	defer cancel()
	floods := time.Now()
	flood := a.m.Floods(ctx, nodes...)
	slowest, calls, slow := time.Duration(0), 0, 0
	// Others call now and then; what a flood does to them nothing announces.
	beat := time.NewTicker(500 * time.Millisecond)
	defer beat.Stop()
	for time.Since(floods) < lasts || !a.reportsOfMany(t, nodes) {
		for _, id := range nodes {
			began := time.Now()
			if err := others[id].Call(t.Context(), id, "peer.hello", struct{}{}, nil); err != nil {
				t.Errorf("another member's call: %v", err)
			}
			took := time.Since(began)
			if slowest, calls = max(slowest, took), calls+1; took > longestTimeout {
				slow++
			}
			most[id] = max(most[id], resident(t, pids[id])-before[id])
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no condition of too many documents in %v", lasts+timeout)
		case <-beat.C:
		}
	}
	cancel()
	reported := flood.Over()
	for i, id := range nodes {
		t.Logf("%s: %d MB at first, %d MB more at most", a.Nodes[i].Mac, before[id]>>20, most[id]>>20)
		is.True(most[id] < mostMore)
	}
	t.Logf("said in %v: %v; %d calls of others took %v at most, %d of them more than %v", time.Since(floods), reported, calls, slowest, slow, longestTimeout)
	is.True(float64(slow) <= mostSlow*float64(calls))
	is.True(reported["documents"] > 0 && reported["calls"] > 0 && reported["half frames"] > 0 && reported["silent strangers"] > 0 && reported["events"] > 0)
}

// reportsOfMany reports whether the flood has offered each node more than is kept of one
// member, and that is told.
func (a *attack) reportsOfMany(t *testing.T, nodes []api.NodeID) bool {
	t.Helper()
	for i, id := range nodes {
		held := call[api.StateGetResult](t, a.Nodes[i].Client, "state.get",
			api.StateSelect{Kinds: []api.Kind{api.KindCondition}, Nodes: []api.NodeRef{api.NodeRef(id)}}).Docs
		if !slices.ContainsFunc(held, func(d api.Document) bool {
			var c api.Condition
			return d.Decode(&c) == nil && c.Code == api.ReasonTooManyDocuments
		}) {
			return false
		}
	}
	return true
}

// silentSockets is how many connections of another account say nothing, through each
// door: more than may be half open.
const silentSockets = 1100

// testSilent has another account open connections to studio-1's local API, over both
// its doors, that say nothing. The owner comes and calls as if there were none.
func (a *attack) testSilent(t *testing.T) {
	is := is.New(t)
	at := a.Nodes[0]
	through := nativetest.SocketAs(t, other, at.Socket())
	tcp := strings.TrimSuffix(strings.TrimPrefix(call[api.DaemonInfoResult](t, at.Client, "daemon.info", nil).APIURL, "ws://"), "/v1")
	var silent []net.Conn
	for range silentSockets {
		conn, err := net.Dial("unix", through)
		must(t, "a connection", err)
		defer conn.Close()
		silent = append(silent, conn, nativetest.DialAs(t, other, tcp))
	}
	began := time.Now()
	c, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{Socket: at.Socket()}}})
	is.NoErr(err)
	defer c.Close()
	call[api.DaemonInfoResult](t, c, "daemon.info", nil)
	took := time.Since(began)
	t.Logf("the owner's call took %v", took)
	is.True(took < time.Second)
	for _, oldest := range silent[:2] { // of each door; it had to go
		must(t, "a deadline", oldest.SetReadDeadline(time.Now().Add(time.Second)))
		_, err := oldest.Read(make([]byte, 1))
		is.True(err != nil && !errors.Is(err, os.ErrDeadlineExceeded))
	}
}
