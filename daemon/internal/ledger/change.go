package ledger

import (
	"time"

	"fulmen/daemon/api"
)

// Change is what happened since the one before.
type Change struct {
	// N numbers the changes of one watcher, from 1 without a gap.
	N uint64
	// Whole says that Put are all documents, as they are at the beginning and after a
	// [Follower] lagged. What is gone meanwhile is not named.
	Whole bool
	// Put are the new and changed documents, each in its latest version.
	Put []*Record
	// Del are the documents that are gone; the watcher may never have seen one
	// that came and went between two changes.
	Del []api.Key
}

// item is the latest of one key on its way to a watcher.
type item struct {
	key    api.Key
	rec    *Record // nil: forgotten
	isLive bool
	since  time.Time // when the key began to wait
}

func (it *item) sizeBytes() int {
	if it.rec == nil {
		return envelopeBytes + 6*len(it.key.Name)
	}
	return it.rec.SizeBytes()
}

func (it *item) tapEvent(by string, now time.Time) TapEvent {
	e := TapEvent{At: now, Type: TapForget, By: by, Key: it.key}
	if it.rec != nil {
		e.Type, e.Version = TapPut, it.rec.Version()
		if it.rec.doc.Deleted {
			e.Type = TapDelete
		}
	}
	return e
}
