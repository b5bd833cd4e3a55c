package api

import (
	"encoding/json"
	"slices"
)

// Job is the value of a job document, written by the job's home. A new home
// writes a document of its own with Epoch one higher; the highest epoch counts.
type Job struct {
	// Spec is the exact bytes of a JobSpec, as the submitter's node signed them.
	Spec json.RawMessage `json:"spec"`
	// SpecSig is the submitter's node's Ed25519 signature, by SpecSigningBytes.
	SpecSig []byte `json:"spec_sig"`
	// SpecSHA256 is SHA-256 of Spec, lower-case hex.
	SpecSHA256 string `json:"spec_sha256"`
	// Principal is who submitted it, as in the spec.
	Principal Principal `json:"principal"`
	// Home is the node that drives the job, the writer of the document.
	Home NodeID `json:"home"`
	// Epoch counts the homes, from 1.
	Epoch uint64 `json:"epoch"`
	// Homes prove that Home is it, at Epoch: one step for each change since the spec's
	// first home, the oldest first.
	Homes []Succession `json:"homes,omitempty"`
	// NextHome is the node that was asked to be the home. Until it answers nobody
	// knows whether it is one already, under the epoch after this.
	NextHome NodeID `json:"next_home,omitempty"`
	// Phase is where the job is.
	Phase JobPhase `json:"phase"`
	// PhaseSince is when it got there.
	PhaseSince Time `json:"phase_since"`
	// Reason is why it is there, where that needs saying.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
	// WaitingFor says for what it waits, and on whom.
	WaitingFor string `json:"waiting_for,omitempty"`
	// Wanted is what it waits for until others have ended; jobs behind it leave that alone.
	Wanted *Wanted `json:"wanted,omitempty"`
	// Suspect is the rank for which the job does not get on, where Reason is stalled and one can be named.
	Suspect *int `json:"suspect,omitempty"`
	// Attempt is the number of the current attempt, from 1; 0 before the first.
	Attempt int `json:"attempt"`
	// CountedAttempts are those that failed before every rank had joined and count
	// against the spec's MaxAttempts.
	CountedAttempts int `json:"counted_attempts,omitempty"`
	// Retried are those that failed after that and count against the spec's Retries.
	Retried int `json:"retried,omitempty"`
	// NextAttemptAt is when the next attempt is due; in backoff only.
	NextAttemptAt Time `json:"next_attempt_at,omitzero"`
	// Attempts are all attempts, the oldest first.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Phases are the phases with their times, the oldest first.
	Phases []PhaseTime `json:"phases,omitempty"`
	// StopRequested says who asked to stop it.
	StopRequested *StopRequest `json:"stop_requested,omitempty"`
	// ExitCode is the job's own, once it has ended: see ExitCode.
	ExitCode *int `json:"exit_code,omitempty"`
	// EndedAt is when it ended.
	EndedAt Time `json:"ended_at,omitzero"`
}

// PhaseTime is when a job entered a phase.
type PhaseTime struct {
	// Phase is the phase.
	Phase JobPhase `json:"phase"`
	// Attempt is the attempt then.
	Attempt int `json:"attempt"`
	// At is when.
	At Time `json:"at"`
}

// StopRequest is somebody's request to end a job.
type StopRequest struct {
	// By is who asked.
	By Principal `json:"by"`
	// At is when.
	At Time `json:"at"`
	// Kill skips the grace.
	Kill bool `json:"kill,omitempty"`
	// Reason is why, where it is not only that a person wished it.
	Reason Reason `json:"reason,omitempty"`
}

// IsReplaced reports whether another job takes its place.
func (s *StopRequest) IsReplaced() bool { return s != nil && s.Reason == ReasonReplaced }

