package storage

import (
	"encoding/json"
	"fmt"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/methods"
	"fulmen/daemon/internal/model"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/rdma/useractions"
	"fulmen/daemon/internal/server/token"
	"fulmen/daemon/internal/store"
)

// The buckets of the database.
const (
	bucketNode      = "node"      // the counter of versions
	bucketDocuments = "documents" // persisted documents by key
	bucketRoster    = "roster"    // rosters by cluster, and which is in force
	bucketTokens    = "tokens"    // records of tokens by hash
	bucketJobs      = "jobs"      // what is remembered of jobs, by id
	bucketCluster   = "cluster"   // what is lent, where members were met, when one was heard last
	bucketAudit     = "audit"     // what others did here, by number
	bucketRDMA      = "rdma"      // what was changed for RDMA

	keyVersion = "version"
	keyBegun   = "begun"
	keyCurrent = "current"

	keyPolicy      = "policy"
	keyDiscovery   = "discovery"
	keyLastSeen    = "last_seen"
	keyMet         = "met"
	keyName        = "name"
	keyCalled      = "called"
	keyProbes      = "probes"
	keySuspects    = "suspects"
	keyUserActions = "trips"
	keyWanted      = "wanted"
	keyHistory     = "history"
	keyPublic      = "public_models"
	keyRolls       = "rolls"
)

// Buckets are those of the database.
func Buckets() []string {
	return []string{bucketNode, bucketDocuments, bucketRoster, bucketTokens, bucketCluster, bucketJobs, bucketRDMA, bucketAudit}
}

// Records gives each part its records in the database.
type Records struct{ DB *store.Store }

// read decodes a record; false where there is none.
func (s Records) read(bucket, key string, into any) (bool, error) {
	raw, found, err := s.DB.Get(bucket, key)
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, api.Errorf(api.ReasonMalformedDocument, bucket, "The record %s/%s in %s is not in the form of this version.", bucket, key, s.DB.Path()).From(err)
	}
	return true, nil
}

// load is what a record has; the zero value where there is none.
func load[T any](s Records, bucket, key string) (value T, err error) {
	_, err = s.read(bucket, key, &value)
	return value, err
}

// loadAll decodes all records of a bucket.
func loadAll[T any](s Records, bucket string, each func(key string, one T)) error {
	return s.DB.ForEach(bucket, "", func(key string, raw []byte) error {
		var one T
		if err := json.Unmarshal(raw, &one); err != nil {
			return fmt.Errorf("the record %s/%s: %w", bucket, key, err)
		}
		each(key, one)
		return nil
	})
}

func (s Records) save(bucket, key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.DB.Put(bucket, key, raw)
}

// LoadVersion implements ledger.Counter.
func (s Records) LoadVersion() (api.Version, error) {
	return load[api.Version](s, bucketNode, keyVersion)
}

// SaveVersion implements ledger.Counter.
func (s Records) SaveVersion(v api.Version) error {
	return s.save(bucketNode, keyVersion, v)
}

// Begun is when this database was begun; zero for one that is older than the record.
func (s Records) Begun(now time.Time) (time.Time, error) {
	var at api.Time
	if found, err := s.read(bucketNode, keyBegun, &at); found || err != nil {
		return at.Time, err
	}
	version, err := s.LoadVersion()
	if err != nil || version != (api.Version{}) {
		return time.Time{}, err
	}
	return now, s.save(bucketNode, keyBegun, api.TimeOf(now))
}

// TakesBack says which documents of this node's own, that others still have, count
// though the database that had them is lost: of ranks those that were over when this one
// was begun, since what runs is known by its own records. What becomes of a job that was
// not over its home says.
func TakesBack(begun time.Time) func(api.Document) bool {
	return func(d api.Document) bool {
		if !d.At.Before(begun) {
			return false // it was deleted since, and the deletion is forgotten
		}
		switch d.Kind {
		case api.KindGPUProfile, api.KindLinkProfile:
			return true
		case api.KindJob:
			var job api.Job
			return d.Decode(&job) == nil
		case api.KindRank:
			var rank api.Rank
			return d.Decode(&rank) == nil && rank.Phase.Ended()
		}
		return false
	}
}

// Load implements ledger.Store.
func (s Records) Load() ([]api.Document, error) {
	var all []api.Document
	err := loadAll(s, bucketDocuments, func(_ string, one api.Document) { all = append(all, one) })
	return all, err
}

// Save implements ledger.Store.
func (s Records) Save(put []api.Document, forget []api.Key) error {
	return s.DB.Update(func(w *store.Transaction) error {
		for _, d := range put {
			raw, err := d.MarshalJSON() // in the stable form: encoding/json would not change it
			if err == nil {
				err = w.Put(bucketDocuments, d.Key().String(), raw)
			}
			if err != nil {
				return err
			}
		}
		return remove(w, bucketDocuments, forget)
	})
}

// LoadRoster implements cluster.RosterStore.
func (s Records) LoadRoster() (json.RawMessage, error) {
	var current api.ClusterID
	if found, err := s.read(bucketRoster, keyCurrent, &current); err != nil || !found {
		return nil, err
	}
	raw, _, err := s.DB.Get(bucketRoster, "log/"+string(current))
	return raw, err
}

// SaveRoster implements cluster.RosterStore.
func (s Records) SaveRoster(id api.ClusterID, raw json.RawMessage) error {
	return s.DB.Update(func(w *store.Transaction) error {
		if err := w.Put(bucketRoster, "log/"+string(id), raw); err != nil {
			return err
		}
		raw, err := json.Marshal(id)
		if err != nil {
			return err
		}
		return w.Put(bucketRoster, keyCurrent, raw)
	})
}

