package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

// blob is a value of some size.
type blob struct {
	Text string `json:"text"`
}

func memory(t testing.TB, seq uint64) api.Document {
	return servertest.Document(t, api.KindMemory, "", seq, map[string]uint64{"total_bytes": seq})
}

func port(t testing.TB, n int, seq uint64) api.Document {
	return servertest.Document(t, api.KindThunderbolt, fmt.Sprint(n), seq, map[string]uint64{"n": seq})
}

func TestGetAndWatch(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	a.Facts.Put(port(t, 2, 1), memory(t, 2), port(t, 1, 3))
	w := dialSocket(t, a)
	var got api.StateGetResult
	w.ok("state.get", `{}`, &got)
	is.Equal(len(got.Docs), 3)
	is.True(slices.IsSortedFunc(got.Docs, func(x, y api.Document) int { return x.Key().Compare(y.Key()) }))
	is.True(!got.More)
	w.ok("state.get", `{"kinds":["memory"],"nodes":["cpv0cwypxp44qw0p"]}`, &got)
	is.Equal(len(got.Docs), 1)
	is.Equal(got.Docs[0], memory(t, 2))
	w.ok("state.get", `{"kinds":["job"]}`, &got)
	is.True(got.Docs != nil && len(got.Docs) == 0) // [] and not null

	var watch api.StateWatchResult
	w.ok("state.watch", `{"kinds":["memory","thunderbolt"]}`, &watch)
	is.Equal(len(watch.Docs), 3)
	a.Facts.Put(memory(t, 4))
	c := w.changed()
	is.Equal(c, api.StateChanged{Sub: watch.Sub, N: 1, Put: []api.Document{memory(t, 4)}})
	key := api.Key{Node: servertest.Node, Kind: api.KindThunderbolt, Name: "1"}
	a.Facts.Delete(key)
	is.Equal(w.changed(), api.StateChanged{Sub: watch.Sub, N: 2, Del: []api.Key{key}})
	a.Facts.SetStale(servertest.Node)
	is.Equal(w.changed(), api.StateChanged{Sub: watch.Sub, N: 3, Stale: []api.NodeID{servertest.Node}})
	a.Facts.SetStale()
	is.Equal(w.changed(), api.StateChanged{Sub: watch.Sub, N: 4, Stale: []api.NodeID{}})
	gone := port(t, 2, 5)
	gone.Value, gone.Deleted = nil, true
	a.Facts.Put(gone)
	is.Equal(w.changed(), api.StateChanged{Sub: watch.Sub, N: 5, Del: []api.Key{gone.Key()}})

	is.Equal(a.Facts.Watches(), 1)
	w.ok("state.unwatch", fmt.Sprintf(`{"sub":%q}`, watch.Sub), nil)
	is.Equal(w.call("state.unwatch", fmt.Sprintf(`{"sub":%q}`, watch.Sub)).Error.Data.Reason, api.ReasonNoSuchSubscription)
	a.Facts.Put(memory(t, 6))
	w.ok("state.get", `{}`, nil) // and nothing came in between but this
}

func TestHostileNamesStayInTheirStrings(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	name := "\"},{\"x\":\"\\ \u2028 </script> \x00 \x1b[31m"
	w := dialSocket(t, a)
	w.ok("state.watch", `{}`, nil)
	d := servertest.Document(t, api.KindReach, name, 1, blob{name})
	a.Facts.Put(d)
	is.Equal(w.changed().Put[0].Name, name)
	a.Facts.Delete(d.Key())
	is.Equal(w.changed().Del[0].Name, name)
}

func TestLargeSnapshots(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	var all []api.Document
	for i := range 30 { // about 6 MiB in all
		all = append(all, servertest.Document(t, api.KindThunderbolt, fmt.Sprint(i), uint64(i+1), blob{strings.Repeat("x", 200<<10)}))
	}
	a.Facts.Put(all...)
	w := dialSocket(t, a)
	var got api.StateGetResult
	w.ok("state.get", `{}`, &got)
	is.True(got.More)
	is.True(len(got.Docs) > 0 && len(got.Docs) < 30)

	w.n++
	w.send(`{"jsonrpc":"2.0","id":2,"method":"state.watch"}`)
	text, err := w.readText()
	is.NoErr(err)
	is.True(len(text) <= api.MaxMessageBytes)
	var m message
	is.NoErr(json.Unmarshal([]byte(text), &m))
	var watch api.StateWatchResult
	is.NoErr(json.Unmarshal(m.Result, &watch))
	is.True(watch.More)
	seen := map[api.Key]bool{}
	for _, d := range watch.Docs {
		seen[d.Key()] = true
	}
	for n, more := uint64(1), true; more; n++ {
		c := w.changed()
		is.Equal(c.N, n)
		for _, d := range c.Put {
			is.True(!seen[d.Key()]) // each document once
			seen[d.Key()] = true
		}
		more = c.More
	}
	is.Equal(len(seen), 30)
	a.Facts.Put(memory(t, 99))
	is.Equal(w.changed().Put[0], memory(t, 99))
}

func TestWatchesAreEndedAndBounded(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	w := dialSocket(t, a)
	is.Equal(w.call("state.watch", `{"nodes":["nobody"]}`).Error.Code, int(api.CodeNotFound)) // and leaves nothing behind
	for range 64 {
		w.ok("state.watch", `{}`, nil)
	}
	is.Equal(w.call("state.watch", `{}`).Error.Data.Reason, api.ReasonTooManySubscriptions)
	is.Equal(a.Facts.Watches(), 64)
	a.Facts.Lag()
	for range 64 {
		c := w.changed()
		is.Equal(c, api.StateChanged{Sub: c.Sub, Lagged: true})
	}
	var watch api.StateWatchResult
	w.ok("state.watch", `{}`, &watch) // the places are free again
	is.NoErr(w.ws.CloseNow())
	until(t, func() bool { return a.Facts.Watches() == 0 })
}

// A reader who is slow gets the latest of each document, from bounded memory.
func TestSlowReaderGetsTheLatest(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	w := dialSocket(t, a)
	w.ok("state.watch", `{}`, nil)
	const last = 3000
	value := blob{strings.Repeat("x", 10<<10)}
	for seq := uint64(1); seq <= last; seq++ { // 30 MB, unread
		a.Facts.Put(servertest.Document(t, api.KindMemory, "", seq, value))
	}
	messages, n := 0, uint64(0)
	for {
		c := w.changed()
		n++
		is.Equal(c.N, n) // no gap in the numbers, whatever was merged
		messages++
		if c.Put[0].Seq == last {
			break
		}
	}
	is.True(messages < last)
}

func TestFeedBound(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, func(c *server.Config) { c.Limits.FeedBytes = 1 << 20 })
	w := dialSocket(t, a)
	w.ok("state.watch", `{}`, nil)
	var many []api.Document
	for i := range 200 {
		many = append(many, servertest.Document(t, api.KindReach, fmt.Sprint(i), uint64(i+1), blob{strings.Repeat("x", 10<<10)}))
	}
	a.Facts.Put(many...) // 2 MB of keys that cannot be merged, at once
	is.True(w.changed().Lagged)
	until(t, func() bool { return a.Facts.Watches() == 0 })
	w.ok("state.watch", `{"kinds":["memory"]}`, nil) // the connection goes on
}
