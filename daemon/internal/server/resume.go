package server

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fulmen/daemon/api"
)

const (
	// maxWatchLogs bounds the streams that can be resumed, maxLogged the documents in the last
	// events of one, and maxLogBytes what is kept of one; of more it is begun with a snapshot.
	maxWatchLogs = 64
	maxLogged    = 4096
	maxLogBytes  = 2 << 20
	// maxLogsBytes bounds what is kept in all.
	maxLogsBytes = 8 << 20
)

// watchLogs are the watches by server-sent events that can be resumed, the latest last. Their
// ids are random, so that none of another run of the daemon is taken for one of this.
type watchLogs struct {
	mu   sync.Mutex
	list []*watchLog
}

// open makes the log of a watch: one that goes on from the event with an id, where that is
// kept and of the same person and documents.
func (w *watchLogs) open(uid uint32, params, last string) *watchLog {
	l := &watchLog{id: rand.Text(), uid: uid, params: params, has: map[api.Key]uint64{}, from: 1}
	of, number, _ := strings.Cut(last, ".")
	n, err := strconv.ParseUint(number, 10, 64)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, before := range w.list {
		if err == nil && before.id == of && before.uid == uid && before.params == params {
			l.old = before.after(n)
		}
	}
	maps.Copy(l.has, l.old)
	for key := range l.has {
		l.bytes += keyBytes(key)
	}
	w.list = append(w.list, l)
	total := 0
	for i, one := range slices.Backward(w.list) {
		if total += one.size(); len(w.list)-i > maxWatchLogs || total > maxLogsBytes {
			for _, old := range w.list[:i+1] {
				old.forget()
			}
			w.list = slices.Delete(w.list, 0, i+1)
			break
		}
	}
	return l
}

// watchLog is which documents a watch's client has by the events that were sent to it.
type watchLog struct {
	id, params string
	uid        uint32
	// old is what a client that has come back had, until it has been compared with the whole snapshot.
	old map[api.Key]uint64

	mu     sync.Mutex
	has    map[api.Key]uint64 // hashed; 0 = it may have any version of it, or none
	n      uint64             // the last event
	logged []logged           // of the last events
	from   uint64             // the event after which all are in there
	bytes  int
	isOver bool // it was too much
}

// logged is a document in an event.
type logged struct {
	n   uint64
	key api.Key
}

func (l *watchLog) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes
}

// forget keeps nothing any more: it cannot be resumed.
func (l *watchLog) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetLocked()
}

func (l *watchLog) forgetLocked() { l.isOver, l.has, l.logged, l.bytes = true, nil, nil, 0 }

// after is what the client has that has read up to an event; nil where that is not known.
func (l *watchLog) after(n uint64) map[api.Key]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isOver || n < l.from || n > l.n {
		return nil
	}
	has := maps.Clone(l.has)
	for _, one := range l.logged {
		if one.n > n {
			has[one.key] = 0
		}
	}
	return has
}

var hashSeed = maphash.MakeSeed()

// take notes an event before it is sent, and gives its id. Of the snapshot of one who has come
// back it leaves what the client lacks.
func (l *watchLog) take(c *stateChanged) (id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	put := c.Put[:0:0]
	for _, raw := range c.Put {
		var key api.Key
		_ = json.Unmarshal(raw, &key) // the daemon's own
		hash := cmp.Or(maphash.Bytes(hashSeed, raw), 1)
		if l.old == nil || l.old[key] != hash {
			put = append(put, raw)
			l.noteLocked(key, hash)
		}
		delete(l.old, key)
	}
	c.Put = put
	if l.old != nil && !c.More && !c.Lagged {
		c.Del = slices.SortedFunc(maps.Keys(l.old), api.Key.Compare)
		l.old = nil
	}
	for _, key := range c.Del {
		if l.noteLocked(key, 0); !l.isOver {
			l.bytes -= keyBytes(key)
			delete(l.has, key)
		}
	}
	if l.bytes > maxLogBytes {
		l.forgetLocked()
	}
	return fmt.Sprintf("%s.%d", l.id, l.n)
}

// noteLocked notes a document of the last event.
func (l *watchLog) noteLocked(key api.Key, hash uint64) {
	if l.isOver {
		return
	}
	if _, isKnown := l.has[key]; !isKnown {
		l.bytes += keyBytes(key)
	}
	l.has[key] = hash
	if l.n == 1 { // nobody comes back from before it
		return
	}
	l.logged = append(l.logged, logged{l.n, key})
	l.bytes += keyBytes(key)
	for len(l.logged) > maxLogged {
		l.from = l.logged[0].n
		l.bytes -= keyBytes(l.logged[0].key)
		l.logged = l.logged[1:]
	}
}
