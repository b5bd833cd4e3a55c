package client_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/internal/server/servertest"
)

// until waits for something that nothing announces.
func until(t testing.TB, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(timeout); !happened(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
	}
}

// watched reads a watch event by event.
type watched struct {
	t    *testing.T
	next func() (client.Event, error, bool)
}

func watch(t *testing.T, c *client.Client, sel api.StateSelect) watched {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	next, stop := iter.Pull2(c.Watch(ctx, sel))
	t.Cleanup(func() { cancel(); stop() })
	return watched{t, next}
}

func (w watched) event() client.Event {
	w.t.Helper()
	e, err, ok := w.next()
	if err != nil || !ok {
		w.t.Fatalf("no event: %v %v", err, ok)
	}
	return e
}

func TestWatch(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	a.Facts.Put(memory(t, 1))
	w := watch(t, connect(t, a), api.StateSelect{Kinds: []api.Kind{api.KindMemory}})
	is.Equal(w.event(), client.Event{Snapshot: true, Put: []api.Document{memory(t, 1)}})
	a.Facts.Put(memory(t, 2))
	is.Equal(w.event(), client.Event{Put: []api.Document{memory(t, 2)}})
	key := api.Key{Node: servertest.Node, Kind: api.KindMemory}
	a.Facts.Delete(key)
	is.Equal(w.event(), client.Event{Del: []api.Key{key}})
	a.Facts.SetStale(servertest.Node)
	is.Equal(w.event(), client.Event{Stale: []api.NodeID{servertest.Node}})

	// Too slow a reader starts over, without an error in between.
	a.Facts.Put(memory(t, 3))
	w.event()
	a.Facts.Lag()
	is.Equal(w.event(), client.Event{Snapshot: true, Put: []api.Document{memory(t, 3)}, Stale: []api.NodeID{servertest.Node}})
	a.Facts.Put(memory(t, 4))
	is.Equal(w.event().Put[0].Seq, uint64(4))
}

func TestWatchTakesUpAgain(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	a.Facts.Put(memory(t, 1))
	w := watch(t, connect(t, a), api.StateSelect{})
	var view client.View
	view.Apply(w.event())
	for round := range uint64(2) {
		a.Stop(t)
		_, err, ok := w.next() // said once it is gone, and again while it stays away
		is.True(ok)
		is.True(errors.Is(err, api.ReasonStopping) || errors.Is(err, api.ReasonNoDaemon))
		a.Facts.Put(memory(t, 10+round)) // while nobody watched
		a.Resume(t)
		for {
			e, err, ok := w.next()
			is.True(ok)
			if err == nil {
				is.True(e.Snapshot)
				view.Apply(e)
				break
			}
			is.True(errors.Is(err, api.ReasonNoDaemon))
		}
		is.Equal(view.Docs(), []api.Document{memory(t, 10+round)})
	}
}

func TestWatchEnds(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	c := connect(t, a)
	w := watch(t, c, api.StateSelect{Kinds: []api.Kind{"memroy"}})
	_, err, ok := w.next()
	is.True(ok && errors.Is(err, api.ReasonUnknownKind))
	_, _, ok = w.next()
	is.True(!ok) // trying again would not mend it

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range c.Watch(ctx, api.StateSelect{}) {
		is.NoErr(err)
		is.True(e.Snapshot)
		cancel() // ends the loop
	}
	for range c.Watch(t.Context(), api.StateSelect{}) {
		break
	}
	until(t, func() bool { return a.Facts.Watches() == 0 })
}

// A daemon that hangs says nothing, and neither does the kernel.
func TestWatchOfHangingDaemon(t *testing.T) {
	is := is.New(t)
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer ws.CloseNow()
		if _, _, err := ws.Read(r.Context()); err == nil {
			err = ws.Write(r.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"result":{"sub":"s1","docs":[]}}`))
			is.NoErr(err)
		}
		<-hang // and reads nothing more, so that no pong comes
	}))
	defer s.Close()
	defer close(hang)
	c, err := client.Dial(t.Context(), client.Options{Ping: time.Second,
		Addresses: []client.Address{{URL: "ws" + strings.TrimPrefix(s.URL, "http") + api.PathAPI}}})
	is.NoErr(err)
	defer c.Close()
	w := watch(t, c, api.StateSelect{})
	is.True(w.event().Snapshot)
	_, err, ok := w.next()
	is.True(ok && errors.Is(err, api.CodeUnreachable))
}

func TestWatchOfLargeState(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	for i := range 30 {
		a.Facts.Put(servertest.Document(t, api.KindReach, fmt.Sprint(i), uint64(i+1), map[string]string{"text": strings.Repeat("x", 200<<10)}))
	}
	w := watch(t, connect(t, a), api.StateSelect{})
	e := w.event() // several messages make one snapshot
	is.True(e.Snapshot)
	is.Equal(len(e.Put), 30)
	a.Facts.Put(memory(t, 99))
	is.Equal(w.event().Put[0], memory(t, 99))
}

// Whoever applies all events has the state, whatever was merged on the way.
func TestViewIsTheState(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	w := watch(t, connect(t, a), api.StateSelect{})
	var view client.View
	view.Apply(w.event())
	const last = 500
	go func() {
		for seq := uint64(1); seq <= last; seq++ {
			name := fmt.Sprint(seq % 7)
			if seq%5 == 0 {
				a.Facts.Delete(api.Key{Node: servertest.Node, Kind: api.KindThunderbolt, Name: name})
			} else {
				a.Facts.Put(servertest.Document(t, api.KindThunderbolt, name, seq, map[string]uint64{"n": seq}))
			}
		}
		a.Facts.Put(memory(t, last+1))
	}()
	key := api.Key{Node: servertest.Node, Kind: api.KindMemory}
	for {
		view.Apply(w.event())
		if _, done := view.Get(key); done {
			break
		}
	}
	c := connect(t, a)
	got, err := client.Call[api.StateGetResult](t.Context(), c, "state.get", nil)
	is.NoErr(err)
	is.Equal(view.Docs(), got.Docs)
}
