package replica

import (
	"encoding/json"

	"fulmen/daemon/api"
)

// maxConfronts is how many documents of one writer are told about in that time: it
// says all of them again after the first.
const maxConfronts = 8

// confront brings a document to its writer that has used its version twice: a
// node that was set back to an older disk, and wrote before it met anybody who knew
// better. It answers with an incarnation above both. Nobody else can say which
// of the two counts; so whoever is no neighbour of the writer tells its own
// neighbours, once a minute at most, until one is.
func (r *Replica) confront(from api.NodeID, key api.Key, raw json.RawMessage) {
	now := r.clock.Boot()
	r.mu.Lock()
	defer r.mu.Unlock()
	recent := 0 // of this writer
	for k, at := range r.confronted {
		if now-at > r.timing.Period {
			delete(r.confronted, k)
		} else if k.Node == key.Node {
			recent++
		}
	}
	if _, isDone := r.confronted[key]; isDone || recent >= maxConfronts {
		return
	}
	r.confronted[key] = now
	whom := r.neighboursLocked(func(p *peer) bool { return p.node != from })
	if p := r.peers[key.Node]; p != nil {
		whom = []*peer{p}
	}
	for _, p := range whom {
		r.spawnLocked(func() {
			if err := r.call(p, methodPut, putParams{Docs: []json.RawMessage{raw}}, &api.PeerPutResult{}); err != nil {
				r.complaints(p.node).Warn("a neighbour could not be told of a version that was used twice", "error", err)
			}
		})
	}
}
