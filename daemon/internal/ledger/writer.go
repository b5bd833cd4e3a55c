package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// Publisher is what the owners of facts publish this node's documents by. It calls
// nobody back.
type Publisher interface {
	// Put publishes a document of this node; a job, a rank or a profile is durable when
	// it returns. unknown tells, by field, why fields of the value are absent.
	Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error
	// Delete ends one; one that is not there stays so.
	Delete(kind api.Kind, name string) error
}

// Writer writes the node's own documents; there is no other way to. Open gives
// one for every kind, Owner narrows it down for the package that owns some.
type Writer struct {
	ledger *Ledger
	name   string
	kinds  []api.Kind // empty = all
}

// Owner is a writer for some kinds, called by a name that the tap shows.
func (w *Writer) Owner(name string, kinds ...api.Kind) *Writer {
	return &Writer{ledger: w.ledger, name: name, kinds: slices.Clone(kinds)}
}

// Put publishes drafts, of different keys, in one step, and for persisted kinds
// after one save. When it returns without an error, every reader will get them
// or something newer. An error means that none was published: a kind that is
// not the writer's (not_the_writer), a draft that breaks a rule, a new document beyond
// the quota of its kind (too_many_documents), or what the Store or the Counter said.
//
// A draft that says nothing new, byte by byte and reason by reason, is not
// published: readers are not woken, nothing is signed or saved, and At stays
// when it was first read. Owners may so read and put at every hint. Where the
// time itself is the news, as with a repeated measurement, Draft.Again says so.
func (w *Writer) Put(drafts ...Draft) error {
	l := w.ledger
	l.sweep()
	docs, err := w.documents(drafts)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(drafts, func(d Draft) bool { return isPersisted(d.Kind) }) {
		l.saving.Lock()
		defer l.saving.Unlock()
	}
	l.author.era.RLock()
	defer l.author.era.RUnlock()
	if docs = l.news(docs, drafts); len(docs) == 0 {
		return nil
	}
	if err := l.admitOwn(docs); err != nil {
		return err
	}
	if docs, err = l.author.stamp(docs); err != nil {
		return err
	}
	if err := l.save(docs, nil); err != nil {
		return err
	}
	// What the store cannot forget comes back at the next start and is evicted again.
	_ = l.save(nil, l.commit(docs, w.name))
	return nil
}

// Delete ends a key; one that is not held stays as it is.
func (w *Writer) Delete(kind api.Kind, name string) error {
	return w.Put(Draft{Kind: kind, Name: name, Delete: true})
}

// Rejoin signs everything that the node has written again, for another
// cluster and in a new incarnation. Documents of other nodes stay until Forget.
func (w *Writer) Rejoin(cluster api.ClusterID) error {
	if !cluster.Valid() {
		return api.Errorf(api.ReasonBadValue, "cluster", "cluster id %q is not valid", string(cluster))
	}
	l := w.ledger
	l.saving.Lock()
	defer l.saving.Unlock()
	l.author.era.Lock()
	defer l.author.era.Unlock()
	before := l.author.cluster
	l.author.cluster = cluster
	if err := l.restate(0, nil); err != nil {
		l.author.cluster = before
		return err
	}
	return nil
}

// documents turns drafts into documents after asking whether the writer may.
func (w *Writer) documents(drafts []Draft) ([]api.Document, error) {
	now := api.TimeOf(w.ledger.now())
	docs := make([]api.Document, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		key := api.Key{Node: w.ledger.Node(), Kind: d.Kind, Name: d.Name}
		if len(w.kinds) > 0 && !slices.Contains(w.kinds, d.Kind) {
			return nil, api.Errorf(api.ReasonNotTheWriter, key.String(), "%s is not a kind that %s writes", d.Kind, w.name)
		}
		for j := range i {
			if docs[j].Key() == key {
				return nil, api.Errorf(api.ReasonBadValue, key.String(), "%s is there twice", key)
			}
		}
		doc, err := d.document(now)
		if err != nil {
			return nil, err
		}
		doc.Node = w.ledger.Node()
		docs[i] = doc
	}
	return docs, nil
}

// news leaves out the documents that say nothing new.
func (l *Ledger) news(docs []api.Document, drafts []Draft) []api.Document {
	l.mu.RLock()
	defer l.mu.RUnlock()
	kept := docs[:0]
	for i := range docs {
		if drafts[i].Again || l.isNews(&docs[i]) {
			kept = append(kept, docs[i])
		}
	}
	return kept
}

func (l *Ledger) isNews(d *api.Document) bool {
	held, ok := l.entries[d.Key()]
	if !ok || held.rec.doc.Deleted {
		return !d.Deleted
	}
	have := &held.rec.doc
	return d.Deleted || have.Simulated != d.Simulated || !bytes.Equal(have.Value, d.Value) || !maps.Equal(have.Unknown, d.Unknown)
}

// restate stamps own documents again and publishes them: the one with the key,
// or with nil all of them, in an incarnation above the given one. The caller
// holds saving, and era alone.
func (l *Ledger) restate(above uint64, only *api.Key) error {
	var docs []api.Document
	l.mu.RLock()
	for k, e := range l.entries {
		if k.Node == l.author.node && (only == nil || k == *only) {
			docs = append(docs, e.rec.doc)
		}
	}
	l.mu.RUnlock()
	// What was written first stays first: jobs are deleted in that order.
	slices.SortFunc(docs, func(a, b api.Document) int { return a.Version().Compare(b.Version()) })
	if only == nil {
		if err := l.author.raise(above); err != nil {
			return err
		}
	}
	docs, err := l.author.stamp(docs)
	if err != nil {
		return err
	}
	if err := l.save(docs, nil); err != nil {
		return err
	}
	l.commit(docs, "restate")
	return nil
}

// Draft is what an owner wants to say. Node, version, time and signature are
// added by the Writer.
type Draft struct {
	// Kind says what it is about.
	Kind api.Kind
	// Name tells the node's documents of one kind apart.
	Name string
	// Value is encoded as JSON; a json.RawMessage is taken as it is.
	Value any
	// Unknown gives, for fields absent from Value, the reason.
	Unknown map[string]api.Reason
	// Simulated says that no real hardware is behind it.
	Simulated bool
	// At is when it was read or decided; zero = now.
	At api.Time
	// Delete ends the key; Value and Unknown are not looked at.
	Delete bool
	// Homes prove, at the end of a job's document, that its writer was the job's home.
	Homes []api.Succession
	// Again publishes it even if it says nothing new. With Delete it marks the
	// end of a key that this ledger does not hold, but others still may.
	Again bool
}

// document is the draft without version and signature.
func (d *Draft) document(now api.Time) (api.Document, error) {
	doc := api.Document{Kind: d.Kind, Name: d.Name, At: d.At, Simulated: d.Simulated, Deleted: d.Delete}
	if doc.At.IsZero() {
		doc.At = now
	}
	if d.Delete {
		return doc, doc.SetHomes(d.Homes)
	}
	if len(d.Unknown) > 0 {
		doc.Unknown = maps.Clone(d.Unknown)
	}
	if raw, ok := d.Value.(json.RawMessage); ok {
		doc.Value = bytes.Clone(raw)
	} else if err := doc.SetValue(d.Value); err != nil {
		return api.Document{}, fmt.Errorf("encode %s %s: %w", d.Kind, d.Name, err)
	}
	return doc, nil
}
