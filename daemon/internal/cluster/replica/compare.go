package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
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
		r.fallBehindLocked(p)
		r.mu.Unlock()
		r.complaints(p.node).Warn("a neighbour could not be compared with", "error", err)
		return
	}
	p.failures = 0
	if isWanted {
		r.compareSoonLocked(p, r.timing.Stagger)
	}
	if again > 0 {
		r.compareAgainLocked(p, again)
	}
	r.mu.Unlock()
}

// compare compares once; again is when to do so once more, 0 if not.
func (r *Replica) compare(p *peer) (again time.Duration, err error) {
	r.mu.Lock()
	c := &p.compare
	how := c.wanted
	c.wanted = wanted{}
	agreed, agreedRoster := c.agreed, c.agreedRoster
	// From here on what is queued is sent, and what was dropped is compared.
	p.isBehind = false
	r.mu.Unlock()

	mine, head := r.inventory(), string(r.roster().Head())
	r.mu.Lock()
	maps.DeleteFunc(c.differs, func(node api.NodeID, was difference) bool {
		return was.isReported && !was.isAhead() && mine.of(node).has(was.there)
	})
	how.isForced = how.isForced || len(c.differs) > 0
	r.mu.Unlock()
	if !how.isForced && (!how.isPlanned || mine.sum == agreed && head == agreedRoster) {
		return 0, nil
	}
	var answer digestResult
	asked := r.clock.Boot()
	if err := r.call(p, methodDigest, api.PeerDigestParams{SHA256: mine.sum, RosterSHA256: head, Have: []api.NodeVersion{}}, &answer); err != nil {
		return 0, err
	}
	// What is on its way takes longer where answers do.
	moment := max(2*r.timing.Relay, 5*(r.clock.Boot()-asked))
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
	return r.repair(p, &mine, answer.Have, moment, how)
}

// maxParts is how many times in a row what did not fit a message is asked for:
// a neighbour that refuses what it wants would be asked for ever.
const maxParts = 64

// repair evens out what the two have written, and takes what else this node lacks. Of what
// the neighbour lacks of others it is told to ask itself, which knows who tells it anyway.
// Unless it is urgent, what is most likely on its way is left alone for a moment.
func (r *Replica) repair(p *peer, mine *inventory, there []api.NodeVersion, moment time.Duration, how wanted) (again time.Duration, err error) {
	differing, joined := mine.differing(there), map[api.NodeID]bool{}
	for node := range differing {
		joined[node] = r.joined(p.node, node)
	}
	r.mu.Lock()
	c := &p.compare
	now := r.clock.Boot()
	var nodes []api.NodeID
	left := map[api.NodeID]difference{}
	isAhead := false
	for node, d := range differing {
		was, isOld := c.differs[node]
		isBehind := d.isBehind()
		// Whoever lacks something is told by the writer, one after the other, who sees to it
		// where that fails.
		isOwn := node == r.self || node == p.node
		isReported := isOwn || (!isBehind || r.peers[node] != nil) && (!d.isAhead() || joined[node])
		if isOld = isOld && (!isReported || isBehind || d.lasts(was)); !isOld {
			was, was.since = d, now
		}
		took := now - was.since
		isLong := took >= r.timing.Notify
		isDue := how.isUrgent || how.isHinted || isLong || took >= moment && d.lasts(was)
		switch {
		case isDue && isBehind && r.taking[node]: // one after the other: each would give it all
			left[node] = was
			if again == 0 || moment < again {
				again = moment
			}
			continue
		case isDue && (isOwn || isLong && (isReported || isBehind) || isBehind && r.peers[node] == nil):
			nodes = append(nodes, node)
			continue
		case isDue && d.isAhead() && !joined[node]:
			isAhead = true
		case isReported && !isBehind && !isOld && !how.isPlanned:
			continue // looked at once more is enough: there is always something on its way
		}
		if !isDue || isBehind || isReported {
			was.isReported = isReported
			left[node] = was
			look := max(moment, took)
			if isReported && !isLong {
				look = r.timing.Notify - took
			}
			if again == 0 || look < again {
				again = look
			}
		}
	}
	c.differs = left
	if isAhead && !how.isHinted {
		r.queueLocked(p, func(o *outbox) bool { return o.hint(r.self) })
	}
	begun := slices.DeleteFunc(slices.Clone(nodes), func(node api.NodeID) bool { return r.taking[node] })
	for _, node := range begun {
		r.taking[node] = true
	}
	r.mu.Unlock()
	if len(nodes) == 0 {
		return again, nil
	}
	slices.Sort(nodes)
	isMore, err := r.compareKeys(p, mine, nodes)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, node := range begun {
		delete(r.taking, node)
	}
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
		updates := r.take(p.node, answer.Docs)
		isMore = isMore || answer.More && !updates.isFull // what there is no room for would be given again
		r.passOn(p.node, updates.taken, nil, true)
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
		r.queueLocked(p, func(o *outbox) bool { return o.add(parcel{rec: rec, isRepair: true}) })
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
	mu            sync.Mutex
	recordsByNode []ledger.NodeRecords
	holdings      []*holding // of each shelf
	last          inventory
}

// inventory takes stock. Documents of whoever is no member are left out.
func (r *Replica) inventory() inventory {
	roster := r.roster()
	now := r.clock.Now()
	r.stock.mu.Lock()
	defer r.stock.mu.Unlock()
	s := &r.stock
	recordsByNode := r.ledger.NodeRecords(s.recordsByNode)
	holdings := make([]*holding, len(recordsByNode))
	var all inventory
	before := 0
	for i, nodeRecords := range recordsByNode {
		for before < len(s.recordsByNode) && s.recordsByNode[before].Node < nodeRecords.Node {
			before++
		}
		if before < len(s.recordsByNode) && s.recordsByNode[before].IsSame(nodeRecords) && s.holdings[before].holds(now) {
			holdings[i] = s.holdings[before]
		} else {
			holdings[i] = hold(nodeRecords, now)
		}
		if len(holdings[i].recs) > 0 && roster.IsMember(nodeRecords.Node) {
			all.nodes = append(all.nodes, holdings[i])
		}
	}
	s.recordsByNode, s.holdings = recordsByNode, holdings
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
func hold(nodeRecords ledger.NodeRecords, now time.Time) *holding {
	h := &holding{NodeVersion: api.NodeVersion{Node: nodeRecords.Node}}
	for _, rec := range nodeRecords.Records {
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
	isReported  bool // whoever lacked something then is told by the writer
}

// has reports whether what another node held is held now, where its writer tells it one
// after the other.
func (h *holding) has(there api.NodeVersion) bool {
	return h.Version.Compare(there.Version) >= 0 && h.Count >= there.Count
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
