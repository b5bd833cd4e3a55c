package beat

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

// network carries beats between the nodes of a test that are not cut off.
type network struct {
	mu    sync.Mutex
	nodes map[api.NodeID]func(api.NodeID)
	cut   map[api.NodeID]bool
	sent  int
}

type end struct {
	*network
	id api.NodeID
}

func (e end) Send(to api.NodeID) error {
	e.mu.Lock()
	e.sent++
	receive := e.nodes[to]
	if e.cut[e.id] || e.cut[to] {
		receive = nil
	}
	e.mu.Unlock()
	if receive != nil {
		go receive(e.id)
	}
	return nil
}

func (e end) HungUp(func(api.NodeID)) {}

func (e end) Receive(f func(api.NodeID)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nodes[e.id] = f
}

func (a *network) set(id api.NodeID, cut bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cut[id] = cut
}

func (a *network) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sent
}

// received is what one node was told, with when.
type received struct {
	*Beater
	mu   sync.Mutex
	lost []time.Duration
	back []time.Duration
}

func (a *network) add(id api.NodeID, began time.Time) *received {
	return a.addOn(id, func() time.Duration { return time.Since(began) })
}

// addOn adds a node whose clock is a function.
func (a *network) addOn(id api.NodeID, passed func() time.Duration) *received {
	h := &received{}
	h.Beater = New(Config{
		Self: id, Link: end{a, id}, Times: DefaultTimes,
		Clock: native.ClockFrom(time.Now, func() time.Duration { return passed() + time.Hour }),
		Lost: func(_ api.NodeID, silent time.Duration) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.lost = append(h.lost, silent)
		},
		Back: func(api.NodeID) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.back = append(h.back, passed())
		},
	})
	return h
}

func (h *received) reported() (lost, back int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.lost), len(h.back)
}

func TestALostNodeIsNoticedAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := &network{nodes: map[api.NodeID]func(api.NodeID){}, cut: map[api.NodeID]bool{}}
		began := time.Now()
		one, two := a.add("one", began), a.add("two", began)
		nodes := []api.NodeID{"one", "two"}
		one.Watch(nodes)
		two.Watch(nodes)
		time.Sleep(10250 * time.Millisecond) // between two beats
		lost, _ := one.reported()
		is.Equal(lost, 0)

		a.set("two", true)
		time.Sleep(1700 * time.Millisecond)
		lost, _ = one.reported()
		is.Equal(lost, 0)
		time.Sleep(800 * time.Millisecond) // 2.5 s after the cut
		synctest.Wait()
		lost, _ = one.reported()
		is.Equal(lost, 1)
		is.Equal(one.Lost(), []api.NodeID{"two"})
		is.True(one.lost[0] >= 2*time.Second && one.lost[0] <= 2500*time.Millisecond)
		time.Sleep(10 * time.Second)
		lost, _ = one.reported()
		is.Equal(lost, 1) // told once

		a.set("two", false)
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		_, back := one.reported()
		is.Equal(back, 1)
		is.Equal(len(one.Lost()), 0)
		one.Close()
		two.Close()
	})
}

// A node that was away is heard as soon as there is a path again, not with its next
// beat: that could be too late.
func TestAPathThatCameBackIsUsedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := &network{nodes: map[api.NodeID]func(api.NodeID){}, cut: map[api.NodeID]bool{}}
		began := time.Now()
		one, two := a.add("one", began), a.add("two", began)
		nodes := []api.NodeID{"one", "two"}
		one.Watch(nodes)
		two.Watch(nodes)
		time.Sleep(10250 * time.Millisecond)
		a.set("two", true)
		time.Sleep(1740 * time.Millisecond) // 10 ms before two is lost, and before anybody beats
		a.set("two", false)
		two.Now()
		synctest.Wait()
		a.set("two", true)
		time.Sleep(1500 * time.Millisecond)
		lost, _ := one.reported()
		is.Equal(lost, 0)
		sent := a.count()
		one.Close()
		two.Close()
		one.Now() // says nothing any more
		is.Equal(a.count(), sent)
	})
}

