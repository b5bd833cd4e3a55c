package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server/servertest"
	"fulmen/native/nativetest/testkit"
)

// watcher is a client of GET /v1/watch, with what it has of the documents.
type watcher struct {
	t         *testing.T
	calls     calls
	last      string // the id of the last event
	has       map[api.Key]uint64
	stale     []api.NodeID
	snapshots int
	answer    *http.Response
	from      *bufio.Reader
}

// lastKey is the document that ends a round.
var lastKey = api.Key{Node: servertest.Node, Kind: api.KindMemory}

// connect begins or goes on.
func (w *watcher) connect() {
	w.t.Helper()
	var headers []string
	if w.last != "" {
		headers = []string{"Last-Event-ID", w.last}
	}
	w.answer = w.calls.do("GET", "/v1/watch", "", headers...)
	is.New(w.t).Equal(w.answer.StatusCode, 200)
	w.from = bufio.NewReader(w.answer.Body)
}

// read takes one event in.
func (w *watcher) read() (change api.StateChanged) {
	w.t.Helper()
	is := is.New(w.t)
	name, id, data := event(w.t, w.from)
	w.last = id
	if name == "result" {
		var all api.StateWatchResult
		is.NoErr(json.Unmarshal([]byte(data), &all))
		w.has = map[api.Key]uint64{}
		w.stale = all.Stale
		w.snapshots++
		change = api.StateChanged{Put: all.Docs, More: all.More}
	} else {
		is.NoErr(json.Unmarshal([]byte(data), &change))
	}
	for _, d := range change.Put {
		w.has[d.Key()] = d.Seq
	}
	for _, key := range change.Del {
		delete(w.has, key)
	}
	if change.Stale != nil {
		w.stale = change.Stale
	}
	return change
}

// readUp reads until it has a version of the document that ends a round.
func (w *watcher) readUp(round uint64) {
	w.t.Helper()
	for w.has[lastKey] < round {
		w.read()
	}
}

// Whoever comes back with the id of the last event that it has read has what one has that
// stayed, and gets no second snapshot, wherever it was cut.
func TestResume(t *testing.T) {
	seeds := 4
	if os.Getenv("FULMEN_SOAK") != "" {
		seeds = 100
	}
	for seed := range testkit.Upto(t, seeds) {
		r := seed.Source(0)
		a := servertest.Start(t, nil)
		stays := &watcher{t: t, calls: calls{a, t, true}}
		for i := range r.IntN(2000) { // some do not fit one message
			a.Facts.Put(port(t, 1000+i, 1))
		}
		stays.connect()
		comes := &watcher{t: t, calls: stays.calls}
		comes.connect()
		comes.read()
		sent := uint64(1)
		change := func() {
			for range 1 + r.IntN(5) {
				sent++
				switch d := port(t, r.IntN(6), sent); r.IntN(5) {
				case 0:
					a.Facts.Delete(d.Key())
				case 1:
					a.Facts.SetStale([]api.NodeID{servertest.Node}[:r.IntN(2)]...)
				default:
					a.Facts.Put(d)
				}
			}
			sent++
			a.Facts.Put(memory(t, sent))
		}
		for range 12 {
			change()
			if r.IntN(2) == 0 {
				stays.readUp(sent) // so that there are several events
			}
			for range r.IntN(3) {
				if comes.has[lastKey] < sent {
					comes.read()
				}
			}
			if r.IntN(2) == 0 {
				comes.answer.Body.Close()
				if r.IntN(2) == 0 {
					change()
				}
				comes.connect()
			}
			stays.readUp(sent)
			comes.readUp(sent)
			if fmt.Sprint(stays.has, stays.stale) != fmt.Sprint(comes.has, comes.stale) || comes.snapshots != 1 {
				t.Fatalf("seed %d: after %d snapshots\n%v %v, one that stayed has\n%v %v", seed, comes.snapshots, comes.has, comes.stale, stays.has, stays.stale)
			}
		}
		stays.answer.Body.Close()
		comes.answer.Body.Close()
	}
}

// A stream that is not known here, or is of other documents, or was left too long ago, begins
// with a snapshot.
func TestResumeFromTheBeginning(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	w := &watcher{t: t, calls: calls{a, t, true}}
	w.connect()
	w.read()
	for i := range uint64(10) {
		a.Facts.Put(memory(t, i+1))
		w.readUp(i + 1)
	}
	known := w.last
	w.answer.Body.Close()
	for name, last := range map[string]string{"of before a restart": "ABCDEFGHIJKLMNOPQRSTUVWXYZ.3", "no id": "3", "none": "", "not yet sent": strings.Replace(known, ".", ".9", 1)} {
		w.last = last
		before := w.snapshots
		w.connect()
		w.read()
		if w.snapshots != before+1 {
			t.Errorf("%s: is resumed", name)
		}
		w.answer.Body.Close()
	}
	got := w.calls.do("GET", "/v1/watch?kind=thunderbolt", "", "Last-Event-ID", known)
	name, _, _ := event(t, bufio.NewReader(got.Body))
	is.Equal(name, "result")
	w.last = known
	w.connect() // this is resumed
	w.read()
	was := w.last
	for round := range uint64(42) { // more documents than are kept
		var many []api.Document
		for i := range 100 {
			many = append(many, port(t, i, round))
		}
		a.Facts.Put(append(many, memory(t, 11+round))...)
		w.readUp(11 + round)
	}
	w.answer.Body.Close()
	before := w.snapshots
	w.last = was
	w.connect()
	w.read()
	is.Equal(w.snapshots, before+1)
	w.answer.Body.Close()
	for range 64 { // others come, and what is kept of the first is gone
		w.last = ""
		w.connect()
		w.answer.Body.Close()
	}
	w.last = known
	before = w.snapshots
	w.connect()
	w.read()
	is.Equal(w.snapshots, before+1)
}
