package ledger

// queue holds items in the order in which their keys began to wait. Places are
// counted from the queue's beginning of time, so that they stay what they are
// while the front is taken off.
type queue struct {
	items []item
	base  int // the place of items[0]
}

// push adds an item and returns its place.
func (q *queue) push(it item) int {
	q.items = append(q.items, it)
	return q.base + len(q.items) - 1
}

// replace puts a newer version in an item's place, which waits no less for that.
func (q *queue) replace(place int, it item) {
	old := &q.items[place-q.base]
	it.since = old.since
	*old = it
}

// drop takes n items off the front. The room of an emptied queue is used again
// unless a burst made it large.
func (q *queue) drop(n int) {
	clear(q.items[:n])
	q.base += n
	switch {
	case n < len(q.items):
		q.items = q.items[n:]
	case cap(q.items) > 256:
		q.items = nil
	default:
		q.items = q.items[:0]
	}
}
