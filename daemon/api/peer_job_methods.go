package api

import (
	"encoding/json"
	"net/netip"
)

// Warrant is what lets a node act for a job as its home: the spec as the submitter's
// node signed it, and how the job came from the home that the spec names to the caller.
type Warrant struct {
	// Spec is the exact bytes of the spec.
	Spec json.RawMessage `json:"spec"`
	// SpecSig is its signature.
	SpecSig []byte `json:"spec_sig"`
	// Homes are the steps, as in the job's document.
	Homes []Succession `json:"homes,omitempty"`
}

// Warrant is that of the job's home.
func (j *Job) Warrant() Warrant { return Warrant{Spec: j.Spec, SpecSig: j.SpecSig, Homes: j.Homes} }

// OpenAttempt is the job's attempt that goes on; nil where none does.
func (j *Job) OpenAttempt() *Attempt {
	for i := range j.Attempts {
		if a := &j.Attempts[i]; a.Attempt == j.Attempt && a.EndedAt.IsZero() {
			return a
		}
	}
	return nil
}

// ReadySince is since when what the job serves can be used; zero where it cannot.
func (j *Job) ReadySince() (since Time) {
	if a := j.OpenAttempt(); a != nil && j.Phase == JobRunning && j.Reason != ReasonNotReady {
		since = a.ReadyAt
	}
	return since
}

// Claim is what a caller says that it is, with its proof: the home of a job.
type Claim struct {
	// Job is the job, and Epoch the caller's epoch as its home.
	Job   JobID
	Epoch uint64
	// Warrant proves it.
	Warrant Warrant
	// Starts says that something begins: an expired spec does not do for it.
	Starts bool
}

// PeerJobParams is a job, or a request about one.
type PeerJobParams struct {
	// RequestKind is what is wanted.
	RequestKind JobRequestKind `json:"wish"`
	// Job is the job.
	Job JobID `json:"job"`
	// By is who wants it.
	By Principal `json:"by"`
	// Spec is the exact bytes of the spec; to submit only.
	Spec json.RawMessage `json:"spec,omitempty"`
	// SpecSig is its signature; to submit only.
	SpecSig []byte `json:"spec_sig,omitempty"`
	// Environment are the values of its variables; to submit only. Kept in memory only.
	Environment map[string]string `json:"environment,omitempty"`
	// Handed is the job as its previous home has it; to submit only, where a job is handed over.
	Handed *Job `json:"handed,omitempty"`
	// Offer makes the called node the home of Handed, with the signature of its previous home.
	Offer *Succession `json:"offer,omitempty"`
	// Homes prove that the caller is the job's home; for the request for values only.
	Homes []Succession `json:"homes,omitempty"`
	// Kill skips the grace; to stop only.
	Kill bool `json:"kill,omitempty"`
	// Unstarted refuses the request where a program of the job may run; to stop only.
	Unstarted bool `json:"unstarted,omitempty"`
	// Reason is why, where no person says so, such as client_gone; to stop only.
	Reason Reason `json:"reason,omitempty"`
	// Output overrides the spec's policy; to delete only.
	Output OutputPolicy `json:"output,omitempty"`
}

// PeerJobResult is what peer.job gives.
type PeerJobResult struct {
	// Environment are the values of the job's variables; of the request for values only.
	Environment map[string]string `json:"environment,omitempty"`
}

// PeerPreflightParams is a job whose program is to be looked for, or a request of that
// form by which nothing is started.
type PeerPreflightParams struct {
	Warrant
	// Epoch is the home's.
	Epoch uint64 `json:"epoch"`
	// Environment are the values of its variables.
	Environment map[string]string `json:"environment,omitempty"`
	// ModelOnly asks for the spec's model alone.
	ModelOnly bool `json:"model_only,omitempty"`
	// ModelRevision is the revision of the spec's model that the plan has; empty before there is one.
	ModelRevision string `json:"model_revision,omitempty"`
}

// PeerHolderParams names who holds a grant.
type PeerHolderParams struct {
	// Holder is the grant's name: a rank or a measurement.
	Holder string `json:"holder"`
	// Epoch is the home's; a lower one than known is refused.
	Epoch uint64 `json:"epoch,omitempty"`
	// Warrant proves that a rank's holder is asked for by the job's home.
	Warrant *Warrant `json:"warrant,omitempty"`
}