// Attempt is one try at running a job: a plan, and what came of it.
type Attempt struct {
	// Attempt is its number, from 1.
	Attempt int `json:"attempt"`
	// Plan is who runs what, over which cables.
	Plan *Plan `json:"plan,omitempty"`
	// StartedAt is when its first rank was asked for.
	StartedAt Time `json:"started_at,omitzero"`
	// EndedAt is when its last rank was known to have ended.
	EndedAt Time `json:"ended_at,omitzero"`
	// Joined lists the ranks that have completed the handshake.
	Joined []int `json:"joined,omitempty"`
	// Reason is why it ended, or cannot start.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
	// FirstFailed is the rank that failed first, the cause of the others' end.
	FirstFailed *int `json:"first_failed,omitempty"`
	// ExitCode is the first failing rank's own, or 0.
	ExitCode *int `json:"exit_code,omitempty"`
	// ReadyAt is when it was ready first: when its readiness probe had passed, else when all ranks ran.
	ReadyAt Time `json:"ready_at,omitzero"`
	// Uncounted says that it failed before any rank had joined and does not count against the retries.
	Uncounted bool `json:"uncounted,omitempty"`
	// Replanned says that nothing of it was started: what its nodes have does not fit its plan, and another was made at once.
	Replanned bool `json:"replanned,omitempty"`
}

// IsLong reports whether it had been ready for KeptReady.
func (a Attempt) IsLong() bool {
	return !a.ReadyAt.IsZero() && a.EndedAt.Sub(a.ReadyAt.Time) >= KeptReady
}

// MadeRoom reports whether its home ended it for another job; that a rank says so is not enough.
func (a Attempt) MadeRoom() bool { return a.Reason == ReasonPreempted && a.FirstFailed == nil }

// JobPhaseInfo is a row of the table of phases.
type JobPhaseInfo struct {
	// Phase is the phase.
	Phase JobPhase
	// Next are the phases that may follow it; none for an end.
	Next []JobPhase
}

// JobPhases lists the phases and what may follow each. The way out of a phase
// with live ranks leads through ending, so that no attempt begins before the
// ranks of the last one have ended. From home_lost a job goes on where it was
// if its home comes back in time, or ends and starts anew under another.
func JobPhases() []JobPhaseInfo {
	return []JobPhaseInfo{
		{JobQueued, []JobPhase{JobPlacing, JobHomeLost, JobFailed, JobStopped}},
		{JobPlacing, []JobPhase{JobStarting, JobBackoff, JobHomeLost, JobFailed, JobStopped}},
		{JobStarting, []JobPhase{JobHandshake, JobRunning, JobEnding, JobHomeLost}},
		{JobHandshake, []JobPhase{JobRunning, JobEnding, JobHomeLost}},
		{JobRunning, []JobPhase{JobEnding, JobHomeLost}},
		{JobEnding, []JobPhase{JobBackoff, JobHomeLost, JobSucceeded, JobFailed, JobStopped}},
		{JobBackoff, []JobPhase{JobPlacing, JobHomeLost, JobFailed, JobStopped}},
		{JobHomeLost, []JobPhase{JobQueued, JobPlacing, JobStarting, JobHandshake, JobRunning, JobEnding, JobBackoff}},
		{JobSucceeded, nil},
		{JobFailed, nil},
		{JobStopped, nil},
	}
}

// Next lists the phases that may follow.
func (p JobPhase) Next() []JobPhase {
	for _, info := range JobPhases() {
		if info.Phase == p {
			return info.Next
		}
	}
	return nil
}

// May reports whether next may follow.
func (p JobPhase) May(next JobPhase) bool { return slices.Contains(p.Next(), next) }

// Ended reports whether the phase is an end.
func (p JobPhase) Ended() bool { return p == JobSucceeded || p == JobFailed || p == JobStopped }

