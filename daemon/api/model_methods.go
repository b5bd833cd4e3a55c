package api

func modelMethods() []MethodInfo {
	return []MethodInfo{
		method[Empty, ModelListResult]("model.list", ClassUser, "",
			"The models on this Mac that the account has as which the caller's jobs run here, and the folders that were looked into."),
		method[ModelSelect, ModelShowResult]("model.show", ClassUser, "",
			"One of these models with its files."),
		method[ModelNode, ModelListResult]("model.shared", ClassUser, "",
			"The models on another Mac that it lets the caller read."),
		method[Empty, ModelClusterResult]("model.cluster", ClassUser, "",
			"The models on this Mac and on those that let the caller read theirs, and which Mac has which."),
		method[ModelCopyParams, ModelCopyStarted]("model.copy", ClassUser, "model.copied",
			"Copies a model from a Mac or from Hugging Face to the caller's account on a Mac, this one if no other is named. It ends with the subscription; what has arrived stays for the next time."),
		method[Empty, ModelWatchResult]("model.watch", ClassUser, "model.watched",
			"The models that are being copied to this Mac for the account that the caller has here, whoever began that, and how far that is."),
		method[ModelRemoveParams, ModelRemoveResult]("model.remove", ClassUser, "",
			"Removes a revision of a model from Hugging Face's cache of the caller's account, unless a job that goes on uses it, or says what that would free."),
		method[ModelSelect, ModelVerifyStarted]("model.verify", ClassUser, "model.verified",
			"Reads the files of one of these models and compares them with the hashes that their names say. It ends with the subscription."),
	}
}

// ModelSelect names a model.
type ModelSelect struct {
	// Model is its name as model.list has it, or its folder.
	Model string `json:"model"`
	// Revision is a revision, a unique beginning of one, or a branch; empty = main, or the only one.
	Revision string `json:"revision,omitempty"`
}

// ModelListResult is the models of an account.
type ModelListResult struct {
	// Account is whose models these are.
	Account string `json:"account"`
	// Models are ordered by name and revision.
	Models []Model `json:"models"`
	// Folders are where models were looked for.
	Folders []ModelFolder `json:"folders"`
	// LeftOut counts the models for which an answer has no room.
	LeftOut int `json:"left_out,omitempty"`
}

// ModelFolder is a folder that models are looked for in.
type ModelFolder struct {
	// Path is where it is.
	Path string `json:"path"`
	// Source is whose form it has.
	Source ModelSource `json:"source"`
	// Followed says that changes are noticed; else it is read again for each answer.
	Followed bool `json:"followed,omitempty"`
	// Error is why it could not be read.
	Error *Error `json:"error,omitempty"`
	// Refused are links and names in it that lead out of it, and are not followed; at most 20.
	Refused []string `json:"refused,omitempty"`
}

// Model is a revision of a repository, or a folder with a model.
type Model struct {
	// Model is the repository, or the folder below the one that was looked into.
	Model string `json:"model"`
	// Revision is the commit; absent outside of Hugging Face's cache.
	Revision string `json:"revision,omitempty"`
	// Refs are the branches and tags that name the revision.
	Refs []string `json:"refs,omitempty"`
	// Source is whose form it has.
	Source ModelSource `json:"source"`
	// Path is its folder; of Ollama its manifest.
	Path string `json:"path"`
	// FileCount is how many files are there.
	FileCount int `json:"file_count"`
	// SizeBytes is their size; what revisions share counts in each.
	SizeBytes int64 `json:"size_bytes"`
	// PartialBytes is what was fetched of files of the repository that are not whole.
	PartialBytes int64 `json:"partial_bytes,omitempty"`
	// Complete says that the configuration and all weights are there. Other files may lack.
	Complete *bool `json:"complete,omitempty"`
	// Missing are the files that lack; at most 20.
	Missing []string `json:"missing,omitempty"`
	// MissingCount is how many they are.
	MissingCount int `json:"missing_count,omitempty"`
	// Architecture is the first that config.json names.
	Architecture string `json:"architecture,omitempty"`
	// ModelType is the model_type of config.json, or the architecture that a GGUF file states.
	ModelType string `json:"model_type,omitempty"`
	// Quantization is that of the weights; absent where none is stated.
	Quantization *Quantization `json:"quantization,omitempty"`
	// WeightsBytes is the size of the tensors, and the least memory that the model needs, over all its Macs.
	WeightsBytes *int64 `json:"weights_bytes,omitempty"`
	// WeightsFrom is where that is from.
	WeightsFrom WeightsFrom `json:"weights_from,omitempty"`
	// Parameters is their number, where the index has it.
	Parameters *int64 `json:"parameters,omitempty"`
	// ModifiedAt is when a file last changed.
	ModifiedAt Time `json:"modified_at,omitzero"`
	// Unknown says of fields that are absent why.
	Unknown map[string]Reason `json:"unknown,omitempty"`
}

// Quantization is how weights are stored.
type Quantization struct {
	// Bits is how many a weight has.
	Bits int `json:"bits,omitempty"`
	// GroupSize is how many weights share a scale.
	GroupSize int `json:"group_size,omitempty"`
	// Mode is the kind, such as affine or Q4_K_M.
	Mode string `json:"mode,omitempty"`
}

// ModelShowResult is a model with its files.
type ModelShowResult struct {
	// Account is whose it is.
	Account string `json:"account"`
	// Model is the model.
	Model Model `json:"model"`
	// Files are ordered by path; at most 2,000.
	Files []ModelFile `json:"files"`
}

