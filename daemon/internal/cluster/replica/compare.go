package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"slices"
	"sync"
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
	isUrgent, isHinted, isForced := c.isUrgent, c.isHinted, c.isForced
	c.isUrgent, c.isHinted, c.isForced = false, false, false
	isForced = isForced || len(c.differs) > 0
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
		c.agreed, c.agreedRoster, c.differs = mine.sum, head, nil
		r.mu.Unlock()
		return 0, nil
	}
	return r.mend(p, &mine, answer.Have, isUrgent, isHinted)
}

// maxParts is how many times in a row what did not fit a message is asked for:
// a neighbour that refuses what it wants would be asked for ever.
const maxParts = 64

// mend evens out what the two have written, and takes what else this node lacks. Of what
// the neighbour lacks of others it is told to ask itself, which knows who tells it anyway.
// Unless it is urgent, what is most likely on its way is left alone.
func (r *Replica) mend(p *peer, mine *inventory, there []api.NodeVersion, isUrgent, isHinted bool) (again time.Duration, err error) {
	moment := 2 * r.timing.Relay
	r.mu.Lock()
	c := &p.compare
	now := r.clock.Boot()
	var nodes []api.NodeID
	left := map[api.NodeID]difference{}
	isAhead := false
	for node, d := range mine.differing(there) {
		was, isOld := c.differs[node]
		if !isOld {
			was, was.since = d, now
		}
		took := now - was.since
		isLong := took >= r.timing.Tell
		isDue := isUrgent || isHinted || isLong || took >= moment && d.lasts(was)
		isOwn := node == r.self || node == p.node
		isTold := !isOwn && r.peers[node] != nil // by the writer, who sees to it where that fails
		switch {
		case isDue && (isOwn || d.isBehind() && (!isTold || isLong)):
			nodes = append(nodes, node)
			continue
		case isDue && d.isAhead():
			isAhead = true
		}
		if !isDue || d.isBehind() {
			left[node] = was
			look := max(moment, took)
			if isTold && (isDue || !d.isAhead()) {
				look = r.timing.Tell - took
			}
			if again == 0 || look < again {
				again = look
			}
		}
	}
	c.differs = left
	if isAhead && !isHinted {
		r.queue(p, func(o *outbox) bool { return o.hint(r.self) })
	}
	r.mu.Unlock()
	if len(nodes) == 0 {
		return again, nil
	}
	slices.Sort(nodes)
	isMore, err := r.compareKeys(p, mine, nodes)
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

// inventory is all documents that go by themselves, as they are at one moment. It is
// not changed once it is made.
type inventory struct {
	nodes []*holding
	// sum is the hash over everything.
	sum string
}

// holding is what is held of one node.
type holding struct {
	api.NodeVersion
	recs []*ledger.Record // ordered by key
	// deleted are the deletions, and old which of them were about to be forgotten.
	deleted []*ledger.Record
	old     []bool
}

// stock keeps the inventory that was taken last: of a node of which nothing has come
// since, all of it holds.
type stock struct {
	mu       sync.Mutex
	shelves  []ledger.Shelf
	holdings []*holding // of each shelf
	last     inventory
}

// inventory takes stock. Documents of whoever is no member are left out.
func (r *Replica) inventory() inventory {
	roster := r.roster()
	now := r.clock.Now()
	r.stock.mu.Lock()
	defer r.stock.mu.Unlock()
	s := &r.stock
	shelves := r.ledger.Shelves(s.shelves)
	holdings := make([]*holding, len(shelves))
	var all inventory
	before := 0
	for i, shelf := range shelves {
		for before < len(s.shelves) && s.shelves[before].Node < shelf.Node {
			before++
		}
		if before < len(s.shelves) && s.shelves[before].IsSame(shelf) && s.holdings[before].holds(now) {
			holdings[i] = s.holdings[before]
		} else {
			holdings[i] = hold(shelf, now)
		}
		if len(holdings[i].recs) > 0 && roster.IsMember(shelf.Node) {
			all.nodes = append(all.nodes, holdings[i])
		}
	}
	s.shelves, s.holdings = shelves, holdings
	if all.sum = s.last.sum; all.sum == "" || !slices.Equal(all.nodes, s.last.nodes) {
		sum := sha256.New()
		for _, h := range all.nodes {
			sum.Write([]byte(h.Node))
			sum.Write([]byte(h.SHA256))
		}
		all.sum = hexSum(sum)
	}
	s.last = all
	return all
}

// hold sums up what is held of a node.
func hold(shelf ledger.Shelf, now time.Time) *holding {
	h := &holding{NodeVersion: api.NodeVersion{Node: shelf.Node}}
	for _, rec := range shelf.Records {
		if !moves(rec.Key().Kind) {
			continue
		}
		if rec.Deleted() {
			h.deleted, h.old = append(h.deleted, rec), append(h.old, isOld(rec, now))
			if h.old[len(h.old)-1] {
				continue
			}
		}
		h.recs = append(h.recs, rec)
	}
	h.finish()
	return h
}

// holds reports whether the same deletions are about to be forgotten as when it was made.
func (h *holding) holds(now time.Time) bool {
	for i, rec := range h.deleted {
		if isOld(rec, now) != h.old[i] {
			return false
		}
	}
	return true
}

// isOld reports whether a deletion is about to be forgotten. It is no longer
// given to others then: they may have forgotten it, and would keep it for
// another month. Its date is its writer's, whose clock may be wrong; so it is
// told for a day after it came, whatever its date.
func isOld(rec *ledger.Record, now time.Time) bool {
	const margin = 24 * time.Hour
	doc := rec.Document()
	return doc.Deleted && now.Sub(doc.At.Time) > api.TombstoneTTL-margin && now.Sub(rec.Since()).Abs() > margin
}

// finish computes what tells the documents from others'.
func (h *holding) finish() {
	sum := sha256.New()
	var line []byte
	for _, rec := range h.recs {
		k, v, check := rec.Key(), rec.Version(), checkOf(rec)
		line = append(append(line[:0], k.Kind...), 0)
		line = append(append(line, k.Name...), 0)
		line = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(line, v.Inc), v.Seq)
		sum.Write(append(line, check...))
		if v.Compare(h.Version) > 0 {
			h.Version = v
		}
	}
	h.Count, h.SHA256 = len(h.recs), hexSum(sum)
}

