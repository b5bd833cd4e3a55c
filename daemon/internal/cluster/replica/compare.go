package replica

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// digestResult is api.PeerDigestResult with documents as bytes.
type digestResult struct {
	Same         bool              `json:"same,omitempty"`
	RosterSHA256 string            `json:"roster_sha256,omitempty"`
	Have         []api.NodeVersion `json:"have,omitempty"`
	Docs         []json.RawMessage `json:"docs,omitempty"`
	Offer        []api.KeyVersion  `json:"offer,omitempty"`
	Want         []api.Key         `json:"want,omitempty"`
	More         bool              `json:"more,omitempty"`
}

// runComparison compares with a neighbour and plans what has to follow.
func (r *Replica) runComparison(p *peer) {
	r.meet()
	again, err := r.compare(p)
	r.mu.Lock()
	c := &p.compare
	c.isRunning = false
	isWanted := c.isWanted
	c.isWanted = false
	if p.isGone() {
		r.mu.Unlock()
		return
	}
	if err != nil {
		r.fallBehind(p)
		r.mu.Unlock()
		r.complaints(p.node).Warn("a neighbour could not be compared with", "error", err)
		return
	}
	p.failures = 0
	if isWanted {
		r.compareSoon(p, r.timing.Stagger)
	}
	if again > 0 {
		r.compareSoon(p, again)
	}
	r.mu.Unlock()
}

// compare compares once; again is when to do so once more, 0 if not.
func (r *Replica) compare(p *peer) (again time.Duration, err error) {
	r.mu.Lock()
	c := &p.compare
	isUrgent, isForced := c.isUrgent, c.isForced
	c.isUrgent, c.isForced = false, false
	agreed, agreedRoster := c.agreed, c.agreedRoster
	// From here on what is queued is sent, and what was dropped is compared.
	p.isBehind = false
	r.mu.Unlock()

	mine, head := r.inventory(), string(r.roster().Head())
	if !isForced && mine.sum == agreed && head == agreedRoster {
		return 0, nil
	}
	var answer digestResult
	if err := r.call(p, methodDigest, api.PeerDigestParams{SHA256: mine.sum, RosterSHA256: head, Have: []api.NodeVersion{}}, &answer); err != nil {
		return 0, err
	}
	if answer.RosterSHA256 != head {
		if err := r.exchangeRoster(p, nil); err != nil {
			return 0, err
		}
		mine = r.inventory() // with other members
	} else if answer.Same {
		r.mu.Lock()
		c.agreed, c.agreedRoster, c.differed, c.rounds = mine.sum, head, nil, 0
		r.mu.Unlock()
		return 0, nil
	}
	return r.mend(p, &mine, answer.Have, isUrgent)
}

// maxParts is how many times in a row what did not fit a message is asked for:
// a neighbour that refuses what it wants would be asked for ever.
const maxParts = 64

// mend evens out what differs. Where news is on its way a difference goes by
// itself: unless it is urgent, only what differs as it did a moment ago counts.
func (r *Replica) mend(p *peer, mine *inventory, there []api.NodeVersion, isUrgent bool) (again time.Duration, err error) {
	differing := mine.differing(there)
	r.mu.Lock()
	c := &p.compare
	before, rounds := c.differed, c.rounds
	c.differed, c.rounds = differing, rounds+1
	r.mu.Unlock()
	const patience = 2
	if !isUrgent && rounds < patience {
		lasting := map[api.NodeID][2]string{}
		for node, pair := range differing {
			if before[node] == pair {
				lasting[node] = pair
			}
		}
		if len(lasting) < len(differing) {
			again = 2 * r.timing.Relay
		}
		differing = lasting
	}
	if again == 0 {
		r.mu.Lock()
		c.differed, c.rounds = nil, 0
		r.mu.Unlock()
	}
	if len(differing) == 0 {
		return again, nil
	}
	isMore, err := r.compareKeys(p, mine, slices.Sorted(maps.Keys(differing)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.parts++; !isMore || c.parts > maxParts {
		c.parts = 0
		return again, err
	}
	c.isUrgent, c.isForced = true, true
	return r.timing.Stagger, err
}

// compareKeys tells the versions of all documents of some nodes, in parts that
// fit a message, and takes and gives what is newer.
func (r *Replica) compareKeys(p *peer, mine *inventory, nodes []api.NodeID) (isMore bool, err error) {
	params := api.PeerDigestParams{Have: []api.NodeVersion{}}
	var recs []*ledger.Record
	for _, node := range nodes {
		h := mine.of(node)
		params.Have = append(params.Have, h.NodeVersion)
		recs = append(recs, h.recs...)
	}
	for isLast := false; !isLast; {
		n, room := 0, messageBytes
		params.Versions, params.Upto = nil, nil
		for ; n < len(recs); n++ {
			if room -= offerBytes(recs[n].Key()); room < 0 {
				break
			}
			params.Versions = append(params.Versions, held(recs[n]))
		}
		if recs = recs[n:]; len(recs) > 0 {
			params.Upto = &params.Versions[n-1].Key
		}
		isLast = params.Upto == nil
		var answer digestResult
		if err := r.call(p, methodDigest, params, &answer); err != nil {
			return false, err
		}
		news := r.take(p.node, answer.Docs)
		isMore = isMore || answer.More && !news.isFull // what there is no room for would be given again
		r.passOn(p.node, news.taken, nil, true)
		r.pullOffered(p.node, answer.Offer, nil, true)
		r.give(p, answer.Want)
		params.After = params.Upto
	}
	return isMore, nil
}

// give queues what a neighbour wants.
func (r *Replica) give(p *peer, keys []api.Key) {
	for _, key := range keys {
		rec, isHeld := r.ledger.Latest(key)
		if !isHeld || !moves(key.Kind) {
			continue
		}
		r.mu.Lock()
		r.queue(p, func(o *outbox) bool { return o.add(parcel{rec: rec, isRepair: true}) })
		r.mu.Unlock()
	}
}
