package api

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
	// Kept says that it may be started for as long as the submitter's node is a member.
	Kept bool `json:"kept,omitempty"`
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
	// Detached says that the job goes on without its client.
	Detached bool `json:"detached,omitempty"`
	// Output is what becomes of the job's files when it is deleted.
	Output OutputPolicy `json:"output"`
}

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
	// Stdin says which ranks read the client's input.
	Stdin StdinTarget `json:"stdin"`
	// Terminal gives rank 0 a pseudo-terminal.
	Terminal bool `json:"terminal,omitempty"`
}

// Prepares reports whether something is to be done on each node before the program
// can start that takes one longer than another: a copy of the folder, or Prepare.
func (p Program) Prepares() bool { return p.Sync || len(p.Prepare) > 0 }

// Placement is what a job needs of nodes and cables.
type Placement struct {
	// Ranks is the number of processes, one a node; 0 where MinNodes and MaxNodes say it.
	Ranks int `json:"ranks,omitempty"`
	// MinNodes is the fewest that will do.
	MinNodes int `json:"min_nodes,omitempty"`
	// MaxNodes is the most that are wanted.
	MaxNodes int `json:"max_nodes,omitempty"`
	// Nodes must all be used.
	Nodes []NodeID `json:"nodes,omitempty"`
	// ExcludedNodes must not be used.
	ExcludedNodes []NodeID `json:"excluded_nodes,omitempty"`
	// Rank0 is the node of rank 0; empty = the one that most others can dial, of equals the submitter's.
	Rank0 NodeID `json:"rank0,omitempty"`
	// Backend is how the ranks talk.
	Backend Backend `json:"backend"`
	// MemoryBytes is what each rank needs of the GPU's working set.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	// GPU is how each rank gets the GPU.
	GPU GPUShare `json:"gpu"`
	// Networks are interfaces or networks, beside Thunderbolt, that unencrypted traffic may use.
	Networks []string `json:"networks,omitempty"`
}

// Deadlines are how long the phases of a job may take; absent = the configured default.
type Deadlines struct {
	// PlacingS ends a job that finds no place; absent = waits for ever.
	PlacingS *float64 `json:"placing_s,omitempty"`
	// PreparingS bounds copying the folder and preparing the nodes, all of them; it counts only for a program that has
	// Sync or Prepare.
	PreparingS *float64 `json:"preparing_s,omitempty"`
	// StartingS bounds spawning, from when all nodes are prepared.
	StartingS *float64 `json:"starting_s,omitempty"`
	// HandshakeS bounds the time until all ranks have joined.
	HandshakeS *float64 `json:"handshake_s,omitempty"`
	// RunS bounds the time after that; absent = no bound.
	RunS *float64 `json:"run_s,omitempty"`
	// SilenceS ends a job of which no rank prints for so long; absent = off.
	SilenceS *float64 `json:"silence_s,omitempty"`
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
