package grant

import "fulmen/daemon/api"

// grant is the document of what is lent.
func (l *lent) grant() api.Grant {
	return api.Grant{State: api.GrantHeld, Since: l.since, Principal: l.Principal, Epoch: l.Epoch, GPU: l.GPU,
		MemoryBytes: l.MemoryBytes, Receptacles: l.Receptacles, Reason: l.beside, LeaseS: l.Lease.Seconds()}
}

// grant is the document of who waits, and every answer but the one that lends.
func (w *waiter) grant(state api.GrantState, why api.Reason, on string) api.Grant {
	return api.Grant{State: state, Since: w.since, Principal: w.Principal, Epoch: w.Epoch, GPU: w.GPU,
		MemoryBytes: w.MemoryBytes, Receptacles: w.Receptacles, Reason: why, WaitingFor: on}
}

// A document that could not be published is no reason to lend or not: the ledger
// reports its own failures.

func (a *Arbiter) show(l *lent) { a.put(l.Holder, l.grant()) }

func (a *Arbiter) put(h Holder, g api.Grant) {
	_ = a.cfg.Documents.Put(api.KindGrant, h.String(), g, nil)
}

func (a *Arbiter) hide(h Holder) { _ = a.cfg.Documents.Delete(api.KindGrant, h.String()) }
