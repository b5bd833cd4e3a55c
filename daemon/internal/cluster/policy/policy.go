package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// Options is what a policy is made with.
type Options struct {
	// Node is this node, and Cluster the one that it belongs to.
	Node    api.NodeID
	Cluster api.ClusterID
	// IsMember says who belongs to the cluster now. It answers from memory.
	IsMember  func(api.NodeID) bool
	Store     Store
	Documents ledger.Publisher
	Accounts  Accounts
	Bounds    Bounds
	// KeepAwake keeps the Mac from idle sleep, as native.Power does; nil where
	// nothing can.
	KeepAwake func(ctx context.Context, reason string) (release func() error, err error)
	// IdleUnknown is why it cannot be told whether somebody uses this Mac; empty
	// where it can.
	IdleUnknown api.Reason
	Log         *slog.Logger
}

// Policy is what this node lends. It may be used by several goroutines.
type Policy struct {
	options Options

	mu      sync.Mutex // held over a change, from the check to the publication
	record  record
	release func() error // lets the Mac sleep again; nil where nothing keeps it awake
}

// Open loads the policy and publishes it. One that was stored in another
// cluster keeps what names nobody: see [Policy.Join]. A policy that cannot be
// read is an error and is not replaced.
func Open(o Options) (*Policy, error) {
	raw, err := o.Store.LoadPolicy()
	if err != nil {
		return nil, fmt.Errorf("load the policy: %w", err)
	}
	p := &Policy{options: o, record: newRecord(o.Cluster)}
	if raw != nil {
		if p.record, err = readRecord(raw); err != nil {
			return nil, err
		}
	}
	if p.record.Cluster != o.Cluster {
		p.record = p.record.moved(o.Cluster)
	}
	if err := p.keepAwakeLocked(context.Background(), p.record.Sharing.KeepAwake); err != nil {
		o.Log.Warn("this Mac cannot be kept awake", "error", err)
	}
	return p, p.publish()
}

// Close lets the Mac sleep again.
func (p *Policy) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keepAwakeLocked(context.Background(), false)
}

// Join begins the policy of another cluster, with the answers that were given
// at pairing: as which account its people's jobs run here, empty = they do not,
// and who changes RDMA here, empty = nobody. The map and the earlier list
// named people of the old cluster and are gone. CheckAccount tells before
// pairing whether it will work.
func (p *Policy) Join(cluster api.ClusterID, account string, changes api.ChangeSharing) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.record.moved(cluster)
	if changes != "" {
		next.Sharing.RDMAChanges = changes
	}
	var refused error
	if account != "" {
		if found, err := p.options.Bounds.Check(p.options.Accounts, account); err != nil {
			refused = err // the earlier people must go all the same
		} else {
			next.Users = []api.MappedUser{{Members: true, Account: found.Name}}
		}
	}
	return errors.Join(refused, p.takeLocked(next))
}

// Prune takes out of the map and of the list whoever is no member any more. It
// is to be called after the roster changed; their return is a new pairing under
// another id.
func (p *Policy) Prune() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.record.copied()
	next.Users, next.Sharing.JobsFrom = nil, nil
	for _, line := range p.record.Users {
		if line.Members || p.isHere(line.Principal.Node) || p.isHere(line.Node) {
			next.Users = append(next.Users, line)
		}
	}
	for _, who := range p.record.Sharing.JobsFrom {
		if p.isHere(who.Node) {
			next.Sharing.JobsFrom = append(next.Sharing.JobsFrom, who)
		}
	}
	if len(next.Users) == len(p.record.Users) && len(next.Sharing.JobsFrom) == len(p.record.Sharing.JobsFrom) {
		return nil
	}
	return p.takeLocked(next)
}

// isHere reports whether a node is this one or a member.
func (p *Policy) isHere(node api.NodeID) bool {
	return node != "" && (node == p.options.Node || p.options.IsMember(node))
}

// takeLocked stores a policy, then lets it count, then publishes it. An error of the store
// leaves all as it was.
func (p *Policy) takeLocked(next record) error {
	if err := next.check(); err != nil {
		return err
	}
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := p.options.Store.SavePolicy(raw); err != nil {
		return fmt.Errorf("save the policy: %w", err)
	}
	p.record = next
	return p.publish()
}

func (p *Policy) publish() error {
	if err := p.options.Documents.Put(api.KindSharing, "", p.record.published(), nil); err != nil {
		return fmt.Errorf("publish the policy: %w", err)
	}
	return nil
}