// JobRequest is what a client says of a JobSpec; the daemon adds job, principal
// and time, fills in defaults, and signs.
type JobRequest struct {
	// RequestID makes submitting twice the same as once.
	RequestID string `json:"request_id,omitempty"`
	// Name is what screens show; by default that of its script or module, else of its program.
	Name string `json:"name,omitempty"`
	// Labels are free pairs for clients.
	Labels map[string]string `json:"labels,omitempty"`
	// Program is what every rank executes.
	Program Program `json:"program"`
	// Model is what its ranks compute with: nodes that lack it are left out, and its size counts.
	Model ModelSelect `json:"model,omitzero"`
	// FetchModel copies the model to the nodes chosen for it that lack it; they count where it fits on no others.
	FetchModel bool `json:"fetch_model,omitempty"`
	// Sharding is how the program divides the model; empty = tensor, where there is one.
	Sharding Sharding `json:"sharding,omitempty"`
	// Placement is where it may run.
	Placement Placement `json:"placement"`
	// Deadlines are how long its phases may take.
	Deadlines Deadlines `json:"deadlines,omitzero"`
	// Retries is how many attempts may follow a failure after the handshake.
	Retries int `json:"retries,omitempty"`
	// MaxAttempts bounds the starts before all ranks have joined, whatever fails; 0 = DefaultStarts, of which DefaultCountedAttempts may fail for what the program did.
	MaxAttempts int `json:"max_attempts,omitempty"`
	// AllowMixed permits different versions of Python, MLX and packages.
	AllowMixed bool `json:"allow_mixed,omitempty"`
	// AllowSolo says that no rank has to join the group by JACCL's side channel: the job
	// runs as soon as its programs do.
	AllowSolo bool `json:"allow_solo,omitempty"`
	// Publish are ports of rank 0 made reachable elsewhere.
	Publish []Publish `json:"publish,omitempty"`
	// Kept says that the job is to be there: nothing expires, and whatever ends it, it is started again, until somebody
	// stops it, or it has ended KeptInARow times in a row for one cause without having been ready for KeptReady.
	Kept bool `json:"kept,omitempty"`
	// Priority is from MinPriority to MaxPriority; of jobs that wait the higher goes first. A point counts as much as waiting
	// PriorityAge longer. Against other people's jobs it counts on a Mac as far as its owner says.
	Priority int `json:"priority,omitempty"`
	// After are the ids or names of jobs of the caller's that have to succeed first; where one does not, this one fails.
	After []string `json:"after,omitempty"`
	// Preemptible says that the job may be ended for one of higher priority; it waits then, and is started again.
	Preemptible bool `json:"preemptible,omitempty"`
	// YieldWhenIdle says so of a kept job while it is idle, for a job of any priority that waits.
	YieldWhenIdle bool `json:"yield_when_idle,omitempty"`
	// IdleS is how long nobody must have asked anything of a kept job's rank 0, through Fulmen, for it to be idle; 0 = DefaultIdle.
	IdleS float64 `json:"idle_s,omitempty"`
	// KeepAwake says when the Macs of a kept job are kept from idle sleep; empty = used. Those of others always are.
	KeepAwake KeepAwake `json:"keep_awake,omitempty"`
	// Probes say how it is known that what rank 0 serves works.
	Probes *Probes `json:"probes,omitempty"`
	// Metrics are where the program counts the tokens that it makes.
	Metrics *Metrics `json:"metrics,omitempty"`
	// OnStall is what becomes of it when it does not get on; empty = restart where Kept, else warn.
	OnStall OnStall `json:"on_stall,omitempty"`
	// Detached says that the job goes on without its client.
	Detached bool `json:"detached,omitempty"`
	// Output is what becomes of the job's output when it is deleted; empty = delete.
	Output OutputPolicy `json:"output,omitempty"`
}

// Spec makes the spec that is signed: the request, of which After are ids, with who asks,
// and with defaults filled in.
func (r JobRequest) Spec(job JobID, by Principal, at Time) JobSpec {
	s := JobSpec{
		Job: job, RequestID: r.RequestID, Principal: by, SubmittedAt: at, Name: r.Name, Labels: r.Labels,
		Program: r.Program, Model: r.Model, FetchModel: r.FetchModel, Sharding: r.Sharding, Placement: r.Placement, Deadlines: r.Deadlines, Retries: r.Retries,
		MaxAttempts: r.MaxAttempts, AllowMixed: r.AllowMixed, AllowSolo: r.AllowSolo, Publish: r.Publish,
		Kept: r.Kept, Probes: r.Probes, Metrics: r.Metrics, OnStall: r.OnStall, Detached: r.Detached, Output: r.Output,
		Priority: r.Priority, Preemptible: r.Preemptible, YieldWhenIdle: r.YieldWhenIdle, IdleS: r.IdleS, KeepAwake: r.KeepAwake,
	}
	for _, id := range r.After {
		s.After = append(s.After, JobID(id))
	}
	if s.Output == "" {
		s.Output = OutputDelete
	}
	if s.Program.Stdin == "" {
		s.Program.Stdin = StdinNone
	}
	if s.Sharding == "" && s.Model.Model != "" {
		s.Sharding = ShardingTensor
	}
	if s.Placement.Backend == "" {
		s.Placement.Backend = BackendAuto
	}
	if s.Placement.GPU == "" {
		s.Placement.GPU = GPUExclusive
	}
	return s
}

