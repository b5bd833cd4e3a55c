package sidechannel

import (
	"time"

	"fulmen/daemon/api"
)

const (
	// earlyWithin is how long a stream waits for the rank 0 that it is for. Its node
	// opens another one then.
	earlyWithin = 5 * time.Minute
	// earlyMost is how many streams of one node may wait.
	earlyMost = 64
)

// early are streams that came before the rank 0 that they are for, by its name.
type early map[api.RankRef][]*joiner

// add takes a stream, unless its node has too many here.
func (e early) add(j *joiner) bool {
	n := 0
	for _, waiting := range e {
		for _, o := range waiting {
			if o.from == j.from {
				n++
			}
		}
	}
	if n >= earlyMost {
		return false
	}
	root := rootOf(j.ref)
	e[root] = append(e[root], j)
	return true
}

// take gives those that are for a rank 0 which is here now.
func (e early) take(root api.RankRef) []*joiner {
	all := e[root]
	delete(e, root)
	return all
}

func (e early) remove(j *joiner) {
	root := rootOf(j.ref)
	var left []*joiner
	for _, o := range e[root] {
		if o != j {
			left = append(left, o)
		}
	}
	delete(e, root)
	if len(left) > 0 {
		e[root] = left
	}
}

func (e early) all() []*joiner {
	var all []*joiner
	for _, waiting := range e {
		all = append(all, waiting...)
	}
	return all
}
