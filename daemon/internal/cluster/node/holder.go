package node

import (
	"crypto/ed25519"
	"errors"
	"sync"
	"sync/atomic"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
)

// Holder keeps the one roster of a daemon, on disk and in memory. What asks for
// members asks it.
type Holder struct {
	store   cluster.RosterStore
	current atomic.Pointer[cluster.Roster]

	mu      sync.Mutex // one change at a time
	changed []func(before, after *cluster.Roster)
}

// NewHolder holds a roster that is saved already.
func NewHolder(r *cluster.Roster, store cluster.RosterStore) *Holder {
	h := &Holder{store: store}
	h.current.Store(r)
	return h
}

// Current is the roster now.
func (h *Holder) Current() *cluster.Roster { return h.current.Load() }

// PublicKey is a current member's key.
func (h *Holder) PublicKey(node api.NodeID) (ed25519.PublicKey, bool) {
	return h.Current().PublicKey(node)
}

// Heads are the heads of the roster, for specs that are signed.
func (h *Holder) Heads() []string { return cluster.HashTexts(h.Current().Heads()) }

// Cluster is the cluster's id now.
func (h *Holder) Cluster() api.ClusterID { return h.Current().Cluster() }

// IsMember reports whether a node is one now.
func (h *Holder) IsMember(node api.NodeID) bool { return h.Current().IsMember(node) }

// Members are the current ones, ordered by id.
func (h *Holder) Members() []api.NodeID { return h.Current().Current() }

// OnChange has f called after every change, one at a time, before Update
// returns; set before anything changes.
func (h *Holder) OnChange(f func(before, after *cluster.Roster)) { h.changed = append(h.changed, f) }

// errOtherCluster keeps a change from replacing the cluster unseen.
var errOtherCluster = errors.New("a roster of another cluster does not replace this one")

// Update saves and holds what change makes of the roster, within the cluster.
func (h *Holder) Update(change func(*cluster.Roster) (*cluster.Roster, error)) (changed bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.Current()
	after, err := change(before)
	if err != nil || after == before {
		return false, err
	}
	if after.Cluster() != before.Cluster() {
		return false, errOtherCluster
	}
	return true, h.replace(before, after)
}

// Replace saves and holds the roster of another cluster, if may allows it for
// the one that is held.
func (h *Holder) Replace(after *cluster.Roster, may func(*cluster.Roster) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.Current()
	if err := may(before); err != nil {
		return err
	}
	return h.replace(before, after)
}

func (h *Holder) replace(before, after *cluster.Roster) error {
	raw, err := after.MarshalJSON()
	if err != nil {
		return err
	}
	if err := h.store.SaveRoster(after.Cluster(), raw); err != nil {
		return err
	}
	h.current.Store(after)
	for _, f := range h.changed {
		f(before, after)
	}
	return nil
}

var _ api.Electors = (*Holder)(nil)

// SignerKey is the key of whoever is a member or was one.
func (h *Holder) SignerKey(node api.NodeID) (ed25519.PublicKey, bool) {
	return h.Current().SignerKey(node)
}

// Voters are the members at heads of the roster; false where one is not known yet.
func (h *Holder) Voters(heads []string) ([]api.NodeID, bool) { return h.Current().VotersAt(heads) }
