package api

func jobMethods() []MethodInfo {
	return []MethodInfo{
		method[JobSubmitParams, JobSubmitResult]("job.submit", ClassUser, "",
			"Signs a spec and accepts it as a job. The same request_id gives the same job again."),
		method[JobApplyParams, JobApplyResult]("job.apply", ClassUser, "",
			"Declares a job under its name: submits it, puts it in the place of the one that the caller declared under that name here, or leaves that one alone where nothing differs."),
		method[JobPlanParams, JobPlanResult]("job.plan", ClassUser, "",
			"Where a spec would run now, or for every set of nodes the first thing that stops it. Changes nothing."),
		method[JobPreflightParams, JobPreflightResult]("job.preflight", ClassUser, "",
			"What each node has of what a program needs: account, directory, interpreter, versions, disk."),
		method[JobListParams, JobListResult]("job.list", ClassRead, "",
			"Jobs. Of other people's jobs only the program's name, the nodes and the resources are given."),
		method[JobSelect, JobGetResult]("job.get", ClassUser, "",
			"One job with its ranks."),
		method[JobSelect, JobWatchResult]("job.watch", ClassUser, "job.changed",
			"job.get, and every change after, ending with exactly one that is terminal."),
		method[JobLogsParams, JobLogsResult]("job.logs", ClassUser, "job.output",
			"What ranks printed, and with follow what they print from now on."),
		method[JobInputParams, JobInputResult]("job.input", ClassUser, "",
			"Gives input to a job, or says that there is no more."),
		method[JobResizeParams, Empty]("job.resize", ClassUser, "",
			"Tells a job's pseudo-terminal its size."),
		method[JobStopParams, Empty]("job.stop", ClassUser, "",
			"Ends a job: SIGTERM, the grace, SIGKILL; with kill at once."),
		method[JobSelect, JobSubmitResult]("job.retry", ClassUser, "",
			"Submits the spec of a job that has ended once more, as a new job."),
		method[JobSelect, Empty]("job.take_over", ClassUser, "",
			"Makes this node the home of a job whose home is gone and that no majority can take over."),
		method[JobDeleteParams, Empty]("job.delete", ClassUser, "",
			"Forgets a job that has ended, with its ranks, grants and files, and by its policy its output."),
	}
}

// JobSelect names a job.
type JobSelect struct {
	// Job is the id.
	Job JobID `json:"job"`
}

// JobSubmitParams is a job to run.
type JobSubmitParams struct {
	// Request is what is wanted.
	Request JobRequest `json:"request"`
	// Environment are the values of Program.Variables. They are kept in memory only.
	Environment map[string]string `json:"environment,omitempty"`
}

// JobSubmitResult is the job accepted.
type JobSubmitResult struct {
	// Job is its id.
	Job JobID `json:"job"`
	// Existing says that the request_id was submitted before.
	Existing bool `json:"existing,omitempty"`
}

// JobPlanParams is a job that could be run.
type JobPlanParams struct {
	// Request is what is wanted.
	Request JobRequest `json:"request"`
}

// JobPlanResult is where it would run, or why not.
type JobPlanResult struct {
	// Plan is the best plan; absent where there is none.
	Plan *Plan `json:"plan,omitempty"`
	// Rejections are the sets of nodes that cannot, each with the first thing that stops it.
	Rejections []PlanRejection `json:"rejections,omitempty"`
	// MaxNodes is how many nodes the largest sets have that cannot either, where those of Rejections have the fewest that
	// will do; absent where all have as many.
	MaxNodes int `json:"max_nodes,omitempty"`
	// Remedies are the single changes that would make it possible, the least first.
	Remedies []Cause `json:"remedies,omitempty"`
	// Line is where it would stand among the jobs that wait, where it could not begin at once.
	Line *LinePlace `json:"line,omitempty"`
}

// JobPreflightParams is a program to be looked for.
type JobPreflightParams struct {
	// Program is the program.
	Program Program `json:"program"`
	// Nodes are the nodes; empty = all that are reached.
	Nodes []NodeRef `json:"nodes,omitempty"`
}

// JobPreflightResult is what each node has.
type JobPreflightResult struct {
	// Nodes are the nodes' answers.
	Nodes []Preflight `json:"nodes"`
	// Differences are what would stop the program.
	Differences []Cause `json:"differences,omitempty"`
	// Notes are what would not stop it and is to be known, such as no MLX anywhere.
	Notes []Cause `json:"notes,omitempty"`
}

