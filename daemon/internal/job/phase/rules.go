package phase

import (
	"time"

	"fulmen/daemon/api"
)

// Times are durations of the configuration.
type Times struct {
	// Lease is how long ranks and grants live without being renewed.
	Lease time.Duration
	// Renewal is how often they are; less than a third of Lease.
	Renewal time.Duration
	// Preparing bounds what comes before the programs are started, of jobs that have that.
	Preparing time.Duration
	// Starting and Handshake bound these phases.
	Starting, Handshake time.Duration
	// Grace is what ranks get when a person stops the job, FailedGrace when a rank failed.
	Grace, FailedGrace time.Duration
	// Backoff is the wait before the second attempt; it doubles up to BackoffMax.
	Backoff, BackoffMax time.Duration
	// GrantWait is how long a request for a grant stands in line before it is repeated.
	GrantWait time.Duration
}

// DefaultTimes are the defaults of the configuration.
func DefaultTimes() Times {
	return Times{
		Lease: api.DefaultLease, Renewal: api.DefaultLeaseRenewal,
		Preparing: api.DefaultPreparing, Starting: api.DefaultStarting, Handshake: api.DefaultHandshake,
		Grace: api.DefaultGrace, FailedGrace: api.DefaultFailedGrace,
		Backoff: 500 * time.Millisecond, BackoffMax: 30 * time.Second, GrantWait: time.Minute,
	}
}

// Rules are what of a job's spec and of the configuration decides its life.
type Rules struct {
	Times
	// MaxAttempts bounds the starts before every rank has joined; 0 = the default.
	MaxAttempts int
	// Retries is how many attempts may follow a failure after that.
	Retries int
	// Prepares says that the nodes have to be prepared, which takes one longer than
	// another: no program is started before all are.
	Prepares bool
	// Kept says that whatever ends the job, it is started again.
	Kept bool
	// OnStall is what becomes of one that does not get on.
	OnStall api.OnStall
	// Probed says that its readiness is probed.
	Probed bool
	// AllowSolo says that no rank has to join the group: none is waited for to do so.
	AllowSolo bool
	// Placing, Run and Silence bound these times; 0 = no bound.
	Placing, Run, Silence time.Duration
	// Steps signs what proves a new home. No rule rests on a signature, and the same step
	// is signed alike.
	Steps Steps
	// Name is what people call a node, for sentences; nil = its id. No rule rests on it.
	Name func(api.NodeID) string
}

// Steps signs steps of a job's succession with this node's key.
type Steps interface {
	// Offer is this home's offer of the job to a node.
	Offer(job api.Job, to api.NodeID, epoch uint64) api.Succession
	// Act is a person's take-over of the job by this node.
	Act(job api.Job, by api.Principal, to api.NodeID, epoch uint64) api.Succession
}

func (r Rules) name(n api.NodeID) string {
	if r.Name == nil {
		return string(n)
	}
	return r.Name(n)
}

// RulesOf makes the rules of a spec. What the spec leaves out is as configured.
func RulesOf(spec api.JobSpec, times Times) Rules {
	r := Rules{Times: times, MaxAttempts: min(max(spec.MaxAttempts, 0), api.MaxStarts),
		Retries: max(spec.Retries, 0), AllowSolo: spec.AllowSolo, Prepares: spec.Prepares(),
		Kept: spec.Kept, OnStall: spec.OnStall, Probed: spec.Probes != nil && spec.Probes.Readiness != nil}
	if r.OnStall == "" && r.Kept {
		r.OnStall = api.OnStallRestart
	}
	if spec.FetchModel {
		r.Preparing = max(r.Preparing, api.DefaultFetching)
	}
	set := func(d *time.Duration, s *float64) {
		if s != nil && *s >= 0 {
			*d = time.Duration(min(*s, 1e9) * float64(time.Second))
		}
	}
	set(&r.Placing, spec.Deadlines.PlacingS)
	set(&r.Preparing, spec.Deadlines.PreparingS)
	set(&r.Starting, spec.Deadlines.StartingS)
	set(&r.Handshake, spec.Deadlines.HandshakeS)
	set(&r.Run, spec.Deadlines.RunS)
	set(&r.Silence, spec.Deadlines.SilenceS)
	set(&r.Grace, spec.Deadlines.GraceS)
	return r
}

// Window is how long after the last renewal a rank out of sight counts as alive.
func (r Rules) Window() time.Duration {
	return time.Duration(float64(r.Lease)*api.LeaseSafety) + max(r.Grace, r.FailedGrace)
}

// takeOverWindow is the same counted from when a node of the attempt stopped
// answering the former home, which notices at its next renewal only.
func (r Rules) takeOverWindow() time.Duration { return r.Window() + r.Renewal }

// backoff is the wait after the given number of attempts that failed.
func (r Rules) backoff(failed int) time.Duration {
	d := r.Backoff
	for range min(failed-1, 30) {
		d = min(2*d, r.BackoffMax)
	}
	return min(d, r.BackoffMax)
}