// PeerGrantParams is what is asked for.
type PeerGrantParams struct {
	PeerHolderParams
	// Principal is the person whose job it is.
	Principal Principal `json:"principal,omitzero"`
	// GPU is how the GPU is wanted.
	GPU GPUShare `json:"gpu"`
	// MemoryBytes is what is wanted of the GPU's working set.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	// PortNumbers are those whose RDMA device is wanted.
	PortNumbers []PortNumber `json:"receptacles,omitempty"`
	// WaitS is how long to wait in line; 0 = answer at once.
	WaitS float64 `json:"wait_s,omitempty"`
}

// PeerStartParams is a rank to start.
type PeerStartParams struct {
	// Rank is the rank.
	Rank RankRef `json:"rank"`
	// Epoch is the home's; a lower one than known is refused.
	Epoch uint64 `json:"epoch"`
	Warrant
	// Plan is the attempt's plan.
	Plan Plan `json:"plan"`
	// Environment are the values of the spec's variables.
	Environment map[string]string `json:"environment,omitempty"`
	// LeaseS is how long the rank lives without being renewed.
	LeaseS float64 `json:"lease_s"`
	// Wait has the node prepare the rank, say so in its document, and start the program at peer.spawn only. A node of
	// before this field starts it as soon as it is prepared.
	Wait bool `json:"wait,omitempty"`
}

// PeerSpawnParams is a rank that was prepared and is to run.
type PeerSpawnParams struct {
	Warrant
	// Rank is the rank.
	Rank RankRef `json:"rank"`
	// Epoch is the home's; a lower one than known is refused.
	Epoch uint64 `json:"epoch"`
}

// PeerRenewParams renews a lease.
type PeerRenewParams struct {
	Warrant
	// Job is the job.
	Job JobID `json:"job"`
	// Attempt is the attempt.
	Attempt int `json:"attempt"`
	// Epoch is the home's; a lower one than known is refused.
	Epoch uint64 `json:"epoch"`
	// LeaseS is how long it holds from now.
	LeaseS float64 `json:"lease_s"`
	// Stacks are the ranks whose stacks are to be looked at, for the next renewal.
	Stacks []int `json:"stacks,omitempty"`
}

// PeerRenewResult is how the ranks are.
type PeerRenewResult struct {
	// Ranks are the job's ranks on the node that have not ended.
	Ranks []int `json:"ranks"`
	// PrintedBytes is what all the attempt's ranks on the node have printed so far.
	PrintedBytes int64 `json:"printed_bytes,omitempty"`
	// Progress is what the node sees of those that run.
	Progress []RankProgress `json:"progress,omitempty"`
}

// RankProgress is what a node sees of a rank of its own that runs, without its help.
type RankProgress struct {
	// Rank is which.
	Rank int `json:"rank"`
	// AgeS is how old this is.
	AgeS float64 `json:"age_s"`
	// QuietS is for how long it has printed, sent, received, read, written, touched and computed nothing, by processor or
	// GPU, of which that is known.
	QuietS float64 `json:"quiet_s"`
	// StillS is for how long not even a little of that: a server that idles has its ranks meet again and again.
	StillS float64 `json:"still_s"`
	// Activity is what its threads do.
	Activity RankActivity `json:"activity"`
	// Halt is why the system does not let it go on, for HaltS; absent where it does.
	Halt RankHalt `json:"halt,omitempty"`
	// HaltS is for how long.
	HaltS float64 `json:"halt_s,omitempty"`
	// Owes is what it owes, for OwesS; absent where nothing is known of that kind.
	Owes RankDebt `json:"owes,omitempty"`
	// OwesS is for how long.
	OwesS float64 `json:"owes_s,omitempty"`
	// Unknown are the counters that the node lacks, with the reason.
	Unknown map[string]Reason `json:"unknown,omitempty"`
}

// PeerEndParams says which ranks to end.
type PeerEndParams struct {
	Warrant
	// Job is the job.
	Job JobID `json:"job"`
	// Attempt is the attempt.
	Attempt int `json:"attempt"`
	// Ranks are the ranks; empty = all on the node.
	Ranks []int `json:"ranks,omitempty"`
	// Epoch is the home's; a lower one than known is refused.
	Epoch uint64 `json:"epoch"`
	// Reason is why.
	Reason Reason `json:"reason"`
	// Message is why as one sentence for a person; empty: the reason's own.
	Message string `json:"message,omitempty"`
	// GraceS is how long between SIGTERM and SIGKILL; 0 = SIGKILL at once.
	GraceS float64 `json:"grace_s"`
}

