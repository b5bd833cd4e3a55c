package ledger

import (
	"fmt"
	"time"

	"fulmen/daemon/api"
)

// load takes over what the store has. Own documents that were signed for
// another cluster, as after a crash between joining and signing, or that are
// newer than the counter, as after the counter was lost, are signed again.
func (l *Ledger) load() error {
	if l.options.Store == nil {
		return nil
	}
	docs, err := l.options.Store.Load()
	if err != nil {
		return fmt.Errorf("load documents: %w", err)
	}
	now := l.options.Now()
	var newest api.Version
	resign := false
	var gone []api.Key // beyond the quotas
	for i := range docs {
		d := &docs[i]
		err := d.Check()
		if err == nil && d.Node != l.author.node {
			err = d.CheckNumbers()
		}
		if err != nil {
			l.skipped = append(l.skipped, err)
			continue
		}
		if !about(d.Kind).Persisted {
			l.skipped = append(l.skipped, api.Errorf(api.ReasonMalformedDocument, d.Key().String(), "%s: the kind is not kept", d.Key()))
			continue
		}
		r := newRecord(*d, time.Time{})
		if d.Deleted && d.At.After(now) {
			r.since = now // its writer's clock is ahead
		}
		if d.Node != l.author.node {
			if bound := l.boundLocked(d.Key(), d.Weight()); bound != "" && !d.Deleted {
				l.skipped, gone = append(l.skipped, overQuota(d.Key(), bound)), append(gone, d.Key())
				continue
			}
		}
		l.setLocked(r)
		if d.Deleted {
			gone = append(gone, l.evictLocked(d.Key())...)
		}
		if d.Node != l.author.node {
			continue
		}
		if d.Version().Compare(newest) > 0 {
			newest = d.Version()
		}
		resign = resign || d.Verify(l.author.cluster, l.author.public()) != nil
	}
	if err := l.save(nil, gone); err != nil {
		l.skipped = append(l.skipped, err)
	}
	if !resign && newest.Compare(l.author.given()) <= 0 {
		return nil
	}
	return l.restateLocked(newest.Inc, nil)
}
