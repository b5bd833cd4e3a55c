package ledger

import (
	"bytes"
	"errors"

	"fulmen/daemon/api"
)

// Outcome is what became of a document that another node brought.
type Outcome string

const (
	// Refused is a document that was not taken; the error says why.
	Refused Outcome = "refused"
	// Taken is a document that was news.
	Taken Outcome = "taken"
	// Known is a document that is held in this or a newer version.
	Known Outcome = "known"
	// Answered is a document of this node's own, newer than what it held: the
	// node has published what it says now, or what it said before it lost its Store,
	// at a version above.
	Answered Outcome = "answered"
	// Orphan is a document of this node's own that it does not hold, left over
	// from before a restart. It stands until the node puts its key again or
	// deletes it with Draft.Again.
	Orphan Outcome = "ghost"
)

// PutForeign takes over a document that was replicated, from whomever it came:
// what counts is its writer's signature and version. The ledger keeps d; the
// caller must not change what it points to. A document with a number that cannot be
// is refused whole: part of a signed value cannot be left out.
//
// An error goes with Refused, except for one of the Store: a document of
// another node that could not be saved is held and shown all the same, because
// what is true now is worth more than what will be there after a restart. What goes
// beyond the quota of its writer and kind is refused: api.ReasonTooManyDocuments.
func (l *Ledger) PutForeign(d api.Document) (Outcome, error) {
	l.sweep()
	if info, ok := api.LookupKind(d.Kind); ok && !info.Replicated {
		return Refused, api.Errorf(api.ReasonBadValue, d.Key().String(), "%s: the kind is never replicated", d.Key())
	}
	if l.repeats(&d) {
		return Known, nil
	}
	if d.Node == l.author.node {
		return l.meetOwn(&d)
	}
	if err := d.CheckNumbers(); err != nil {
		return Refused, err
	}
	if about(d.Kind).Persisted {
		l.saving.Lock()
		defer l.saving.Unlock()
	}
	// From the question who is a member to the commit, so that nothing arrives
	// behind the back of Forget.
	l.author.era.RLock()
	defer l.author.era.RUnlock()
	if isKnown, err := l.verify(&d); err != nil {
		return Refused, err
	} else if isKnown {
		return Known, nil
	}
	l.mu.Lock()
	err := l.admitLocked(&d)
	l.mu.Unlock()
	if err != nil {
		return Refused, err
	}
	failed := l.save([]api.Document{d}, nil)
	return Taken, errors.Join(failed, l.save(nil, l.commit([]api.Document{d}, nil)))
}

// repeats reports whether a document is older than what is held, or the same.
// Most that gossip brings is, and it costs no cryptography.
func (l *Ledger) repeats(d *api.Document) bool {
	held, ok := l.Latest(d.Key())
	if !ok {
		return false
	}
	order := d.Version().Compare(held.Version())
	return order < 0 || order == 0 && bytes.Equal(d.Sig, held.doc.Sig)
}

// verify asks for the signature, and then for the version: two contents that
// one key has signed for one version are an identity that is there twice.
func (l *Ledger) verify(d *api.Document) (isKnown bool, err error) {
	key := []byte(l.author.public())
	if d.Node != l.author.node {
		var isMember bool
		if l.options.Members != nil {
			key, isMember = l.options.Members.PublicKey(d.Node)
		}
		if !isMember {
			return false, api.NewError(api.ReasonNotAMember, d.Node.Display())
		}
	}
	if err := d.Verify(l.author.cluster, key); err != nil {
		return false, err
	}
	l.mu.RLock()
	order := d.Version().Compare(l.versionLocked(d.Key()))
	l.mu.RUnlock()
	if order == 0 && !l.repeats(d) {
		return false, api.NewError(api.ReasonDuplicateIdentity, d.Node.Display())
	}
	return order <= 0, nil
}

// meetOwn answers a document that this node has written and not remembered. One
// above all that were ever given away means that the counter was lost,
// or that somebody has a copy of the key: everything is said again above it.
// So does another document of a version that is held.
func (l *Ledger) meetOwn(d *api.Document) (Outcome, error) {
	l.saving.Lock()
	defer l.saving.Unlock()
	l.author.era.Lock()
	defer l.author.era.Unlock()
	isKnown, err := l.verify(d)
	isTwice := errors.Is(err, api.ReasonDuplicateIdentity)
	if err != nil && !isTwice {
		return Refused, err
	} else if isKnown {
		return Known, nil
	}
	key := d.Key()
	if isTwice || d.Version().Compare(l.author.given()) > 0 {
		err = l.restateLocked(d.Inc, nil)
	} else {
		err = l.restateLocked(0, &key)
	}
	if err != nil {
		return Refused, err
	}
	_, isHeld := l.Latest(key)
	switch {
	case isHeld:
		return Answered, nil
	case d.Deleted || l.options.TakesBack == nil || !l.options.TakesBack(*d):
		return Orphan, nil
	}
	again, err := l.author.stampLocked([]api.Document{*d})
	if err == nil {
		err = l.save(again, nil)
	}
	if err != nil {
		return Refused, err
	}
	return Answered, l.save(nil, l.commit(again, nil))
}
