package server

import (
	"encoding/json"
	"errors"
	"sync"

	"fulmen/daemon/api"
)

// envelopeBytes is more than a message needs beside its documents.
const envelopeBytes = 256

// feed is one state.watch: the rest of its snapshot, and the changes that its
// client has not read, the latest of each document.
type feed struct {
	sub   *subscription
	limit int // bytes of changes that may wait

	mu      sync.Mutex
	n       uint64
	rest    []json.RawMessage // of the snapshot
	order   []api.Key
	changed map[api.Key]json.RawMessage // nil = gone
	stale   []api.NodeID                // nil = did not change
	bytes   int
	lagged  bool
}

// pump moves changes from their source into the feed until either ends. It
// always takes what is there, so that a slow client is this feed's concern.
func (f *feed) pump(changes Changes) {
	defer changes.Close()
	for {
		change, err := changes.Next(f.sub.ctx)
		if f.sub.over() {
			return
		}
		if err != nil {
			if !errors.Is(err, api.ReasonLagged) {
				f.sub.conn.log().Warn("a watch ended", "error", err)
			}
			f.lag()
			return
		}
		if !f.add(change) {
			return
		}
	}
}

// add merges a change, and reports whether the feed goes on.
func (f *feed) add(c Change) bool {
	f.mu.Lock()
	for _, d := range c.Put {
		if d.Deleted() {
			f.put(d.Key(), nil)
			continue
		}
		raw, err := d.JSON()
		if err != nil { // the writer checked it: a defect, not a reason to go on with a gap
			f.sub.conn.log().Error("a document could not be encoded", "document", d.Key().String(), "error", err)
			f.bytes = f.limit + 1
			break
		}
		f.put(d.Key(), raw)
	}
	for _, key := range c.Del {
		f.put(key, nil)
	}
	if c.Stale != nil {
		f.stale = c.Stale
	}
	over := f.bytes > f.limit
	f.mu.Unlock()
	if over {
		f.lag()
		return false
	}
	f.sub.ready()
	return true
}

// put keeps the latest of a key, at the place of the first.
func (f *feed) put(key api.Key, raw json.RawMessage) {
	old, waits := f.changed[key]
	if !waits {
		f.order = append(f.order, key)
		f.bytes += keyBytes(key)
	}
	f.bytes += len(raw) - len(old)
	f.changed[key] = raw
}

// lag drops what waits: the client is told, and takes a new snapshot.
func (f *feed) lag() {
	f.mu.Lock()
	f.lagged = true
	f.rest, f.order, f.changed, f.stale = nil, nil, map[api.Key]json.RawMessage{}, nil
	f.mu.Unlock()
	f.sub.ready()
}

// Next is the outbox's. The snapshot comes before the changes.
func (f *feed) Next() ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.sub.over():
		return nil, false
	case f.lagged:
		f.sub.end()
		return f.message(stateChanged{Lagged: true}), false
	case len(f.rest) > 0:
		docs, rest := fill(f.rest, 0)
		f.rest = rest
		return f.numbered(stateChanged{Put: docs, More: len(rest) > 0}), len(rest) > 0 || f.waits()
	case !f.waits():
		return nil, false
	}
	c := f.take()
	return f.numbered(c), f.waits()
}

func (f *feed) waits() bool { return len(f.order) > 0 || f.stale != nil }

// stateChanged is api.StateChanged with encoded documents.
type stateChanged struct {
	Sub    api.Subscription  `json:"sub"`
	N      uint64            `json:"n,omitempty"`
	Put    []json.RawMessage `json:"put,omitempty"`
	Del    []api.Key         `json:"del,omitempty"`
	Stale  []api.NodeID      `json:"stale,omitzero"`
	More   bool              `json:"more,omitempty"`
	Lagged bool              `json:"lagged,omitempty"`
}

// take takes as many changes out as fit a message.
func (f *feed) take() stateChanged {
	c := stateChanged{Stale: f.stale}
	f.stale = nil
	size, i := len(c.Stale)*staleBytes, 0
	for ; i < len(f.order); i++ {
		key := f.order[i]
		raw := f.changed[key]
		size += max(len(raw), keyBytes(key)) + 1
		if size > api.MaxMessageBytes-envelopeBytes && i > 0 {
			break
		}
		delete(f.changed, key)
		f.bytes -= len(raw) + keyBytes(key)
		if raw != nil {
			c.Put = append(c.Put, raw)
		} else {
			c.Del = append(c.Del, key)
		}
	}
	f.order = f.order[i:]
	if len(f.order) == 0 {
		f.order = nil
	}
	return c
}

func (f *feed) numbered(c stateChanged) []byte {
	f.n++
	c.N = f.n
	return f.message(c)
}

func (f *feed) message(c stateChanged) []byte {
	c.Sub = f.sub.id
	text, _ := notification(f.sub.notifies, c) // documents were encoded before, and the rest is strings
	return text
}

// keyBytes is what a key takes on the wire, at most: its name may need escapes.
func keyBytes(k api.Key) int { return len(k.Node) + len(k.Kind) + 6*len(k.Name) + 32 }

// fill gives as many documents as fit a message beside its envelope and some
// more bytes, and the others. One always fits: api.MaxValueBytes sees to that.
func fill(docs []json.RawMessage, beside int) (some, others []json.RawMessage) {
	size := beside
	for i, raw := range docs {
		size += len(raw) + 1
		if size > api.MaxMessageBytes-envelopeBytes && i > 0 {
			return docs[:i], docs[i:]
		}
	}
	return docs, nil
}