// JobSummary is what everybody may know of a job.
type JobSummary struct {
	// Job is the id.
	Job JobID `json:"job"`
	// Name is what screens show.
	Name string `json:"name"`
	// Declared says that it was declared under its name, with job.apply; own jobs only.
	Declared bool `json:"declared,omitempty"`
	// Principal is whose it is.
	Principal Principal `json:"principal"`
	// Mine says that it is the caller's.
	Mine bool `json:"mine,omitempty"`
	// Serves is the model that it serves, of an instance; own jobs only.
	Serves string `json:"serves,omitempty"`
	// Phase is where it is.
	Phase JobPhase `json:"phase"`
	// Reason is why it is there.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person; own jobs only.
	Message string `json:"message,omitempty"`
	// Nodes are where it runs, each once, ordered by rank.
	Nodes []NodeID `json:"nodes,omitempty"`
	// Backend is how the ranks talk.
	Backend Backend `json:"backend,omitempty"`
	// MemoryBytes is what all ranks together are granted.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	// Attempt is the number of the current attempt.
	Attempt int `json:"attempt"`
	// CountedAttempts are those that failed before every rank had joined and count.
	CountedAttempts int `json:"counted_attempts,omitempty"`
	// MaxAttempts is how many of these there may be.
	MaxAttempts int `json:"max_attempts,omitempty"`
	// ReadyAt is when the current attempt was ready first; absent before, and while it is not ready.
	ReadyAt Time `json:"ready_at,omitzero"`
	// Joined counts the ranks that have joined; in handshake.
	Joined int `json:"joined,omitempty"`
	// Ranks counts the ranks.
	Ranks int `json:"ranks,omitempty"`
	// Priority is what its spec says.
	Priority int `json:"priority,omitempty"`
	// LinePosition is its place among all jobs that wait for one, from 1; 0 while it does not.
	LinePosition int `json:"line_position,omitempty"`
	// SubmittedAt is when it was submitted.
	SubmittedAt Time `json:"submitted_at"`
	// EndedAt is when it ended.
	EndedAt Time `json:"ended_at,omitzero"`
	// ExitCode is its own, once it has ended.
	ExitCode *int `json:"exit_code,omitempty"`
}