// ModelFile is one file of a model.
type ModelFile struct {
	// Path is where it is, below the model's folder.
	Path string `json:"path"`
	// SizeBytes is its size.
	SizeBytes int64 `json:"size_bytes"`
	// SHA256 is what its hash should be.
	SHA256 string `json:"sha256,omitempty"`
	// GitSHA1 is the same as Git counts it, for files that are not in large-file storage.
	GitSHA1 string `json:"git_sha1,omitempty"`
}

// ModelNode names the Mac whose models are meant.
type ModelNode struct {
	// Node is the Mac.
	Node NodeRef `json:"node"`
}

// ModelClusterResult is which Mac has which models.
type ModelClusterResult struct {
	// Models are ordered by name and revision.
	Models []ModelOnNodes `json:"models"`
	// Nodes are the Macs that were asked, this one first.
	Nodes []ModelNodeAnswer `json:"nodes"`
	// LeftOut counts the models for which an answer has no room.
	LeftOut int `json:"left_out,omitempty"`
}

// ModelOnNodes is a model and where it is.
type ModelOnNodes struct {
	// Model is the model, as the first of On has it.
	Model Model `json:"model"`
	// On are the Macs, those first where it is complete.
	On []ModelOnNode `json:"on"`
}

// ModelOnNode is how much of a model a Mac has.
type ModelOnNode struct {
	// Node is the Mac.
	Node NodeID `json:"node"`
	// Complete is Model.Complete there; absent = unknown.
	Complete *bool `json:"complete,omitempty"`
	// MissingCount is how many files lack there.
	MissingCount int `json:"missing_count,omitempty"`
}

// ModelNodeAnswer is what a Mac answered about its models.
type ModelNodeAnswer struct {
	// Node is the Mac.
	Node NodeID `json:"node"`
	// Account is whose models it has named.
	Account string `json:"account,omitempty"`
	// Error is why it has named none.
	Error *Error `json:"error,omitempty"`
}

// ModelCopyParams says what is copied, and from where.
type ModelCopyParams struct {
	ModelSelect
	// Node is the Mac that has it; empty = it is got from Hugging Face.
	Node NodeRef `json:"node,omitempty"`
	// To is the Mac that is to have it, for the account that its map has for the caller; empty = this Mac.
	To NodeRef `json:"to,omitempty"`
	// AnyNetwork allows it where the two reach each other over Wi-Fi, a tunnel or what costs money alone (slow_network).
	AnyNetwork bool `json:"any_network,omitempty"`
}

// ModelCopyStarted is the subscription that follows a copy.
type ModelCopyStarted struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// Node is the Mac that has the model; absent where it comes from Hugging Face.
	Node NodeID `json:"node,omitempty"`
	// To is the Mac that gets it.
	To NodeID `json:"to"`
	// Account is whose the copy is; absent on another Mac.
	Account string `json:"account,omitempty"`
}

// ModelWatchResult is the subscription to what is copied.
type ModelWatchResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
}

// ModelWatched is what is copied now.
type ModelWatched struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1.
	N uint64 `json:"n"`
	// Copies are ordered by model.
	Copies []ModelCopying `json:"copies"`
}

// ModelCopying is a copy that goes on.
type ModelCopying struct {
	ModelSelect
	// From is the Mac that it comes from; absent from Hugging Face.
	From NodeID `json:"from,omitempty"`
	// Progress is how far it is.
	Progress ModelProgress `json:"progress"`
}

// ModelRemoveParams says what is removed.
type ModelRemoveParams struct {
	ModelSelect
	// DryRun removes nothing.
	DryRun bool `json:"dry_run,omitempty"`
}

// ModelRemoveResult is what was removed, or would be.
type ModelRemoveResult struct {
	// Account is whose it was.
	Account string `json:"account"`
	// Model is the model as it was.
	Model Model `json:"model"`
	// FreedBytes is what is freed on the disk: what other revisions share stays.
	FreedBytes int64 `json:"freed_bytes"`
	// Jobs are those that go on and use it.
	Jobs []JobID `json:"jobs,omitempty"`
}

// ModelVerifyStarted is the subscription that follows a verification.
type ModelVerifyStarted struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// Model is what is verified.
	Model Model `json:"model"`
}

// ModelVerified is how far a verification is.
type ModelVerified struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1.
	N uint64 `json:"n"`
	// Progress is how far it is.
	Progress ModelProgress `json:"progress"`
	// Terminal says that it has ended and nothing follows.
	Terminal bool `json:"terminal,omitempty"`
}

// ModelCopied is how far the copying of a model is.
type ModelCopied struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1.
	N uint64 `json:"n"`
	// Progress is how far it is.
	Progress ModelProgress `json:"progress"`
	// Terminal says that it has ended and nothing follows.
	Terminal bool `json:"terminal,omitempty"`
}

// ModelProgress is how far the reading or copying of a model's files is.
type ModelProgress struct {
	// Revision is the commit that is copied, once its sender has named it.
	Revision string `json:"revision,omitempty"`
	// DoneBytes is what was read, or is in place.
	DoneBytes int64 `json:"done_bytes"`
	// TotalBytes is what there is to read or to copy.
	TotalBytes int64 `json:"total_bytes"`
	// Verified counts the files that are as they should be.
	Verified int `json:"verified"`
	// Unverified counts those for which no hash is known; they are not read.
	Unverified int `json:"unverified,omitempty"`
	// Over are the kinds of the paths that carry a copy now, one for each, the first first.
	Over []LinkKind `json:"over,omitempty"`
	// Doing is what goes on while nothing is copied, in words.
	Doing string `json:"doing,omitempty"`
	// Corrupt are those that are not as they should be; at most 20.
	Corrupt []string `json:"corrupt,omitempty"`
	// Error is why it failed: model_corrupt, model_incomplete, or what kept it from reading.
	Error *Error `json:"error,omitempty"`
}
