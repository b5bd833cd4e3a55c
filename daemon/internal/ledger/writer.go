package ledger

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

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

// Documents are the [Publisher] of a writer.
type Documents struct {
	// Writer is the owner's.
	Writer *Writer
	// Simulated says that no real hardware is behind any of them.
	Simulated bool
	// Settled is said of every draft.
	Settled bool
	// Before and After are called around each Put; nil: nobody is.
	Before, After func()
}

// Put publishes a document.
func (d Documents) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	if d.Before != nil {
		d.Before()
	}
	if d.After != nil {
		defer d.After()
	}
	return d.Writer.Put(Draft{Kind: kind, Name: name, Value: value, Unknown: unknown, Simulated: d.Simulated, Settled: d.Settled})
}

// Delete ends one.
func (d Documents) Delete(kind api.Kind, name string) error { return d.Writer.Delete(kind, name) }

// DeleteJob ends a job's document, with the proof that this node was its home.
func (d Documents) DeleteJob(id api.JobID, homes []api.Succession) error {
	return d.Writer.Put(Draft{Kind: api.KindJob, Name: id.String(), Delete: true, Homes: homes, Simulated: d.Simulated})
}

// Writer writes the node's own documents; there is no other way to. Open gives
// one for every kind, Owner narrows it down for the package that owns some.
type Writer struct {
	ledger *Ledger
	name   string
	kinds  []api.Kind // empty = all
}

// Owner is a writer for some kinds, called by the name that its refusals give.
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
	if slices.ContainsFunc(drafts, func(d Draft) bool { return about(d.Kind).Persisted }) {
		l.saving.Lock()
		defer l.saving.Unlock()
	}
	l.author.era.RLock()
	defer l.author.era.RUnlock()
	if docs = l.changed(docs, drafts); len(docs) == 0 {
		return nil
	}
	if err := l.admitOwn(docs); err != nil {
		return err
	}
	if docs, err = l.author.stampLocked(docs); err != nil {
		return err
	}
	if err := l.save(docs, nil); err != nil {
		return err
	}
	// What the store cannot forget comes back at the next start and is evicted again.
	_ = l.save(nil, l.commit(docs, w.settled(drafts)))
	return nil
}

// settled are the values that readers may have as they are.
func (w *Writer) settled(drafts []Draft) map[api.Key]any {
	values := map[api.Key]any{}
	for i := range drafts {
		if d := &drafts[i]; d.Settled && !d.Delete {
			values[api.Key{Node: w.ledger.Node(), Kind: d.Kind, Name: d.Name}] = d.Value
		}
	}
	return values
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
	if err := l.restateLocked(0, nil); err != nil {
		l.author.cluster = before
		return err
	}
	return nil
}

