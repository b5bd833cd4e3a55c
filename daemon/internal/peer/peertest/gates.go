package peertest

import (
	"crypto/ed25519"
	"log/slog"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// Book is who is a member.
type Book interface {
	// PublicKey is a member's key.
	PublicKey(api.NodeID) (ed25519.PublicKey, bool)
	// SignerKey is the key of a member or of a former one.
	SignerKey(api.NodeID) (ed25519.PublicKey, bool)
	// Cluster is the cluster's id.
	Cluster() api.ClusterID
}

// Electors makes electors of a book: everybody of all votes.
func Electors(b Book, all func() []api.NodeID) api.Electors { return electors{b, all} }

type electors struct {
	Book
	all func() []api.NodeID
}

func (e electors) Voters([]string) ([]api.NodeID, bool) { return e.all(), true }

// Anybody is a book in which every node is a member, without a key.
type Anybody struct{}

// PublicKey implements Book.
func (Anybody) PublicKey(api.NodeID) (ed25519.PublicKey, bool) { return nil, true }

// SignerKey implements Book.
func (Anybody) SignerKey(api.NodeID) (ed25519.PublicKey, bool) { return nil, true }

// Cluster implements Book.
func (Anybody) Cluster() api.ClusterID { return "0123456789abcdef0123456789abcdef" }

// NewGate makes a gate. What the configuration leaves out is a cluster in which nobody is
// known, no job, no cable, and nobody is mapped.
func NewGate(cfg gate.Config) *gate.Gate {
	if cfg.Electors == nil {
		cfg.Electors = Electors(Anybody{}, func() []api.NodeID { return nil })
	}
	if cfg.Known == nil {
		cfg.Known = func(api.JobID) (gate.Known, bool) { return gate.Known{}, false }
	}
	if cfg.Bound == nil {
		cfg.Bound = func(api.Step, api.Act) bool { return false }
	}
	if cfg.Maps == nil {
		cfg.Maps = func(api.Principal, api.Principal) bool { return false }
	}
	if cfg.Shares == nil {
		cfg.Shares = func(api.Principal, api.Principal) bool { return false }
	}
	if cfg.Cable == nil {
		cfg.Cable = func(api.LinkID, api.NodeID) bool { return false }
	}
	if cfg.Reads == nil {
		cfg.Reads = func(api.Principal) api.Reason { return api.ReasonModelsNotShared }
	}
	if cfg.Clock == nil {
		clock, err := native.SystemClock()
		if err != nil {
			panic(err)
		}
		cfg.Clock = clock
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return gate.New(cfg)
}

// GateFor makes a gate of a node that lets every node in as whatever it says: cables lead
// everywhere, and the jobs are those that known gives, nil being none.
func GateFor(self api.NodeID, clock native.Clock, known func(api.JobID) (gate.Known, bool)) *gate.Gate {
	return NewGate(gate.Config{Self: self, Clock: clock, Known: known, Cable: func(api.LinkID, api.NodeID) bool { return true }})
}

// Job is a job that goes on, as everybody knows it: a person's, with one rank on each
// of the nodes in an attempt.
func Job(spec api.JobSpec, epoch uint64, nodes ...api.NodeID) func(api.JobID) (gate.Known, bool) {
	spec.Home = spec.Principal.Node
	plan := api.Plan{}
	for i, n := range nodes {
		plan.Ranks = append(plan.Ranks, api.PlanRank{Rank: i, Node: n})
	}
	job := api.Job{Principal: spec.Principal, Home: spec.Home, Epoch: epoch, Phase: api.JobRunning, Attempt: 1, Attempts: []api.Attempt{{Attempt: 1, Plan: &plan}}}
	return func(id api.JobID) (gate.Known, bool) { return gate.Known{Job: job, Spec: spec}, id == spec.Job }
}
