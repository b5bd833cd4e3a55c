package ledger

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"

	"fulmen/daemon/api"
)

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
	// cluster or incarnation of before.
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
	if err := a.more(); err != nil {
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
		if err := a.more(); err != nil {
			return api.Version{}, err
		}
	}
	before := a.last
	a.last.Seq += n
	return before, nil
}

// more saves the next block of versions as used; the caller holds mu.
func (a *author) more() error {
	if a.ceiling+reserve > api.MaxCounter {
		return a.begin(a.last.Inc + 1)
	}
	return a.saveCounter(api.Version{Inc: a.last.Inc, Seq: a.ceiling + reserve})
}

// begin starts an incarnation; the caller holds mu.
func (a *author) begin(inc uint64) error {
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
	return a.begin(max(a.last.Inc, above) + 1)
}

// stamp gives copies of documents the next versions and signs them for the
// present cluster. The caller holds era.
func (a *author) stamp(docs []api.Document) ([]api.Document, error) {
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
