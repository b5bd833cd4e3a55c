package api

import "time"

func instanceMethods() []MethodInfo {
	return []MethodInfo{
		method[InstanceApplyParams, InstanceApplyResult]("instance.apply", ClassUser, "",
			"Declares an instance of a model under a name of the caller's: a kept job of an engine that serves it. The same again changes nothing, another declaration takes the place of what is there."),
		method[Empty, InstanceListResult]("instance.list", ClassUser, "",
			"The instances that the caller has declared on this Mac."),
		method[InstanceSelect, Empty]("instance.delete", ClassUser, "",
			"Ends an instance in order, the newest of its jobs first, and forgets it with all that it was before."),
	}
}

const (
	// DefaultEngine serves instances that name no engine.
	DefaultEngine = "mlx_lm.server"
	// LabelEngine is the label of an instance's job that has the name of its engine.
	LabelEngine = "fulmen.engine"
	// LabelEngineModel is the label, of an engine's file, that has what the engine calls the
	// model that it was started with.
	LabelEngineModel = "fulmen.engine.model"
	// DrainRequests is what the requests of a service get that somebody ends.
	DrainRequests = 10 * time.Second
	// LabelReplica is the label of the jobs of an instance but the first, with their numbers; their
	// names are the instance's, a slash, and the number.
	LabelReplica = "fulmen.replica"
	// MaxReplicas is how many an instance may have.
	MaxReplicas = 16
)

// InstanceSpec declares an instance of a model.
type InstanceSpec struct {
	// Name is what it is known by; empty = the last part of the model's.
	Name string `json:"name,omitempty"`
	// Model is what it serves.
	Model ModelSelect `json:"model"`
	// Engine serves it: one of Fulmen's own, or of the folder engines beside config.toml; empty = DefaultEngine.
	Engine string `json:"engine,omitempty"`
	// EngineFile is the text of the engine's file, in place of one of these.
	EngineFile string `json:"engine_file,omitempty"`
	// Sharding is how the engine divides the model; empty = tensor.
	Sharding Sharding `json:"sharding,omitempty"`
	// Backend is how the ranks talk; empty = auto.
	Backend Backend `json:"backend,omitempty"`
	// Ranks is how many there are exactly; 0 = as few as the model fits on.
	Ranks int `json:"ranks,omitempty"`
	// MinNodes is the fewest Macs that it may have; 0 = one.
	MinNodes int `json:"min_nodes,omitempty"`
	// MaxNodes is the most; 0 = all that there are.
	MaxNodes int `json:"max_nodes,omitempty"`
	// Widest takes as many Macs as fit, of those numbers, where else as few as do.
	Widest bool `json:"widest,omitempty"`
	// Nodes must all be used.
	Nodes []NodeRef `json:"nodes,omitempty"`
	// ExcludedNodes must not be.
	ExcludedNodes []NodeRef `json:"excluded_nodes,omitempty"`
	// Replicas is how often the model is served, each by a job of its own; 0 = as often as it is, else once.
	Replicas int `json:"replicas,omitempty"`
	// MemoryBytes is what each rank needs of the GPU's working set; 0 = what its part of the weights takes.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	// Networks are interfaces or networks, beside Thunderbolt, that unencrypted traffic may use.
	Networks []string `json:"networks,omitempty"`
	// Port is where it answers on this Mac; 0 = where it does, else the first free one from 8080.
	// Other replicas than the first have the next free ones.
	Port int `json:"port,omitempty"`
	// Environment is the Python environment of the engine (venv or conda), as a path.
	Environment string `json:"environment,omitempty"`
	// Home is the home directory by which a path in it means the same path under another account's.
	Home string `json:"home,omitempty"`
	// Variables are the names of the environment variables that are passed.
	Variables []string `json:"variables,omitempty"`
}

// InstanceApplyParams declares an instance.
type InstanceApplyParams struct {
	// Instance is what is declared.
	Instance InstanceSpec `json:"instance"`
	// Environment are the values of Variables. They are kept in memory only, and not compared.
	Environment map[string]string `json:"environment,omitempty"`
	// Replace ends what runs under the name where something is different.
	Replace bool `json:"replace,omitempty"`
	// DryRun changes nothing.
	DryRun bool `json:"dry_run,omitempty"`
}

// InstanceApplyResult is what became of a declaration.
type InstanceApplyResult struct {
	JobApplyResult
	// Name is the instance's.
	Name string `json:"name"`
	// URL is where it answers on this Mac.
	URL string `json:"url"`
	// Endpoint is where this Mac answers for all instances of the cluster, as the base URL of
	// clients of OpenAI's API.
	Endpoint string `json:"endpoint"`
}

// InstanceSelect names an instance.
type InstanceSelect struct {
	// Name is what it was declared by.
	Name string `json:"name"`
}

// InstanceListResult lists instances.
type InstanceListResult struct {
	// Instances are ordered by name.
	Instances []Instance `json:"instances"`
	// Endpoint is where this Mac answers for all instances of the cluster, as the base URL of
	// clients of OpenAI's API.
	Endpoint string `json:"endpoint"`
}

// Instance is a model that is served.
type Instance struct {
	// Name is what it was declared by.
	Name string `json:"name"`
	// Model is what it serves.
	Model ModelSelect `json:"model"`
	// Engine serves it.
	Engine string `json:"engine"`
	// Sharding is how the engine divides the model.
	Sharding Sharding `json:"sharding"`
	InstanceJob
	// TokensPerS is how many tokens a second it makes now, those of all that are ready added up;
	// absent where that is not known.
	TokensPerS *float64 `json:"tokens_per_s,omitempty"`
	// TokensMessage is why it is not, as one sentence, of one that is ready.
	TokensMessage string `json:"tokens_message,omitempty"`
	// Replicas are all of it where there are several, the first too, which is what the other
	// fields are about.
	Replicas []InstanceReplica `json:"replicas,omitempty"`
}

// InstanceReplica is one of the jobs of an instance.
type InstanceReplica struct {
	// Replica is its number, from 1.
	Replica int `json:"replica"`
	InstanceJob
}

// InstanceJob is a job that serves a model.
type InstanceJob struct {
	// URL is where it answers on this Mac.
	URL string `json:"url"`
	// Port is its port.
	Port int `json:"port"`
	// Job is the job that it is.
	Job JobID `json:"job"`
	// Phase is where that is.
	Phase JobPhase `json:"phase"`
	// Reason is why it is there.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
	// ReadyAt is since when the current attempt is ready; absent while it is not.
	ReadyAt Time `json:"ready_at,omitzero"`
	// Attempt is the number of the current attempt: the first, and one for each time that it was started again.
	Attempt int `json:"attempt"`
	// LastEnd is why the attempt before ended.
	LastEnd *Cause `json:"last_end,omitempty"`
	// Nodes are where it runs, each once, ordered by rank.
	Nodes []NodeID `json:"nodes,omitempty"`
}