// documents turns drafts into documents after asking whether the writer may.
func (w *Writer) documents(drafts []Draft) ([]api.Document, error) {
	now := api.TimeOf(w.ledger.options.Now())
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

// changed leaves out the documents that say nothing new.
func (l *Ledger) changed(docs []api.Document, drafts []Draft) []api.Document {
	l.mu.RLock()
	defer l.mu.RUnlock()
	kept := docs[:0]
	for i := range docs {
		if drafts[i].Again || l.isNew(&docs[i]) {
			kept = append(kept, docs[i])
		}
	}
	return kept
}

func (l *Ledger) isNew(d *api.Document) bool {
	held, ok := l.records[d.Key()]
	if !ok || held.doc.Deleted {
		return !d.Deleted
	}
	have := &held.doc
	return d.Deleted || have.Simulated != d.Simulated || !bytes.Equal(have.Value, d.Value) || !maps.Equal(have.Unknown, d.Unknown)
}

// restateLocked stamps own documents again and publishes them: the one with the key, or
// with nil all of them, in an incarnation above the given one. The caller holds saving,
// and era alone.
func (l *Ledger) restateLocked(above uint64, only *api.Key) error {
	var docs []api.Document
	l.mu.RLock()
	for k, r := range l.records {
		if k.Node == l.author.node && (only == nil || k == *only) {
			docs = append(docs, r.doc)
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
	docs, err := l.author.stampLocked(docs)
	if err != nil {
		return err
	}
	if err := l.save(docs, nil); err != nil {
		return err
	}
	l.commit(docs, nil)
	return nil
}

// Draft is what an owner wants to say. Node, version, time and signature are
// added by the Writer.
type Draft struct {
	// Kind says what it is about.
	Kind api.Kind
	// Name tells the node's documents of one kind apart.
	Name string
	// Value is encoded as JSON.
	Value any
	// Unknown gives, for fields absent from Value, the reason.
	Unknown map[string]api.Reason
	// Simulated says that no real hardware is behind it.
	Simulated bool
	// Delete ends the key; Value and Unknown are not looked at.
	Delete bool
	// Settled says that Value reads as its document will, and that nobody changes any more
	// what it points to: readers share it, and nobody decodes what was just encoded.
	Settled bool
	// Homes prove, at the end of a job's document, that its writer was the job's home.
	Homes []api.Succession
	// Again publishes it even if it says nothing new. With Delete it marks the
	// end of a key that this ledger does not hold, but others still may.
	Again bool
}

// document is the draft without version and signature.
func (d *Draft) document(now api.Time) (api.Document, error) {
	doc := api.Document{Kind: d.Kind, Name: d.Name, At: now, Simulated: d.Simulated, Deleted: d.Delete}
	if d.Delete {
		return doc, doc.SetHomes(d.Homes)
	}
	if len(d.Unknown) > 0 {
		doc.Unknown = maps.Clone(d.Unknown)
	}
	if err := doc.SetValue(d.Value); err != nil {
		return api.Document{}, fmt.Errorf("encode %s %s: %w", d.Kind, d.Name, err)
	}
	return doc, nil
}

// reserve is how many versions are counted as used at once. A restart skips at
// most so many of 2^53, and two memory documents a second cost a write to disk
// every nine hours.
const reserve = 1 << 16

// author gives the node's documents their versions and signatures.
type author struct {
	node    api.NodeID
	key     ed25519.PrivateKey
	counter Counter

	// era is held shared from the stamping of a document to its publication, and
	// alone by what signs all of them again, so that none slips through with the
	// earlier cluster or incarnation.
	era     sync.RWMutex
	cluster api.ClusterID

	// mu guards what follows, and is held while versions are reserved.
	mu sync.Mutex
	// last is the last version given away, at first the last one that a former
	// process had saved as used.
	last api.Version
	// ceiling is the last seq of this incarnation that is saved as used.
	ceiling uint64
}

// newAuthor counts every version that a former process may have used as used.
func newAuthor(key ed25519.PrivateKey, cluster api.ClusterID, counter Counter) (*author, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, errors.New("ledger: no private key")
	}
	if !cluster.Valid() {
		return nil, errors.New("ledger: no cluster id")
	}
	a := &author{key: key, cluster: cluster, counter: counter}
	a.node = api.NodeIDFromKey(a.public())
	used, err := counter.LoadVersion()
	if err != nil {
		return nil, fmt.Errorf("load the version counter: %w", err)
	}
	if used == (api.Version{}) {
		used.Inc = 1
	} else if !used.Valid() {
		return nil, fmt.Errorf("load the version counter: %d/%d is out of range", used.Inc, used.Seq)
	}
	a.last, a.ceiling = used, used.Seq
	if err := a.moreLocked(); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *author) public() ed25519.PublicKey { return a.key.Public().(ed25519.PublicKey) }

// given is the newest version that this process or one before it may have
// given away.
func (a *author) given() api.Version {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// next gives n versions and returns the one before the first. It fails when
// they cannot be saved as used.
func (a *author) next(n uint64) (api.Version, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ceiling-a.last.Seq < n {
		if err := a.moreLocked(); err != nil {
			return api.Version{}, err
		}
	}
	before := a.last
	a.last.Seq += n
	return before, nil
}

// moreLocked saves the next block of versions as used.
func (a *author) moreLocked() error {
	if a.ceiling+reserve > api.MaxCounter {
		return a.beginLocked(a.last.Inc + 1)
	}
	return a.saveCounter(api.Version{Inc: a.last.Inc, Seq: a.ceiling + reserve})
}

// beginLocked starts an incarnation.
func (a *author) beginLocked(inc uint64) error {
	if inc > api.MaxCounter {
		return errors.New("ledger: no incarnation is left")
	}
	if err := a.saveCounter(api.Version{Inc: inc, Seq: reserve}); err != nil {
		return err
	}
	a.last = api.Version{Inc: inc}
	return nil
}

func (a *author) saveCounter(v api.Version) error {
	if err := a.counter.SaveVersion(v); err != nil {
		return fmt.Errorf("save the version counter: %w", err)
	}
	a.ceiling = v.Seq
	return nil
}

// raise starts an incarnation above the present one and above the given one.
func (a *author) raise(above uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.beginLocked(max(a.last.Inc, above) + 1)
}

// stampLocked gives copies of documents the next versions and signs them for the present
// cluster. The caller holds era.
func (a *author) stampLocked(docs []api.Document) ([]api.Document, error) {
	out := make([]api.Document, len(docs))
	copy(out, docs)
	v, err := a.next(uint64(len(docs)))
	if err != nil {
		return nil, err
	}
	for i := range out {
		v.Seq++
		out[i].Node = a.node
		out[i].SetVersion(v)
		if err := out[i].Sign(a.cluster, a.key); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Record is one version of one document as the ledger holds it. It never
// changes and is shared by all readers.
type Record struct {
	doc   api.Document
	since time.Time
	// kept and weight are nil and 0 of a deletion, which is sent once, and held for a month.
	kept   *kept
	weight int // as it is counted
}

// kept is what a record is read as, and sent as, once somebody asked for it.
type kept struct {
	decoded api.Decoded
	once    sync.Once
	json    json.RawMessage
	failed  error
}

func newRecord(doc api.Document, since time.Time) *Record {
	r := &Record{doc: doc, since: since}
	if !doc.Deleted {
		r.kept, r.weight = &kept{}, doc.Weight()
	}
	return r
}

// Document is the document. What its fields point to is shared with every
// other reader and must not be changed.
func (r *Record) Document() api.Document { return r.doc }

// Key says which document it is a version of.
func (r *Record) Key() api.Key { return r.doc.Key() }

// Version orders it among the documents of its node.
func (r *Record) Version() api.Version { return r.doc.Version() }

// Deleted reports whether it marks the end of its key.
func (r *Record) Deleted() bool { return r.doc.Deleted }

// Since is when this ledger took it over or published it; zero where it was
// loaded, but for a deletion from a clock that is ahead.
func (r *Record) Since() time.Time { return r.since }

// Decode reads the value into a struct of its kind.
func (r *Record) Decode(into any) error { return r.doc.Decode(into) }

// Shared is the document for those who decode it once for all.
func (r *Record) Shared() api.SharedDocument {
	d := api.SharedDocument{Document: &r.doc}
	if r.kept != nil {
		d.Decoded = &r.kept.decoded
	}
	return d
}

// Shared is the value as a struct of its kind. It is decoded once for all who ask
// for the same type, since a document of a job is read by half a dozen of them; what
// it points to is shared with them and must not be changed.
func Shared[T any](r *Record) (T, error) { return api.Value[T](r.Shared()) }

// Read is the value of the document of a key, as [Shared] gives it; false where none is
// held, or it cannot be decoded.
func Read[T any](l *Ledger, key api.Key) (value T, ok bool) {
	record, ok := l.Get(key)
	if !ok {
		return value, false
	}
	value, err := Shared[T](record)
	return value, err == nil
}

// settle gives the value that a record was made of to all who ask for it as its type. A
// text in it that is no UTF-8 reads otherwise: then each has what was encoded.
func (r *Record) settle(value any) {
	// Go 1.27 encodes such a text as the character itself, Go before as an escape.
	if !bytes.Contains(r.doc.Value, []byte(`\ufffd`)) && !bytes.Contains(r.doc.Value, []byte("\ufffd")) {
		api.Keep(&r.kept.decoded, value)
	}
}

// JSON is the document as it goes over the wire. It is encoded when first
// asked for; the bytes are shared and must not be changed. Those of a deletion are
// not kept.
func (r *Record) JSON() (json.RawMessage, error) {
	k := r.kept
	if k == nil {
		return r.doc.MarshalJSON()
	}
	k.once.Do(func() { k.json, k.failed = r.doc.MarshalJSON() })
	return k.json, k.failed
}

// envelopeBytes is what the fixed fields of a document take at most on the
// wire: their names, two counters of 16 digits, a node id, a time and a
// signature.
const envelopeBytes = 384

// SizeBytes bounds the length of JSON from above without encoding.
func (r *Record) SizeBytes() int {
	// Every byte of a name may be written as a \u escape of six.
	n := envelopeBytes + len(r.doc.Kind) + 6*len(r.doc.Name) + len(r.doc.Value)
	for field, reason := range r.doc.Unknown {
		n += 6*len(field) + len(reason) + 6
	}
	for field, raw := range r.doc.Extra {
		n += len(field) + len(raw) + 4
	}
	return n
}

// about is what is known of a kind; nothing of one that this version does not know.
func about(k api.Kind) api.KindInfo {
	info, _ := api.LookupKind(k)
	return info
}
