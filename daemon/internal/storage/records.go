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
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/rdma/trips"
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

	keyPolicy    = "policy"
	keyDiscovery = "discovery"
	keyLastSeen  = "last_seen"
	keyMet       = "met"
	keyName      = "name"
	keyCalled    = "called"
	keyProbes    = "probes"
	keySuspects  = "suspects"
	keyTrips     = "trips"
	keyWanted    = "wanted"
	keyHistory   = "history"
)

// Buckets are those of the database.
func Buckets() []store.Bucket {
	return []store.Bucket{
		{Name: bucketNode, Version: 1}, {Name: bucketDocuments, Version: 1}, {Name: bucketRoster, Version: 1}, {Name: bucketTokens, Version: 1},
		{Name: bucketCluster, Version: 1}, {Name: bucketJobs, Version: 1}, {Name: bucketRDMA, Version: 1}, {Name: bucketAudit, Version: 1},
	}
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

func write(w store.Writer, bucket, key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return w.Put(bucket, key, raw)
}

// LoadVersion is the ledger's.
func (s Records) LoadVersion() (api.Version, error) {
	var v api.Version
	_, err := s.read(bucketNode, keyVersion, &v)
	return v, err
}

// SaveVersion is the ledger's.
func (s Records) SaveVersion(v api.Version) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketNode, keyVersion, v) })
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
	return now, s.DB.Update(func(w store.Writer) error { return write(w, bucketNode, keyBegun, api.TimeOf(now)) })
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

// Load is the ledger's.
func (s Records) Load() ([]api.Document, error) {
	var all []api.Document
	err := s.DB.ForEach(bucketDocuments, "", func(key string, raw []byte) error {
		var d api.Document
		if err := json.Unmarshal(raw, &d); err != nil {
			return fmt.Errorf("document %s: %w", key, err)
		}
		all = append(all, d)
		return nil
	})
	return all, err
}

// Save is the ledger's.
func (s Records) Save(put []api.Document, forget []api.Key) error {
	return s.DB.Update(func(w store.Writer) error {
		for _, d := range put {
			raw, err := d.MarshalJSON() // in the stable form: encoding/json would not change it
			if err == nil {
				err = w.Put(bucketDocuments, d.Key().String(), raw)
			}
			if err != nil {
				return err
			}
		}
		for _, key := range forget {
			if err := w.Delete(bucketDocuments, key.String()); err != nil {
				return err
			}
		}
		return nil
	})
}

// LoadRoster is the cluster's.
func (s Records) LoadRoster() (json.RawMessage, error) {
	var current api.ClusterID
	if found, err := s.read(bucketRoster, keyCurrent, &current); err != nil || !found {
		return nil, err
	}
	raw, _, err := s.DB.Get(bucketRoster, "log/"+string(current))
	return raw, err
}

// SaveRoster is the cluster's.
func (s Records) SaveRoster(id api.ClusterID, raw json.RawMessage) error {
	return s.DB.Update(func(w store.Writer) error {
		if err := w.Put(bucketRoster, "log/"+string(id), raw); err != nil {
			return err
		}
		return write(w, bucketRoster, keyCurrent, id)
	})
}

// LoadTokens is the server's.
func (s Records) LoadTokens() ([]token.Record, error) {
	var all []token.Record
	err := s.DB.ForEach(bucketTokens, "", func(key string, raw []byte) error {
		var r token.Record
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("token %s: %w", key, err)
		}
		all = append(all, r)
		return nil
	})
	return all, err
}

// SaveToken is the server's.
func (s Records) SaveToken(r token.Record) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketTokens, r.SHA256, r) })
}

// DeleteToken is the server's.
func (s Records) DeleteToken(sha256 string) error { return s.DB.Delete(bucketTokens, sha256) }

// LoadPolicy is the policy's.
func (s Records) LoadPolicy() (json.RawMessage, error) {
	raw, _, err := s.DB.Get(bucketCluster, keyPolicy)
	return raw, err
}

// SavePolicy is the policy's.
func (s Records) SavePolicy(raw json.RawMessage) error {
	return s.DB.Update(func(w store.Writer) error { return w.Put(bucketCluster, keyPolicy, raw) })
}

// LoadDiscovery is discovery's.
func (s Records) LoadDiscovery() (discover.Remembered, error) {
	var r discover.Remembered
	_, err := s.read(bucketCluster, keyDiscovery, &r)
	return r, err
}

// SaveDiscovery is discovery's.
func (s Records) SaveDiscovery(r discover.Remembered) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketCluster, keyDiscovery, r) })
}