// PeerHoldParams is a job's document that is to be known before an attempt starts.
type PeerHoldParams struct {
	// Doc is the document, as its writer signed it.
	Doc Document `json:"doc"`
}

// PeerHoldResult is what else the node holds of the job.
type PeerHoldResult struct {
	// Others are the documents that other homes wrote of the same job.
	Others []Document `json:"others,omitempty"`
}

// PeerListenParams are addresses of the called node at which a rank will listen.
type PeerListenParams struct {
	Warrant
	// Rank is the rank.
	Rank RankRef `json:"rank"`
	// Epoch is the home's; a lower one than known is refused.
	Epoch uint64 `json:"epoch"`
	// Addresses are the node's, in the plan's order.
	Addresses []netip.Addr `json:"addresses"`
}

// PeerListenResult is where the rank is to listen.
type PeerListenResult struct {
	// Addresses are one a wanted address, in the same order. On a simulated node
	// they are on loopback, where programs can bind them.
	Addresses []netip.AddrPort `json:"addresses"`
}

// PeerResizeParams is the size of a rank's pseudo-terminal.
type PeerResizeParams struct {
	// Rank is the rank.
	Rank RankRef `json:"rank"`
	// By is who wants it.
	By Principal `json:"by"`
	// Rows counts the lines.
	Rows int `json:"rows"`
	// Columns counts the characters of a line.
	Columns int `json:"columns"`
}

// PeerOutput says which output of a rank a connection carries.
type PeerOutput struct {
	// By is who wants it.
	By Principal `json:"by"`
	// OutBytes is where to begin in standard output; negative = that far before its end.
	OutBytes int64 `json:"out_bytes,omitempty"`
	// ErrBytes is where to begin in standard error; negative = that far before its end.
	ErrBytes int64 `json:"err_bytes,omitempty"`
	// Follow goes on with what is printed later.
	Follow bool `json:"follow,omitempty"`
	// Prepare gives what the command printed that prepares the rank's node, as standard error.
	Prepare bool `json:"prepare,omitempty"`
}

// PeerInput says whose input a connection carries.
type PeerInput struct {
	// By is who gives it.
	By Principal `json:"by"`
}

// PeerModelsParams says who wants to know of models.
type PeerModelsParams struct {
	// By is who wants it, a person of the caller.
	By Principal `json:"by"`
}

// PeerModel says which model a connection carries.
type PeerModel struct {
	// By is who copies it, a person of the caller.
	By Principal `json:"by"`
	// Model is the model.
	Model ModelSelect `json:"model"`
	// Copy names the copy of which the connection carries a part, as its receiver chose; empty =
	// it carries the whole.
	Copy string `json:"copy,omitempty"`
	// Joins says that others carry parts of it already.
	Joins bool `json:"joins,omitempty"`
}

// PeerModelCopy says which model the node is to copy for a person's account.
type PeerModelCopy struct {
	PeerModel
	// From is the Mac that has it; empty = it is got from Hugging Face.
	From NodeID `json:"from,omitempty"`
	// AnyNetwork allows it over any network.
	AnyNetwork bool `json:"any_network,omitempty"`
}

// PeerModelCopied is how far such a copy is; the last one says so.
type PeerModelCopied struct {
	// Progress is how far it is.
	Progress ModelProgress `json:"progress"`
	// Terminal says that it has ended and nothing follows.
	Terminal bool `json:"terminal,omitempty"`
}

// PeerMeasureParams is a measurement of a path.
type PeerMeasureParams struct {
	// Measurement is its id.
	Measurement MeasureID `json:"measurement"`
	// Transport is what carries the bytes.
	Transport Transport `json:"transport"`
	// Sink is the called node's address; sockets only.
	Sink netip.Addr `json:"sink,omitzero"`
	// Beside are more of its addresses, over which bytes go at the same time; sockets only.
	Beside []netip.Addr `json:"beside,omitempty"`
	// Link is the cable; RDMA only.
	Link LinkID `json:"link,omitzero"`
	// MaxBytes is the most that will be sent, both ways together.
	MaxBytes int64 `json:"max_bytes"`
	// DeadlineS is how long it may take.
	DeadlineS float64 `json:"deadline_s"`
}