// JobSpec is what a person asked for. It never changes after it was signed, except that a
// node that joins another cluster signs its people's again, with Home and Roster of now.
// Nodes check the exact bytes before they start anything. Values of environment variables
// are not in it: they go to the nodes that run ranks and are never stored.
type JobSpec struct {
	// Job is the id that the submitter's node drew.
	Job JobID `json:"job"`
	// RequestID makes submitting twice the same as once; free text of the client.
	RequestID string `json:"request_id,omitempty"`
	// Principal is who asks, vouched for by the node that signs.
	Principal Principal `json:"principal"`
	// SubmittedAt is when.
	SubmittedAt Time `json:"submitted_at"`
	// Home is the job's first home.
	Home NodeID `json:"home,omitempty"`
	// Roster are the heads of the roster as the submitter's node knew them, in ascending order: who was a member by them
	// votes for another home.
	Roster []string `json:"roster,omitempty"`
	// ExpiresAt is until when something may be started by it, SpecLifetime after SubmittedAt at most; absent where Kept. What
	// runs then runs on.
	ExpiresAt Time `json:"expires_at,omitzero"`
	// Kept says that it may be started for as long as the submitter's node is a member, and is whenever it has ended.
	Kept bool `json:"kept,omitempty"`
	// Probes say how it is known that what rank 0 serves works.
	Probes *Probes `json:"probes,omitempty"`
	// Metrics are where the program counts the tokens that it makes.
	Metrics *Metrics `json:"metrics,omitempty"`
	// OnStall is what becomes of it when it does not get on; empty = restart where Kept, else warn.
	OnStall OnStall `json:"on_stall,omitempty"`
	// Look says that nodes are only asked what they have: nothing is started by it.
	Look bool `json:"look,omitempty"`
	// Name is what screens show; by default that of its script or module, else of its program.
	Name string `json:"name,omitempty"`
	// Declared says that Name names what the principal declared with job.apply: the newest job that has both counts.
	Declared bool `json:"declared,omitempty"`
	// Labels are free pairs for clients.
	Labels map[string]string `json:"labels,omitempty"`
	// Program is what every rank executes.
	Program Program `json:"program"`
	// Model is what its ranks compute with: nodes that lack it are left out, and its size counts.
	Model ModelSelect `json:"model,omitzero"`
	// FetchModel copies the model to the nodes chosen for it that lack it.
	FetchModel bool `json:"fetch_model,omitempty"`
	// Sharding is how the program divides the model.
	Sharding Sharding `json:"sharding,omitempty"`
	// Placement is where it may run.
	Placement Placement `json:"placement"`
	// Deadlines are how long its phases may take.
	Deadlines Deadlines `json:"deadlines"`
	// Retries is how many attempts may follow a failure after the handshake.
	Retries int `json:"retries"`
	// MaxAttempts bounds the starts before all ranks have joined; 0 = DefaultStarts.
	MaxAttempts int `json:"max_attempts"`
	// AllowMixed permits different versions of Python, MLX and packages.
	AllowMixed bool `json:"allow_mixed,omitempty"`
	// AllowSolo says that no rank has to join the group by JACCL's side channel: the job
	// runs as soon as its programs do.
	AllowSolo bool `json:"allow_solo,omitempty"`
	// Publish are ports of rank 0 made reachable elsewhere.
	Publish []Publish `json:"publish,omitempty"`
	// Priority is the request's.
	Priority int `json:"priority,omitempty"`
	// After are the jobs that have to succeed first.
	After []JobID `json:"after,omitempty"`
	// Preemptible is the request's.
	Preemptible bool `json:"preemptible,omitempty"`
	// YieldWhenIdle is the request's.
	YieldWhenIdle bool `json:"yield_when_idle,omitempty"`
	// IdleS is the request's.
	IdleS float64 `json:"idle_s,omitempty"`
	// KeepAwake is the request's.
	KeepAwake KeepAwake `json:"keep_awake,omitempty"`
	// Detached says that the job goes on without its client.
	Detached bool `json:"detached,omitempty"`
	// Output is what becomes of the job's files when it is deleted.
	Output OutputPolicy `json:"output"`
}

// Prepares reports whether something is to be done on each node before the program
// can start that takes one longer than another: what Program.Prepares says, or a copy of the model.
func (s JobSpec) Prepares() bool { return s.FetchModel || s.Program.Prepares() }

// Program is what a job's ranks execute and in what surroundings.
type Program struct {
	// Command is the program and its arguments; of a built-in one the arguments alone.
	Command []string `json:"command,omitempty"`
	// Builtin names a program of Fulmen's own.
	Builtin Builtin `json:"builtin,omitempty"`
	// Directory is where it starts; a path under the submitter's home means the same path under the mapped account's.
	Directory string `json:"directory,omitempty"`
	// Home is the submitter's home directory, by which such paths are recognised.
	Home string `json:"home,omitempty"`
	// Interpreter is what runs the program, instead of the one that the account's login shell would find.
	Interpreter string `json:"interpreter,omitempty"`
	// Environment is the Python environment to use (venv or conda), as a path.
	Environment string `json:"environment,omitempty"`
	// Variables are the names of the environment variables that are passed.
	Variables []string `json:"variables,omitempty"`
	// Sync copies the directory to every node first.
	Sync bool `json:"sync,omitempty"`
	// Prepare is run once on each node before the first rank, again when its inputs change.
	Prepare []string `json:"prepare,omitempty"`
	// PrepareInputs are the files whose contents decide whether Prepare is run again.
	PrepareInputs []string `json:"prepare_inputs,omitempty"`
	// Stdin says which ranks read the client's input; a request may leave it out: none.
	Stdin StdinTarget `json:"stdin"`
	// Terminal gives rank 0 a pseudo-terminal.
	Terminal bool `json:"terminal,omitempty"`
}