// LoadName is the name that a person gave this node; empty where nobody did.
func (s Records) LoadName() (string, error) {
	var name string
	_, err := s.read(bucketCluster, keyName, &name)
	return name, err
}

// SaveName keeps it.
func (s Records) SaveName(name string) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketCluster, keyName, name) })
}

// LoadCalled is what Macs called themselves last.
func (s Records) LoadCalled() (map[api.NodeID]string, error) {
	names := map[api.NodeID]string{}
	_, err := s.read(bucketCluster, keyCalled, &names)
	return names, err
}

// SaveCalled keeps it.
func (s Records) SaveCalled(names map[api.NodeID]string) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketCluster, keyCalled, names) })
}

// LoadProbes counts the tests over RDMA since the system started.
func (s Records) LoadProbes() (profile.Probes, error) {
	var run profile.Probes
	_, err := s.read(bucketNode, keyProbes, &run)
	return run, err
}

// SaveProbes keeps them.
func (s Records) SaveProbes(run profile.Probes) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketNode, keyProbes, run) })
}

// LoadSuspects reads which RDMA devices may be stuck.
func (s Records) LoadSuspects() (health.Suspects, error) {
	var kept health.Suspects
	_, err := s.read(bucketNode, keySuspects, &kept)
	return kept, err
}

// SaveSuspects keeps them.
func (s Records) SaveSuspects(now health.Suspects) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketNode, keySuspects, now) })
}

// LoadMet is the cluster's.
func (s Records) LoadMet() (node.Met, error) {
	var met node.Met
	_, err := s.read(bucketCluster, keyMet, &met)
	return met, err
}

// SaveMet is the cluster's.
func (s Records) SaveMet(met node.Met) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketCluster, keyMet, met) })
}

// LoadLastSeen is replication's.
func (s Records) LoadLastSeen() (time.Time, error) {
	var at api.Time
	_, err := s.read(bucketCluster, keyLastSeen, &at)
	return at.Time, err
}

// SaveLastSeen is replication's.
func (s Records) SaveLastSeen(at time.Time) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketCluster, keyLastSeen, api.TimeOf(at)) })
}

// LoadJobs implements job.Memory.
func (s Records) LoadJobs() (map[api.JobID]job.Remembered, error) {
	all := map[api.JobID]job.Remembered{}
	err := s.DB.ForEach(bucketJobs, "", func(key string, raw []byte) error {
		var one job.Remembered
		if err := json.Unmarshal(raw, &one); err != nil {
			return fmt.Errorf("what is remembered of job %s: %w", key, err)
		}
		all[api.JobID(key)] = one
		return nil
	})
	return all, err
}

// SaveJob implements job.Memory.
func (s Records) SaveJob(id api.JobID, one job.Remembered) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketJobs, string(id), one) })
}

// DropJobs implements job.Memory.
func (s Records) DropJobs(ids []api.JobID) error {
	return s.DB.Update(func(w store.Writer) error {
		for _, id := range ids {
			if err := w.Delete(bucketJobs, string(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// LoadAudit is the audit's.
func (s Records) LoadAudit(f func(key string, raw []byte)) error {
	return s.DB.ForEach(bucketAudit, "", func(key string, raw []byte) error {
		f(key, raw)
		return nil
	})
}

// SaveAudit is the audit's.
func (s Records) SaveAudit(put map[string][]byte, forget []string) error {
	return s.DB.Update(func(w store.Writer) error {
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

// LoadTrips reads the trips that people make for RDMA.
func (s Records) LoadTrips() (all []trips.Kept, err error) {
	_, err = s.read(bucketNode, keyTrips, &all)
	return all, err
}

// SaveTrips keeps them.
func (s Records) SaveTrips(all []trips.Kept) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketNode, keyTrips, all) })
}

// LoadRequests reads the requests for RDMA that wait for trips.
func (s Records) LoadRequests() (all []trips.KeptRequest, err error) {
	_, err = s.read(bucketNode, keyWanted, &all)
	return all, err
}

// SaveRequests keeps them.
func (s Records) SaveRequests(all []trips.KeptRequest) error {
	return s.DB.Update(func(w store.Writer) error { return write(w, bucketNode, keyWanted, all) })
}

// History is the audit log of changes for RDMA.
func (s Records) History() History { return History{s} }

// History implements rdma.History.
type History struct{ records Records }

// Load implements rdma.History.
func (h History) Load() (all []api.RDMAChange, err error) {
	_, err = h.records.read(bucketRDMA, keyHistory, &all)
	return all, err
}

// Save implements rdma.History.
func (h History) Save(all []api.RDMAChange) error {
	return h.records.DB.Update(func(w store.Writer) error { return write(w, bucketRDMA, keyHistory, all) })
}