// checkBytes is how much of a signature tells two documents of one version apart.
const checkBytes = 4

func checkOf(rec *ledger.Record) []byte {
	sig := rec.Document().Sig
	return sig[:min(checkBytes, len(sig))]
}

// held is what is held of a document.
func held(rec *ledger.Record) api.HeldVersion {
	return api.HeldVersion{KeyVersion: api.KeyVersion{Key: rec.Key(), Version: rec.Version()}, Check: hex.EncodeToString(checkOf(rec))}
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// versions are the NodeVersions.
func (a *inventory) versions() []api.NodeVersion {
	all := make([]api.NodeVersion, len(a.nodes))
	for i := range a.nodes {
		all[i] = a.nodes[i].NodeVersion
	}
	return all
}

// of is what is held of a node.
func (a *inventory) of(node api.NodeID) *holding {
	for _, h := range a.nodes {
		if h.Node == node {
			return h
		}
	}
	return &holding{NodeVersion: api.NodeVersion{Node: node}}
}

// difference is what is held of a node here and there, where that is not the same, since it
// was seen first.
type difference struct {
	here, there api.NodeVersion
	since       time.Duration
}

// isAhead and isBehind report whether this node has what the other one lacks, and the other
// way round: it may be both.
func (d difference) isAhead() bool {
	order := d.here.Version.Compare(d.there.Version)
	return order > 0 || d.here.Count > d.there.Count || order == 0 && d.here.Count == d.there.Count
}

func (d difference) isBehind() bool {
	return difference{here: d.there, there: d.here}.isAhead()
}

// lasts reports whether one side still lacks what the other one had before, rather than what
// came since.
func (d difference) lasts(was difference) bool {
	return d.here.SHA256 == was.here.SHA256 && d.there.SHA256 == was.there.SHA256 ||
		d.here.Version.Compare(was.there.Version) < 0 || d.there.Version.Compare(was.here.Version) < 0
}

// differing are the nodes of which not the same is held.
func (a *inventory) differing(there []api.NodeVersion) map[api.NodeID]difference {
	all := map[api.NodeID]difference{}
	for _, h := range a.nodes {
		all[h.Node] = difference{here: h.NodeVersion}
	}
	for _, v := range there {
		d := all[v.Node]
		d.there = v
		all[v.Node] = d
	}
	for node, d := range all {
		if d.here.SHA256 == d.there.SHA256 {
			delete(all, node)
		}
	}
	return all
}
