package attach

import (
	"context"
	"math"
	"slices"

	"fulmen/daemon/api"
)

// give keeps a piece, as soon as it is the client's turn and there is room.
func (f *feed) give(ctx context.Context, by api.Principal, p api.JobInputParams, attempt int) (api.JobInputResult, error) {
	select {
	case f.giving <- struct{}{}:
	case <-ctx.Done():
		return api.JobInputResult{}, context.Cause(ctx)
	}
	defer func() { <-f.giving }()
	for {
		changed, end, done, err := f.take(by, &p, attempt)
		if done || err != nil {
			return api.JobInputResult{OffsetBytes: end}, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return api.JobInputResult{}, context.Cause(ctx)
		}
	}
}

// take keeps as much of a piece as there is room for, and reports whether that
// was all, and where all input ends then; otherwise there is something to wait
// for. A piece that is to follow all input gets its place.
func (f *feed) take(by api.Principal, p *api.JobInputParams, attempt int) (changed <-chan struct{}, end int64, done bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return nil, 0, false, f.failed
	}
	if !f.place(p, attempt) {
		return f.changed, 0, false, nil
	}
	end = f.start + int64(len(f.kept))
	switch after := p.OffsetBytes + int64(len(p.Data)); {
	case p.Giver != f.client:
		return nil, 0, false, api.NewError(api.ReasonInputElsewhere, f.id.String())
	case p.OffsetBytes < 0 || p.OffsetBytes > end:
		return nil, 0, false, api.Errorf(api.ReasonBadValue, "offset_bytes", "%s was given input up to %d, and the piece begins at %d.", f.id, end, p.OffsetBytes)
	case p.End && after < end:
		return nil, 0, false, api.Errorf(api.ReasonBadValue, "end", "%s was given input up to %d, and cannot end at %d.", f.id, end, after)
	case f.ended && after > end:
		return nil, 0, false, api.Errorf(api.ReasonBadValue, "data", "%s was told that its input ends at %d.", f.id, end)
	}
	data := p.Data[min(end-p.OffsetBytes, int64(len(p.Data))):]
	f.by = by
	if len(f.kept)+len(data) > MaxKept {
		f.letGo()
	}
	n := min(len(data), MaxKept-len(f.kept))
	f.kept = append(f.kept, data[:n]...)
	done = n == len(data)
	if ends := done && p.End && !f.ended; ends || n > 0 {
		f.ended = f.ended || ends
		f.notify()
	}
	return f.changed, f.start + int64(len(f.kept)), done, nil
}

// place begins the feed with the first piece, and gives one its place that is to
// follow all input. It reports false while that is not known: a daemon that was
// started again, or is another one than the input was given to before, is told by
// the ranks how far they are.
func (f *feed) place(p *api.JobInputParams, attempt int) bool {
	if p.OffsetBytes != api.InputAfterAll {
		if !f.begun { // it may begin in the middle
			f.begun, f.start, f.client = true, p.OffsetBytes, p.Giver
		}
		return true
	}
	if !f.begun {
		front := int64(0)
		for _, taken := range f.takers {
			if taken == reportedNothing {
				return false
			}
			front = max(front, taken)
		}
		if f.attempt < attempt {
			return false
		}
		f.begun, f.start = true, front
	}
	f.client, p.OffsetBytes = p.Giver, f.start+int64(len(f.kept))
	return true
}

// letGo drops what every rank of the attempt has taken.
func (f *feed) letGo() {
	if len(f.takers) == 0 {
		return
	}
	front := int64(math.MaxInt64)
	for _, taken := range f.takers {
		front = min(front, taken)
	}
	if gone := min(front-f.start, int64(len(f.kept))); gone > 0 {
		f.kept = slices.Delete(f.kept, 0, int(gone))
		f.start += gone
	}
}
