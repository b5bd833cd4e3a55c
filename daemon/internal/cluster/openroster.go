package cluster

import (
	"encoding/json"
	"fmt"
	"time"

	"fulmen/daemon/api"
)

// RosterStore keeps the roster over a restart.
type RosterStore interface {
	// LoadRoster gives what was saved last, of whichever cluster; nil if nothing was.
	LoadRoster() (json.RawMessage, error)
	// SaveRoster keeps a roster instead of an earlier one of its cluster, and
	// beside those of others. It is on disk when it returns.
	SaveRoster(api.ClusterID, json.RawMessage) error
}

// OpenRoster loads the roster, or begins a cluster of one where there is none or
// the node's key is no member, as after a key of another machine was set aside.
// The roster of before stays in the store; left is its cluster, empty if there
// was none. A roster that cannot be read is an error and is not replaced.
func OpenRoster(store RosterStore, self Identity, now time.Time) (r *Roster, left api.ClusterID, err error) {
	raw, err := store.LoadRoster()
	if err != nil {
		return nil, "", fmt.Errorf("load the roster: %w", err)
	}
	if raw != nil {
		r = new(Roster)
		if err := r.UnmarshalJSON(raw); err != nil {
			return nil, "", fmt.Errorf("load the roster: %w", err)
		}
		if _, isMember := r.PublicKey(self.Node); isMember {
			return r, "", nil
		}
		left = r.Cluster()
	}
	if r, err = FoundRoster(self, now); err != nil {
		return nil, "", err
	}
	if raw, err = r.MarshalJSON(); err != nil {
		return nil, "", err
	}
	if err := store.SaveRoster(r.Cluster(), raw); err != nil {
		return nil, "", fmt.Errorf("save the roster: %w", err)
	}
	return r, left, nil
}