// PeerMeasureResult is leave to measure.
type PeerMeasureResult struct {
	// Token opens the measurement's connections, once each.
	Token []byte `json:"token"`
	// Port is where they go.
	Port int `json:"port"`
	// Ports are where those of Beside go, in its order; absent from a node that measures one path at a time.
	Ports []int `json:"ports,omitempty"`
}

// PeerRDMAParams is one step of a change of a cable, the same change at both ends.
type PeerRDMAParams struct {
	// Step is what to do.
	Step RDMAChangeStep `json:"step"`
	// Link is the cable.
	Link LinkID `json:"link"`
	// Change tells one change of a cable from the next.
	Change string `json:"change"`
	// By is who asked.
	By Principal `json:"by"`
	// Taken are the networks that the caller cannot use; to plan only.
	Taken []netip.Prefix `json:"taken,omitempty"`
	// Address is what this end is given; to plan only. An end that cannot use its network answers with a later one.
	Address netip.Prefix `json:"address,omitzero"`
	// DryRun has a plan answered and not recorded.
	DryRun bool `json:"dry_run,omitempty"`
	// Cause is why a change is rolled back, where nobody wants it to be; at commit, why no data was sent to test it.
	Cause *Cause `json:"cause,omitempty"`
}

// PeerVoteParams asks for a vote: that the caller be the home of a job whose home is gone.
type PeerVoteParams struct {
	Warrant
	// Job is the job.
	Job JobID `json:"job"`
	// From is the home that is gone; Warrant proves that it was one.
	From NodeID `json:"from"`
	// FromEpoch is its epoch.
	FromEpoch uint64 `json:"from_epoch"`
	// Epoch is the epoch that the caller would have.
	Epoch uint64 `json:"epoch"`
}

// PeerVoteResult is a vote, or why there is none.
type PeerVoteResult struct {
	// Vote is the vote.
	Vote *Vote `json:"vote,omitempty"`
	// VotedEpoch is the highest epoch of the job for which the node gave its vote to another one.
	VotedEpoch uint64 `json:"voted_epoch,omitempty"`
	// Reason says why it gives none.
	Reason Reason `json:"reason,omitempty"`
}

// Claim is the caller's, as the job's home.
func (p PeerPreflightParams) Claim() Claim {
	var spec JobSpec // what cannot be read is refused with the warrant
	_ = json.Unmarshal(p.Spec, &spec)
	return Claim{Job: spec.Job, Epoch: p.Epoch, Warrant: p.Warrant, Starts: true}
}

// Claim is the caller's, as the job's home; none for a measurement.
func (p PeerHolderParams) Claim() Claim {
	ref, err := ParseRankRef(p.Holder)
	if err != nil || p.Warrant == nil {
		return Claim{Epoch: p.Epoch}
	}
	return Claim{Job: ref.Job, Epoch: p.Epoch, Warrant: *p.Warrant}
}

// Claim is the caller's, as the job's home; none for a measurement.
func (p PeerGrantParams) Claim() Claim {
	c := p.PeerHolderParams.Claim()
	c.Starts = true
	return c
}

// Claim is the caller's, as the job's home.
func (p PeerStartParams) Claim() Claim {
	return Claim{Job: p.Rank.Job, Epoch: p.Epoch, Warrant: p.Warrant, Starts: true}
}

// Claim is the caller's, as the job's home.
func (p PeerSpawnParams) Claim() Claim {
	return Claim{Job: p.Rank.Job, Epoch: p.Epoch, Warrant: p.Warrant, Starts: true}
}

// Claim is the caller's, as the job's home.
func (p PeerRenewParams) Claim() Claim { return Claim{Job: p.Job, Epoch: p.Epoch, Warrant: p.Warrant} }

// Claim is the caller's, as the job's home.
func (p PeerEndParams) Claim() Claim { return Claim{Job: p.Job, Epoch: p.Epoch, Warrant: p.Warrant} }

// Claim is the caller's, as the job's home.
func (p PeerListenParams) Claim() Claim {
	return Claim{Job: p.Rank.Job, Epoch: p.Epoch, Warrant: p.Warrant, Starts: true}
}

// Wanted is who wants something of which job.
func (p PeerJobParams) Wanted() (Principal, JobID) { return p.By, p.Job }

// Wanted is who wants something of which job.
func (p PeerResizeParams) Wanted() (Principal, JobID) { return p.By, p.Rank.Job }