// Preflight is what one node has of what a program needs.
type Preflight struct {
	// Node is the node.
	Node NodeID `json:"node"`
	// Directory is where the program would start.
	Directory string `json:"directory,omitempty"`
	// Interpreter is what would run it.
	Interpreter string `json:"interpreter,omitempty"`
	// Versions are those of python, mlx and packages, by name.
	Versions map[string]string `json:"versions,omitempty"`
	// MLX is the MLX that the program would use; absent where that is not known.
	MLX *ProgramMLX `json:"mlx,omitempty"`
	// Model is what it has of the job's model, where the job has one.
	Model *FoundModel `json:"model,omitempty"`
	// DiskFreeBytes is what is free where the program would start.
	DiskFreeBytes *int64 `json:"disk_free_bytes,omitempty"`
	// Problems are what is missing there.
	Problems []Cause `json:"problems,omitempty"`
}

// FoundModel is what a node has of the model that a job names.
type FoundModel struct {
	// Path is its folder there.
	Path string `json:"path,omitempty"`
	// Revision is the commit; absent outside of Hugging Face's cache.
	Revision string `json:"revision,omitempty"`
	// WeightsBytes is the size of the tensors.
	WeightsBytes *int64 `json:"weights_bytes,omitempty"`
	// MissingCount is how many of its files lack.
	MissingCount int `json:"missing_count,omitempty"`
	// Problem is why no rank can use it there: no_such_model, model_incomplete, or why that is not known.
	Problem *Cause `json:"problem,omitempty"`
	// Unknown says of fields that are absent why.
	Unknown map[string]Reason `json:"unknown,omitempty"`
}

// Lacks reports whether a copy of the model would do.
func (f FoundModel) Lacks() bool {
	return f.Problem != nil && (f.Problem.Reason == ReasonNoSuchModel || f.Problem.Reason == ReasonModelIncomplete)
}

// ProgramMLX is the MLX that a program's interpreter finds.
type ProgramMLX struct {
	// Missing says that it finds none.
	Missing bool `json:"missing,omitempty"`
	// Version is that of its package.
	Version string `json:"version,omitempty"`
	// Backends are the distributed backends that it has, by its own word; absent where
	// it could not tell.
	Backends []MLXBackend `json:"backends,omitzero"`
}

// JobListParams says which jobs.
type JobListParams struct {
	// Ended includes jobs that have ended.
	Ended bool `json:"ended,omitempty"`
	// Mine leaves out those of others.
	Mine bool `json:"mine,omitempty"`
	// Labels must all be the job's.
	Labels map[string]string `json:"labels,omitempty"`
}

// JobListResult lists jobs.
type JobListResult struct {
	// Jobs are ordered by submission, the newest first.
	Jobs []JobSummary `json:"jobs"`
}

// JobStopParams ends a job.
type JobStopParams struct {
	// Job is the job.
	Job JobID `json:"job"`
	// Kill skips the grace.
	Kill bool `json:"kill,omitempty"`
}

// JobDeleteParams forgets a job.
type JobDeleteParams struct {
	// Job is the job.
	Job JobID `json:"job"`
	// Output overrides the spec's policy.
	Output OutputPolicy `json:"output,omitempty"`
}

// JobApplyParams declares a job.
type JobApplyParams struct {
	// Request is what is wanted. It has a name and no request_id, and reads no input; it is detached in any case.
	Request JobRequest `json:"request"`
	// Environment are the values of Program.Variables. They are kept in memory only, and not compared.
	Environment map[string]string `json:"environment,omitempty"`
	// Replace permits to end a program that runs.
	Replace bool `json:"replace,omitempty"`
	// DryRun only says what would be done.
	DryRun bool `json:"dry_run,omitempty"`
}

// JobApplyResult is what became of a declaration, or would.
type JobApplyResult struct {
	// Outcome is what was done.
	Outcome ApplyOutcome `json:"outcome"`
	// Job is the job that is declared now; absent in a dry run that would make one.
	Job JobID `json:"job,omitempty"`
	// Before is the job in whose place it is.
	Before JobID `json:"before,omitempty"`
	// Changes are the fields in which the two differ, in order.
	Changes []FieldChange `json:"changes,omitempty"`
}

// FieldChange is a field of a request that is another one now.
type FieldChange struct {
	// Field is its name, with dots: placement.ranks.
	Field string `json:"field"`
	// From is its value before, as JSON; absent where it had none.
	From string `json:"from,omitempty"`
	// To is its value now, as JSON; absent where it has none.
	To string `json:"to,omitempty"`
}
