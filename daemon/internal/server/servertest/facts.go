package servertest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/native/waker"
)

// Facts is a server.Facts in memory. Everybody sees everything.
type Facts struct {
	mu      sync.Mutex
	docs    map[api.Key]*record
	stale   []api.NodeID
	watches map[*watch]struct{}
}

// NewFacts has no documents.
func NewFacts() *Facts {
	return &Facts{docs: map[api.Key]*record{}, watches: map[*watch]struct{}{}}
}

// Put stores documents and tells the watchers.
func (f *Facts) Put(docs ...api.Document) {
	f.mu.Lock()
	defer f.mu.Unlock()
	put := make([]server.Record, 0, len(docs))
	for _, d := range docs {
		r := &record{doc: d}
		f.docs[d.Key()] = r
		put = append(put, r)
	}
	f.notify(server.Change{Put: put})
}

// Delete removes documents and tells the watchers.
func (f *Facts) Delete(keys ...api.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keys {
		delete(f.docs, k)
	}
	f.notify(server.Change{Del: keys})
}

// SetStale says which nodes are not reached.
func (f *Facts) SetStale(nodes ...api.NodeID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stale = nodes
	f.notify(server.Change{Stale: append([]api.NodeID{}, nodes...)})
}

// Lag ends every watch, as if its reader had been too slow.
func (f *Facts) Lag() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.watches {
		close(w.lag)
		delete(f.watches, w)
	}
}

// Watches counts the watches that are open now.
func (f *Facts) Watches() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watches)
}

// Snapshot implements server.Facts.
func (f *Facts) Snapshot(_ context.Context, _ server.Viewer, sel api.StateSelect) (server.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot(sel)
}

// Watch implements server.Facts.
func (f *Facts) Watch(_ context.Context, _ server.Viewer, sel api.StateSelect, _ string) (server.Snapshot, server.Changes, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	snapshot, err := f.snapshot(sel)
	if err != nil {
		return server.Snapshot{}, nil, err
	}
	w := &watch{facts: f, sel: sel, wake: waker.New(), lag: make(chan struct{})}
	f.watches[w] = struct{}{}
	return snapshot, w, nil
}

func (f *Facts) snapshot(sel api.StateSelect) (server.Snapshot, error) {
	for _, n := range sel.Nodes {
		if !api.NodeID(n).Valid() {
			return server.Snapshot{}, api.NewError(api.ReasonNoSuchNode, string(n))
		}
	}
	out := server.Snapshot{Stale: f.stale}
	for _, d := range f.docs {
		if selected(sel, d.Key()) {
			out.Docs = append(out.Docs, d)
		}
	}
	return out, nil
}

func (f *Facts) notify(c server.Change) {
	for w := range f.watches {
		w.take(c)
	}
}

func selected(sel api.StateSelect, k api.Key) bool {
	return (len(sel.Kinds) == 0 || slices.Contains(sel.Kinds, k.Kind)) &&
		(len(sel.Nodes) == 0 || slices.Contains(sel.Nodes, api.NodeRef(k.Node)))
}

// watch is one reader, with what it has not read.
type watch struct {
	facts *Facts
	sel   api.StateSelect
	wake  waker.Waker
	lag   chan struct{}

	mu      sync.Mutex
	waiting server.Change
}

// take merges a change: the latest of each key.
func (w *watch) take(c server.Change) {
	w.mu.Lock()
	for _, d := range c.Put {
		if selected(w.sel, d.Key()) {
			w.drop(d.Key())
			w.waiting.Put = append(w.waiting.Put, d)
		}
	}
	for _, k := range c.Del {
		if selected(w.sel, k) {
			w.drop(k)
			w.waiting.Del = append(w.waiting.Del, k)
		}
	}
	if c.Stale != nil {
		w.waiting.Stale = c.Stale
	}
	w.mu.Unlock()
	w.wake.Wake()
}

func (w *watch) drop(k api.Key) {
	w.waiting.Put = slices.DeleteFunc(w.waiting.Put, func(r server.Record) bool { return r.Key() == k })
	w.waiting.Del = slices.DeleteFunc(w.waiting.Del, func(o api.Key) bool { return o == k })
}

// Next implements server.Changes.
func (w *watch) Next(ctx context.Context) (server.Change, error) {
	for {
		w.mu.Lock()
		c := w.waiting
		w.waiting = server.Change{}
		w.mu.Unlock()
		if len(c.Put) > 0 || len(c.Del) > 0 || c.Stale != nil {
			return c, nil
		}
		select {
		case <-w.wake:
		case <-w.lag:
			return server.Change{}, api.NewError(api.ReasonLagged, "")
		case <-ctx.Done():
			return server.Change{}, ctx.Err()
		}
	}
}

// Close implements server.Changes.
func (w *watch) Close() {
	w.facts.mu.Lock()
	defer w.facts.mu.Unlock()
	delete(w.facts.watches, w)
}

// Node is a node id that passes its checks.
const Node api.NodeID = "cpv0cwypxp44qw0p"

// Document makes a document of Node.
func Document(t testing.TB, kind api.Kind, name string, seq uint64, value any) api.Document {
	t.Helper()
	d := api.Document{Node: Node, Kind: kind, Name: name, Inc: 1, Seq: seq, At: api.TimeOf(time.Unix(1_800_000_000, 0))}
	check(t, d.SetValue(value))
	return d
}

// record is a document that is encoded once.
type record struct {
	doc  api.Document
	once sync.Once
	raw  []byte
	err  error
}

func (r *record) Key() api.Key  { return r.doc.Key() }
func (r *record) Deleted() bool { return r.doc.Deleted }

func (r *record) JSON() (json.RawMessage, error) {
	r.once.Do(func() { r.raw, r.err = r.doc.MarshalJSON() })
	return r.raw, r.err
}