// While nobody is to be heard nothing is sent, and no timer runs: a bubble with
// one could not end.
func TestNothingIsSentForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := &network{nodes: map[api.NodeID]func(api.NodeID){}, cut: map[api.NodeID]bool{}}
		one := a.add("one", time.Now())
		one.Watch([]api.NodeID{"one", "two"})
		is.Equal(a.count(), 1) // at once, for the other may wait already
		time.Sleep(5100 * time.Millisecond)
		synctest.Wait()
		is.Equal(a.count(), 11)
		one.Watch(nil)
		time.Sleep(time.Hour)
		is.Equal(a.count(), 11)
		one.Watch([]api.NodeID{"two"}) // after an hour of nothing it has its whole time again
		time.Sleep(1900 * time.Millisecond)
		lost, _ := one.reported()
		is.Equal(lost, 1) // of the first watch only
		is.True(!slices.Contains(one.Lost(), "two"))
		time.Sleep(150 * time.Millisecond)
		is.Equal(one.Lost(), []api.NodeID{"two"}) // and no more than that
		one.Close()
		one.Watch([]api.NodeID{"two"})
		time.Sleep(time.Hour)
		is.Equal(a.count(), 16)
	})
}

// A node that has said that it will be away is waited for, as long as was said, and
// not a moment longer once it is back.
func TestAnExcusedNodeIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := &network{nodes: map[api.NodeID]func(api.NodeID){}, cut: map[api.NodeID]bool{}}
		began := time.Now()
		one, two := a.add("one", began), a.add("two", began)
		nodes := []api.NodeID{"one", "two"}
		one.Watch(nodes)
		two.Watch(nodes)
		pass := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		lost := func() int {
			n, _ := one.reported()
			return n
		}
		one.AllowSilence("nobody", time.Minute)
		pass(10250 * time.Millisecond)
		one.AllowSilence("two", time.Minute)
		pass(time.Second) // beats that are under way end nothing
		a.set("two", true)
		pass(12 * time.Second)
		is.Equal(lost(), 0)
		a.set("two", false)
		pass(time.Second)
		is.Equal(lost(), 0)

		a.set("two", true) // it is back, and dies
		pass(2500 * time.Millisecond)
		is.Equal(lost(), 1)
		a.set("two", false)
		pass(time.Second)

		one.AllowSilence("two", 15250*time.Millisecond) // until somebody beats
		a.set("two", true)
		pass(14900 * time.Millisecond)
		is.Equal(lost(), 1)
		pass(500 * time.Millisecond)
		is.Equal(lost(), 2) // it has not come back
		a.set("two", false)
		pass(time.Second)

		one.AllowSilence("two", time.Minute)
		a.set("two", true)
		pass(500 * time.Millisecond)
		a.set("two", false) // a beat was lost, which is no silence
		pass(time.Second)
		a.set("two", true)
		pass(10 * time.Second)
		is.Equal(lost(), 2)
		one.Close()
		two.Close()
	})
}

// A node that slept has heard nobody meanwhile: whoever beats when it is awake is not lost,
// and whoever does not has its whole time again.
func TestNobodyIsLostInSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := &network{nodes: map[api.NodeID]func(api.NodeID){}, cut: map[api.NodeID]bool{}}
		began, slept := time.Now(), time.Duration(0)
		var mu sync.Mutex
		one := a.addOn("one", func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return time.Since(began) + slept
		})
		one.Watch([]api.NodeID{"nine", "four", "two", "seven", "five", "one"})
		time.Sleep(750 * time.Millisecond)
		mu.Lock()
		slept = 3 * time.Second
		mu.Unlock()
		time.Sleep(2150 * time.Millisecond) // the first beat after it was 1.9 s ago
		synctest.Wait()
		is.Equal(len(one.Lost()), 0)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		is.Equal(one.Lost(), []api.NodeID{"five", "four", "nine", "seven", "two"})
		one.Close()
	})
}

// A pulse tells for how long nothing ran, once, and nothing at its first tick.
func TestPulse(t *testing.T) {
	is := is.New(t)
	var p Pulse
	for _, c := range []struct{ now, away time.Duration }{
		{time.Hour, 0}, {time.Hour + time.Second, 0}, {time.Hour + 3*time.Second, 0}, {2 * time.Hour, time.Hour - 3*time.Second}, {2*time.Hour + 1, 0},
	} {
		is.Equal(p.Tick(c.now, 2*time.Second), c.away)
	}
}

// A timer that passes while it is stopped does nothing, and after the end none runs.
func TestNothingRunsThatWasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := &network{nodes: map[api.NodeID]func(api.NodeID){}, cut: map[api.NodeID]bool{}}
		began := time.Now()
		var reads atomic.Int64
		one := a.addOn("one", func() time.Duration { reads.Add(1); return time.Since(began) })
		one.Watch([]api.NodeID{"two"})
		former := one.round
		one.Watch(nil)
		one.Watch([]api.NodeID{"two"})
		sent := a.count()
		one.beat(former)
		is.Equal(a.count(), sent)
		one.Close()
		before := reads.Load()
		time.Sleep(time.Hour)
		is.Equal(reads.Load(), before)
	})
}
