package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// inventory is all documents that go by themselves, as they are at one moment.
type inventory struct {
	nodes []holding
	// sum is the hash over everything.
	sum string
}

// holding is what is held of one node.
type holding struct {
	api.NodeVersion
	recs []*ledger.Record // ordered by key
}

// inventory takes stock. Documents of whoever is no member are left out.
func (r *Replica) inventory() inventory {
	roster := r.roster()
	now := r.clock.Now()
	var all inventory
	var isMember bool
	var last api.NodeID
	for _, rec := range r.ledger.List(ledger.Filter{Deleted: true}) {
		key := rec.Key()
		if key.Node != last {
			last, isMember = key.Node, roster.IsMember(key.Node)
		}
		if !isMember || !moves(key.Kind) || isOld(rec, now) {
			continue
		}
		n := len(all.nodes)
		if n == 0 || all.nodes[n-1].Node != key.Node {
			all.nodes = append(all.nodes, holding{NodeVersion: api.NodeVersion{Node: key.Node}})
			n++
		}
		h := &all.nodes[n-1]
		h.recs = append(h.recs, rec)
	}
	sum := sha256.New()
	for i := range all.nodes {
		all.nodes[i].finish()
		sum.Write([]byte(all.nodes[i].Node))
		sum.Write([]byte(all.nodes[i].SHA256))
	}
	all.sum = hexSum(sum)
	return all
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
	for i := range a.nodes {
		if a.nodes[i].Node == node {
			return &a.nodes[i]
		}
	}
	return &holding{NodeVersion: api.NodeVersion{Node: node}}
}

// differing are the hashes here and there of each node where they are not the same.
func (a *inventory) differing(there []api.NodeVersion) map[api.NodeID][2]string {
	all := map[api.NodeID][2]string{}
	for i := range a.nodes {
		all[a.nodes[i].Node] = [2]string{a.nodes[i].SHA256, ""}
	}
	for _, v := range there {
		pair := all[v.Node]
		pair[1] = v.SHA256
		all[v.Node] = pair
	}
	for node, pair := range all {
		if pair[0] == pair[1] {
			delete(all, node)
		}
	}
	return all
}