// Prepares reports whether something is to be done on each node before the program
// can start that takes one longer than another: a copy of the folder, or Prepare.
func (p Program) Prepares() bool { return p.Sync || len(p.Prepare) > 0 }

// Placement is what a job needs of nodes and cables.
type Placement struct {
	// Ranks is the number of processes, RanksPerNode a node; 0 where MinNodes and MaxNodes say it.
	Ranks int `json:"ranks,omitempty"`
	// RanksPerNode is how many each node runs, numbered in a row, over ring alone where more than one; 0 = one.
	RanksPerNode int `json:"ranks_per_node,omitempty"`
	// MinNodes is the fewest that will do.
	MinNodes int `json:"min_nodes,omitempty"`
	// MaxNodes is the most that are wanted.
	MaxNodes int `json:"max_nodes,omitempty"`
	// Widest takes as many nodes as fit, of those numbers, where else as few as do.
	Widest bool `json:"widest,omitempty"`
	// Nodes must all be used.
	Nodes []NodeID `json:"nodes,omitempty"`
	// ExcludedNodes must not be used.
	ExcludedNodes []NodeID `json:"excluded_nodes,omitempty"`
	// Rank0 is the node of rank 0; empty = the one that most others can dial, of equals the submitter's.
	Rank0 NodeID `json:"rank0,omitempty"`
	// Backend is how the ranks talk; a request may leave it out: auto.
	Backend Backend `json:"backend"`
	// MemoryBytes is what each rank needs of the GPU's working set, and a node grants as much for each of its ranks; with ShareBy what all need together.
	// 0 of a job with a model: its weights and 10 % of them, divided, and 1 GiB a rank.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	// ShareBy gives each rank its share of the whole, by the node's memory and speed; empty = shares are not given.
	ShareBy ShareBasis `json:"per_node,omitempty"`
	// GPU is how each rank gets the GPU; a request may leave it out: exclusive.
	GPU GPUShare `json:"gpu"`
	// Networks are interfaces or networks, beside Thunderbolt, that unencrypted traffic may use.
	Networks []string `json:"networks,omitempty"`
}

// PerNode is how many ranks each node runs.
func (p Placement) PerNode() int { return max(1, p.RanksPerNode) }

// Deadlines are how long the phases of a job may take; absent = the configured default.
type Deadlines struct {
	// PlacingS ends a job that finds no place; absent = waits for ever.
	PlacingS *float64 `json:"placing_s,omitempty"`
	// PreparingS bounds copying the folder and the model and preparing the nodes, all of them; it counts only for a job with
	// Sync, Prepare or FetchModel. With FetchModel the default is a day: a copy at rest ends by itself.
	PreparingS *float64 `json:"preparing_s,omitempty"`
	// StartingS bounds spawning, from when all nodes are prepared.
	StartingS *float64 `json:"starting_s,omitempty"`
	// HandshakeS bounds the time until all ranks have joined.
	HandshakeS *float64 `json:"handshake_s,omitempty"`
	// RunS bounds the time after that; absent = no bound.
	RunS *float64 `json:"run_s,omitempty"`
	// SilenceS ends a job of which no rank prints for so long; absent = off.
	SilenceS *float64 `json:"silence_s,omitempty"`
	// HeartbeatS is how long a rank may leave between two touches of the file that FULMEN_HEARTBEAT names, from the first
	// one on; a longer time is something that it owes. Absent = it names none.
	HeartbeatS *float64 `json:"heartbeat_s,omitempty"`
	// GraceS is how long ranks get between the polite signal and SIGKILL.
	GraceS *float64 `json:"grace_s,omitempty"`
}

// Publish makes a port of rank 0 reachable elsewhere while it listens.
type Publish struct {
	// Port is the port number, at rank 0 and where it is published.
	Port int `json:"port"`
	// LAN publishes it on the network, behind a bearer key; otherwise on the submitter's loopback.
	LAN bool `json:"lan,omitempty"`
}

// RDMA reports whether the backend needs it.
func (b Backend) RDMA() bool { return b == BackendJACCL || b == BackendJACCLRing }
