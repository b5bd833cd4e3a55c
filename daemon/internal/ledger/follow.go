package ledger

import (
	"context"
	"errors"

	"fulmen/daemon/api"
)

// Follower is a subscription that goes on where a [Watcher] lagged and ended: it begins
// anew, and gives all documents as they are then. It is for one goroutine at a time.
type Follower struct {
	ledger  *Ledger
	options WatchOptions
	watcher *Watcher
}

// Follow gives the documents that the filter covers, and a follower for everything that
// changes after. The caller reads with Next and must Close.
func (l *Ledger) Follow(o WatchOptions) ([]*Record, *Follower) {
	f := &Follower{ledger: l, options: o}
	return f.begin(), f
}

// FollowEach gives see the documents that the filter covers, and every change after,
// until ctx ends; the error is its cause.
func (l *Ledger) FollowEach(ctx context.Context, o WatchOptions, see func(Change)) error {
	found, f := l.Follow(o)
	return f.Each(ctx, found, see)
}

func (f *Follower) begin() (found []*Record) {
	found, f.watcher = f.ledger.Watch(f.options)
	return found
}

// Each gives see what was found when the follower was made, and every change after, until
// ctx ends, and closes the follower; the error is the cause of ctx.
func (f *Follower) Each(ctx context.Context, found []*Record, see func(Change)) error {
	defer f.Close()
	for change := (Change{Put: found, Whole: true}); ; {
		see(change)
		var err error
		if change, err = f.Next(ctx); err != nil {
			return err
		}
	}
}

// Next waits for the next change. Its error is the context's.
func (f *Follower) Next(ctx context.Context) (Change, error) {
	change, err := f.watcher.Next(ctx)
	if !errors.Is(err, api.ReasonLagged) {
		return change, err
	}
	f.Close()
	return Change{Put: f.begin(), Whole: true}, nil
}

// Close ends the subscription. It may be repeated.
func (f *Follower) Close() { f.watcher.Close() }