// LoadTokens implements token.Store.
func (s Records) LoadTokens() ([]token.Record, error) {
	var all []token.Record
	err := loadAll(s, bucketTokens, func(_ string, one token.Record) { all = append(all, one) })
	return all, err
}

// SaveToken implements token.Store.
func (s Records) SaveToken(r token.Record) error {
	return s.save(bucketTokens, r.SHA256, r)
}

// DeleteToken implements token.Store.
func (s Records) DeleteToken(sha256 string) error { return s.DB.Delete(bucketTokens, sha256) }

// LoadPolicy implements policy.Store.
func (s Records) LoadPolicy() (json.RawMessage, error) {
	raw, _, err := s.DB.Get(bucketCluster, keyPolicy)
	return raw, err
}

// SavePolicy implements policy.Store.
func (s Records) SavePolicy(raw json.RawMessage) error {
	return s.DB.Put(bucketCluster, keyPolicy, raw)
}

// LoadDiscovery implements discover.Store.
func (s Records) LoadDiscovery() (discover.Remembered, error) {
	return load[discover.Remembered](s, bucketCluster, keyDiscovery)
}

// SaveDiscovery implements discover.Store.
func (s Records) SaveDiscovery(r discover.Remembered) error {
	return s.save(bucketCluster, keyDiscovery, r)
}

// LoadMet implements node.AddressStore.
func (s Records) LoadMet() (node.Met, error) { return load[node.Met](s, bucketCluster, keyMet) }

// SaveMet implements node.AddressStore.
func (s Records) SaveMet(met node.Met) error {
	return s.save(bucketCluster, keyMet, met)
}

// LoadLastSeen implements replica.LastSeen.
func (s Records) LoadLastSeen() (time.Time, error) {
	at, err := load[api.Time](s, bucketCluster, keyLastSeen)
	return at.Time, err
}

// SaveLastSeen implements replica.LastSeen.
func (s Records) SaveLastSeen(at time.Time) error {
	return s.save(bucketCluster, keyLastSeen, api.TimeOf(at))
}

// LoadJobs implements job.Memory.
func (s Records) LoadJobs() (map[api.JobID]job.Remembered, error) {
	all := map[api.JobID]job.Remembered{}
	err := loadAll(s, bucketJobs, func(id string, one job.Remembered) { all[api.JobID(id)] = one })
	return all, err
}

// SaveJob implements job.Memory.
func (s Records) SaveJob(id api.JobID, one job.Remembered) error {
	return s.save(bucketJobs, string(id), one)
}

// DropJobs implements job.Memory.
func (s Records) DropJobs(ids []api.JobID) error {
	return s.DB.Update(func(w *store.Transaction) error { return remove(w, bucketJobs, ids) })
}

func remove[K fmt.Stringer](w *store.Transaction, bucket string, keys []K) error {
	for _, key := range keys {
		if err := w.Delete(bucket, key.String()); err != nil {
			return err
		}
	}
	return nil
}

// LoadAudit implements audit.Store.
func (s Records) LoadAudit(f func(key string, raw []byte)) error {
	return s.DB.ForEach(bucketAudit, "", func(key string, raw []byte) error {
		f(key, raw)
		return nil
	})
}

// SaveAudit implements audit.Store.
func (s Records) SaveAudit(put map[string][]byte, forget []string) error {
	return s.DB.Update(func(w *store.Transaction) error {
		for _, key := range forget {
			if err := w.Delete(bucketAudit, key); err != nil {
				return err
			}
		}
		for key, raw := range put {
			if err := w.Put(bucketAudit, key, raw); err != nil {
				return err
			}
		}
		return nil
	})
}

// Kept is one record of the database with a value of type T.
type Kept[T any] struct {
	records     Records
	bucket, key string
}

// Load reads it; the zero value where there is none.
func (k Kept[T]) Load() (T, error) { return load[T](k.records, k.bucket, k.key) }

// Save writes it.
func (k Kept[T]) Save(value T) error { return k.records.save(k.bucket, k.key, value) }

// Name is the name that a person gave this node; empty where nobody did.
func (s Records) Name() Kept[string] { return Kept[string]{s, bucketCluster, keyName} }

// Called is what Macs called themselves last.
func (s Records) Called() Kept[map[api.NodeID]string] {
	return Kept[map[api.NodeID]string]{s, bucketCluster, keyCalled}
}

// Probes counts the tests over RDMA since the system started.
func (s Records) Probes() Kept[profile.Probes] { return Kept[profile.Probes]{s, bucketNode, keyProbes} }

// Suspects are the RDMA devices that may be stuck.
func (s Records) Suspects() Kept[health.Suspects] {
	return Kept[health.Suspects]{s, bucketNode, keySuspects}
}

// PublicModels are those that were got without a token.
func (s Records) PublicModels() Kept[[]model.Public] {
	return Kept[[]model.Public]{s, bucketNode, keyPublic}
}

// Rolls are declarations of instances whose replicas are not all as they say yet.
func (s Records) Rolls() Kept[[]methods.Roll] { return Kept[[]methods.Roll]{s, bucketNode, keyRolls} }

// UserActions are those that people make for RDMA.
func (s Records) UserActions() Kept[[]useractions.Kept] {
	return Kept[[]useractions.Kept]{s, bucketNode, keyUserActions}
}

// Requests are those for RDMA that wait for user actions.
func (s Records) Requests() Kept[[]useractions.KeptRequest] {
	return Kept[[]useractions.KeptRequest]{s, bucketNode, keyWanted}
}

// History is what was changed for RDMA, the newest first.
func (s Records) History() Kept[[]api.RDMAChange] {
	return Kept[[]api.RDMAChange]{s, bucketRDMA, keyHistory}
}
