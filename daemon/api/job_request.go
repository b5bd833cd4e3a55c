package api

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
	// Kept says that nothing expires: the job may be started, and started again, until it ends or is deleted.
	Kept bool `json:"kept,omitempty"`
	// Detached says that the job goes on without its client.
	Detached bool `json:"detached,omitempty"`
	// Output is what becomes of the job's output when it is deleted; empty = delete.
	Output OutputPolicy `json:"output,omitempty"`
}

// Spec makes the spec that is signed: the request with who asks, and with
// defaults filled in.
func (r JobRequest) Spec(job JobID, by Principal, at Time) JobSpec {
	s := JobSpec{
		Job: job, RequestID: r.RequestID, Principal: by, SubmittedAt: at, Name: r.Name, Labels: r.Labels,
		Program: r.Program, Placement: r.Placement, Deadlines: r.Deadlines, Retries: r.Retries,
		MaxAttempts: r.MaxAttempts, AllowMixed: r.AllowMixed, AllowSolo: r.AllowSolo, Publish: r.Publish,
		Kept: r.Kept, Detached: r.Detached, Output: r.Output,
	}
	if s.Output == "" {
		s.Output = OutputDelete
	}
	if s.Program.Stdin == "" {
		s.Program.Stdin = StdinNone
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
	// Phase is where it is.
	Phase JobPhase `json:"phase"`
	// Reason is why it is there.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person; own jobs only.
	Message string `json:"message,omitempty"`
	// Nodes are where it runs, ordered by rank.
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
	// Joined counts the ranks that have joined; in handshake.
	Joined int `json:"joined,omitempty"`
	// Ranks counts the ranks.
	Ranks int `json:"ranks,omitempty"`
	// SubmittedAt is when it was submitted.
	SubmittedAt Time `json:"submitted_at"`
	// EndedAt is when it ended.
	EndedAt Time `json:"ended_at,omitzero"`
	// ExitCode is its own, once it has ended.
	ExitCode *int `json:"exit_code,omitempty"`
}
