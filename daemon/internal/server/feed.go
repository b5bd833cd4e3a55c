package server

import (
	"encoding/json"
	"errors"
	"strconv"
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
	rest    [][]byte // of the snapshot
	order   []api.Key
	changed map[api.Key][]byte // nil = gone
	stale   []byte             // nil = did not change
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
		f.stale, _ = json.Marshal(c.Stale) // strings only
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
func (f *feed) put(key api.Key, raw []byte) {
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
	f.rest, f.order, f.changed, f.stale = nil, nil, map[api.Key][]byte{}, nil
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
		return f.message(`,"lagged":true`), false
	case len(f.rest) > 0:
		docs, rest := fill(f.rest, 0)
		f.rest = rest
		more := ""
		if len(rest) > 0 {
			more = `,"more":true`
		}
		return f.numbered(docs, nil, nil, more), len(rest) > 0 || f.waits()
	case !f.waits():
		return nil, false
	}
	put, del := f.take()
	stale := f.stale
	f.stale = nil
	return f.numbered(put, del, stale, ""), f.waits()
}

func (f *feed) waits() bool { return len(f.order) > 0 || f.stale != nil }

// take takes as many changes out as fit a message.
func (f *feed) take() (put, del [][]byte) {
	size, i := len(f.stale), 0
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
			put = append(put, raw)
			continue
		}
		gone, _ := json.Marshal(key) // strings only
		del = append(del, gone)
	}
	f.order = f.order[i:]
	if len(f.order) == 0 {
		f.order = nil
	}
	return put, del
}

func (f *feed) numbered(put, del [][]byte, stale []byte, tail string) []byte {
	f.n++
	out := append([]byte(`,"n":`), strconv.AppendUint(nil, f.n, 10)...)
	out = appendList(out, "put", put)
	out = appendList(out, "del", del)
	if stale != nil {
		out = append(append(out, `,"stale":`...), stale...)
	}
	return f.message(string(append(out, tail...)))
}

func (f *feed) message(fields string) []byte {
	return notification(f.sub.notifies, []byte(`{"sub":"`+string(f.sub.id)+`"`+fields+`}`))
}

// keyBytes is what a key takes on the wire, at most: its name may need escapes.
func keyBytes(k api.Key) int { return len(k.Node) + len(k.Kind) + 6*len(k.Name) + 32 }

// fill gives as many documents as fit a message beside its envelope and some
// more bytes, and the others. One always fits: api.MaxValueBytes sees to that.
func fill(docs [][]byte, beside int) (some, others [][]byte) {
	size := beside
	for i, raw := range docs {
		size += len(raw) + 1
		if size > api.MaxMessageBytes-envelopeBytes && i > 0 {
			return docs[:i], docs[i:]
		}
	}
	return docs, nil
}

// appendList adds a field with an array, unless it is empty.
func appendList(out []byte, name string, items [][]byte) []byte {
	if len(items) == 0 {
		return out
	}
	out = append(out, `,"`+name+`":`...)
	return appendArray(out, items)
}

func appendArray(out []byte, items [][]byte) []byte {
	out = append(out, '[')
	for i, raw := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return append(out, ']')
}
