package policy

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"fulmen/daemon/api"
)

// Store keeps the policy over a restart.
type Store interface {
	// LoadPolicy gives what was saved last; nil if nothing was.
	LoadPolicy() (json.RawMessage, error)
	// SavePolicy keeps a policy instead of the earlier one. It is on disk when
	// it returns.
	SavePolicy(json.RawMessage) error
}

// The bounds of what a person can say. MaxLines keeps the sharing document far
// below the largest that is taken.
const (
	// MaxLines is how many lines the map of users has, and how many people the
	// list of whose jobs are taken.
	MaxLines = 512
	// MinIdleAfterS and MaxIdleAfterS bound Sharing.IdleAfterS, in seconds.
	MinIdleAfterS = 10
	MaxIdleAfterS = 24 * 60 * 60
)

// idleAfterS is IdleAfterS where nobody said anything.
const idleAfterS = 300

// record is the policy as it is stored and as it is held.
type record struct {
	// Cluster is whose people the map and the list name.
	Cluster api.ClusterID `json:"cluster"`
	// Sharing is what is lent, without who is mapped, which follows from Users.
	Sharing api.Sharing `json:"sharing"`
	// Users is the map, in order.
	Users []api.MappedUser `json:"users,omitempty"`
}

// newRecord is what counts before a person said anything. Jobs is mapped, so
// that mapping somebody is all there is to do, and with an empty map it means
// nobody. On power only costs a Mac without a battery nothing, and keeps one
// with a battery from being found empty.
func newRecord(cluster api.ClusterID) record {
	return record{Cluster: cluster, Sharing: api.Sharing{
		Jobs: api.JobsMapped, RDMAChanges: api.ChangesNobody, OnlyOnPower: true, IdleAfterS: idleAfterS,
	}}
}

// moved is the record in another cluster: what depends on nobody stays.
func (r record) moved(cluster api.ClusterID) record {
	r.Cluster, r.Users = cluster, nil
	r.Sharing.JobsFrom, r.Sharing.RDMAChanges, r.Sharing.Models = nil, api.ChangesNobody, ""
	return r
}

// copied can be changed without changing the other.
func (r record) copied() record {
	r.Users, r.Sharing.JobsFrom = slices.Clone(r.Users), slices.Clone(r.Sharing.JobsFrom)
	if r.Sharing.MemoryMaxBytes != nil {
		r.Sharing.MemoryMaxBytes = new(*r.Sharing.MemoryMaxBytes)
	}
	return r
}

// readRecord decodes what was stored and checks it as strictly as what a person
// says, so that a damaged record lends nothing. Fields of a newer version are
// left out.
func readRecord(raw []byte) (record, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return record{}, fmt.Errorf("the stored policy cannot be read: %w", err)
	}
	if err := r.check(); err != nil {
		return record{}, fmt.Errorf("the stored policy is not valid: %w", err)
	}
	return r, nil
}

func (r record) check() error {
	if !r.Cluster.Valid() {
		return badValue("cluster", "%q is not a cluster", r.Cluster)
	}
	if err := checkSharing(r.Sharing); err != nil {
		return err
	}
	s := r.Sharing
	if s.Mapped != nil || s.MappedNodes != nil || s.MappedMembers || s.Unmapped != nil || s.UnmappedNodes != nil || s.Priorities != nil {
		return badValue("sharing", "the map is stored twice")
	}
	if len(r.Users) > MaxLines {
		return badValue("users", "the map has %d lines, and at most %d are allowed", len(r.Users), MaxLines)
	}
	for i, line := range r.Users {
		if err := checkLine(line); err != nil {
			return err
		}
		if i > 0 && compareLines(r.Users[i-1], line) >= 0 {
			return badValue("users", "the map is not in order")
		}
	}
	return nil
}

// checkSharing checks what a person can set.
func checkSharing(s api.Sharing) error {
	switch {
	case !s.Jobs.Valid():
		return badValue("jobs", "%q is none of %v", s.Jobs, s.Jobs.Values())
	case s.Models != "" && !s.Models.Valid():
		return badValue("models", "%q is none of %v", s.Models, s.Models.Values())
	case !s.RDMAChanges.Valid():
		return badValue("rdma_changes", "%q is none of %v", s.RDMAChanges, s.RDMAChanges.Values())
	case math.IsNaN(s.IdleAfterS) || s.IdleAfterS < MinIdleAfterS || s.IdleAfterS > MaxIdleAfterS:
		return badValue("idle_after_s", "idle_after_s is %v, and %d to %d are allowed", s.IdleAfterS, MinIdleAfterS, MaxIdleAfterS)
	case s.MemoryMaxBytes != nil && *s.MemoryMaxBytes <= 0:
		return badValue("memory_max_bytes", "memory_max_bytes is %d, and a positive number is wanted", *s.MemoryMaxBytes)
	case len(s.JobsFrom) > MaxLines:
		return badValue("jobs_from", "jobs_from names %d people, and at most %d are allowed", len(s.JobsFrom), MaxLines)
	}
	for i, who := range s.JobsFrom {
		if !who.Valid() {
			return badValue("jobs_from", "%q is not a user@NODE", who)
		}
		if i > 0 && s.JobsFrom[i-1].Compare(who) >= 0 {
			return badValue("jobs_from", "jobs_from is not in order")
		}
	}
	return nil
}

func badValue(subject, format string, args ...any) error {
	return api.Errorf(api.ReasonBadValue, subject, format, args...)
}
