package api

import (
	"net/netip"
	"strconv"
)

// NodeState is the value of a node-state document: what a node says of itself.
// Whether others can reach it is derived by each of them: see Liveness.
type NodeState struct {
	// State is what the node does.
	State SelfState `json:"state"`
	// Since is when that began.
	Since Time `json:"since"`
	// Reason is why, such as lid_closed.
	Reason Reason `json:"reason,omitempty"`
	// UserIdleS is for how long nobody has used the node, when it last changed between used and idle.
	UserIdleS *float64 `json:"user_idle_s,omitempty"`
	// Idle says whether the node counts as idle by its sharing policy.
	Idle *bool `json:"idle,omitempty"`
}

// Reach is the value of a reach document, named by peer and address: the
// address answered with that peer's identity, over this interface.
type Reach struct {
	// Peer is who answered.
	Peer NodeID `json:"peer"`
	// Address is where it answered; a link-local IPv6 address has this node's zone.
	Address netip.Addr `json:"address"`
	// Port is the peer port there.
	Port int `json:"port"`
	// Interface is this node's interface that the answer came in by.
	Interface string `json:"interface"`
	// Source is this node's address on the path.
	Source netip.Addr `json:"source,omitzero"`
	// PeerInterface is the peer's interface, as the peer says.
	PeerInterface string `json:"peer_interface,omitempty"`
	// Kind is what the path is made of, the last that was known: a source that falls silent does not make it unknown.
	Kind LinkKind `json:"kind"`
	// KindAt is when Kind was last confirmed.
	KindAt Time `json:"kind_at,omitzero"`
	// VerifiedAt is when the identity was last proved.
	VerifiedAt Time `json:"verified_at"`
	// State says whether the path carries packets now.
	State PathState `json:"state"`
	// FailedAt is when it stopped answering.
	FailedAt Time `json:"failed_at,omitzero"`
	// Reason says why it is not used.
	Reason Reason `json:"reason,omitempty"`
}

// Pending is the value of a pending document, named by the asking node: an
// entry of the inbox. Nothing of it is proved yet.
type Pending struct {
	// Peer is the id that it claims.
	Peer NodeID `json:"peer"`
	// Name is the name that it claims.
	Name string `json:"name"`
	// ModelName is the model that it claims.
	ModelName string `json:"model_name,omitempty"`
	// Address is from where it asks.
	Address netip.AddrPort `json:"address"`
	// Interface is by which interface it asks.
	Interface string `json:"interface"`
	// State is what a person did with it.
	State PendingState `json:"state"`
	// Since is when it asked first.
	Since Time `json:"since"`
	// ExpiresAt is when its code stops to count.
	ExpiresAt Time `json:"expires_at,omitzero"`
	// TriesLeft counts the wrong codes that are still allowed.
	TriesLeft int `json:"tries_left"`
}

// NodeView is what one node derives about another, or about itself.
type NodeView struct {
	// Node is the id.
	Node NodeID `json:"node"`
	// ShortName is for people.
	ShortName string `json:"short_name"`
	// Self says that it is the node that is asked.
	Self bool `json:"self,omitempty"`
	// Simulated says that no real hardware is behind it.
	Simulated bool `json:"simulated,omitempty"`
	// Liveness is whether it is reached.
	Liveness Liveness `json:"liveness"`
	// Since is since when.
	Since Time `json:"since"`
	// Reason is why it is not reached.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
	// Paths are the ways to it, the best first.
	Paths []PathView `json:"paths,omitempty"`
}

// PathView is one way to a node.
type PathView struct {
	// Address is the peer with the address at which it answers.
	Address PeerAddress `json:"address"`
	// Interface is this node's interface.
	Interface string `json:"interface"`
	// Kind is what the path is made of.
	Kind LinkKind `json:"kind"`
	// State is what it is used for.
	State PathState `json:"state"`
	// RTTUS is the last round trip of a probe.
	RTTUS *float64 `json:"rtt_us,omitempty"`
}

// Reached reports whether a node counts: it answers, what it says is not old, and its
// numbers are in the totals.
func (l Liveness) Reached() bool { return l == LivenessAlive }

// Totals are sums over the nodes that are reached. A sum leaves out the nodes
// that do not know; its count says how many it covers.
type Totals struct {
	// Nodes counts the nodes that are reached.
	Nodes int `json:"nodes"`
	// Members counts all members.
	Members int `json:"members"`
	// FP16TFLOPS is the measured compute.
	FP16TFLOPS *float64 `json:"fp16_tflops,omitempty"`
	// MemoryBytesPerS is the measured memory bandwidth.
	MemoryBytesPerS *int64 `json:"memory_bytes_per_s,omitempty"`
	// MeasuredNodes counts the nodes behind FP16TFLOPS and MemoryBytesPerS.
	MeasuredNodes int `json:"measured_nodes"`
	// MemoryTotalBytes is the unified memory.
	MemoryTotalBytes *int64 `json:"memory_total_bytes,omitempty"`
	// MemoryUsedBytes is the unified memory in use.
	MemoryUsedBytes *int64 `json:"memory_used_bytes,omitempty"`
	// OtherMemory is that of the nodes whose memory is not unified, or of which that is not known.
	OtherMemory []OtherMemory `json:"other_memory,omitempty"`
	// PowerWatts is the whole machines' power where it is known, else the chips'.
	PowerWatts *float64 `json:"power_watts,omitempty"`
	// PowerNodes counts the nodes behind PowerWatts.
	PowerNodes int `json:"power_nodes"`
	// Simulated says that some of it is not real.
	Simulated bool `json:"simulated,omitempty"`
}

// OtherMemory is the memory in which nodes compute that have no unified memory.
type OtherMemory struct {
	// GPUMemory is what it is; absent = not known.
	GPUMemory GPUMemory `json:"gpu_memory,omitempty"`
	// TotalBytes is the GPUs' own memory, or RAM.
	TotalBytes int64 `json:"total_bytes"`
	// Nodes counts the nodes that have it.
	Nodes int `json:"nodes"`
}

// Noun is what people call the memory.
func (w GPUMemory) Noun() string {
	switch w {
	case GPUMemoryUnified:
		return "unified memory"
	case GPUMemoryDedicated:
		return "GPU memory"
	case GPUMemoryNone:
		return "RAM"
	}
	return "memory (kind unknown)"
}

// OtherMemoryWords are the memories that are not unified, in words: 64 GB RAM of 1 machine.
func (t Totals) OtherMemoryWords(size func(int64) string) (all []string) {
	for _, o := range t.OtherMemory {
		machines := " machines"
		if o.Nodes == 1 {
			machines = " machine"
		}
		all = append(all, size(o.TotalBytes)+" "+o.GPUMemory.Noun()+" of "+strconv.Itoa(o.Nodes)+machines)
	}
	return all
}

// Identity is the value of an identity document: who a node is. It changes
// with a rename, an update of the system or of MLX, and hardly otherwise.
type Identity struct {
	// PublicKey is the node's Ed25519 key, of which the node id is made.
	PublicKey []byte `json:"public_key"`
	// Name is the friendly name, as the person gave it; for people only.
	Name string `json:"name"`
	// ShortName is the slug of Name, made unique in the cluster by -2, -3, ...
	ShortName string `json:"short_name"`
	// Platform is the system's family.
	Platform Platform `json:"platform"`
	// Architecture is the processor's, as Go names it, such as arm64.
	Architecture string `json:"architecture"`
	// Model is the maker's identifier, such as Mac15,14.
	Model string `json:"model,omitempty"`
	// ModelName is what people call the model, such as Mac Studio.
	ModelName string `json:"model_name,omitempty"`
	// Chip is the processor's name, such as Apple M3 Ultra.
	Chip string `json:"chip,omitempty"`
	// OSName is the system's name, such as macOS.
	OSName string `json:"os_name,omitempty"`
	// OSVersion is the system's version, such as 26.2.
	OSVersion string `json:"os_version,omitempty"`
	// OSBuild is the system's build, such as 25C56.
	OSBuild string `json:"os_build,omitempty"`
	// CPUCores counts all cores of the processor.
	CPUCores *int `json:"cpu_cores,omitempty"`
	// CPUPerformanceCores counts the fastest kind of core.
	CPUPerformanceCores *int `json:"cpu_performance_cores,omitempty"`
	// CPUEfficiencyCores counts all slower kinds of core.
	CPUEfficiencyCores *int `json:"cpu_efficiency_cores,omitempty"`
	// GPUName is the GPU's name where it is not the chip's.
	GPUName string `json:"gpu_name,omitempty"`
	// GPUCores counts the GPU's cores.
	GPUCores *int `json:"gpu_cores,omitempty"`
	// GPUMemory is the memory in which its GPU computes.
	GPUMemory GPUMemory `json:"gpu_memory,omitempty"`
	// MLXVersion is the version of the MLX that Fulmen itself uses.
	MLXVersion string `json:"mlx_version,omitempty"`
	// MLXBackends are the distributed backends that this MLX has.
	MLXBackends []MLXBackend `json:"mlx_backends,omitempty"`
	// MLXDevices are the kinds of device that this MLX computes on.
	MLXDevices []MLXDevice `json:"mlx_devices,omitempty"`
	// FulmenVersion is the version of the daemon.
	FulmenVersion string `json:"fulmen_version"`
	// Protocol is the newest peer protocol that the daemon speaks; it also speaks the one before.
	Protocol int `json:"protocol"`
	// BootedAt is when the system started.
	BootedAt Time `json:"booted_at,omitzero"`
	// StartedAt is when the daemon started.
	StartedAt Time `json:"started_at,omitzero"`
}

func nodeMethods() []MethodInfo {
	return []MethodInfo{
		method[Empty, NodeListResult]("node.list", ClassRead, "",
			"Every node with what can be derived about it: whether it is reached, by which paths, and the totals of the cluster."),
		method[NodeSelect, NodeGetResult]("node.get", ClassRead, "",
			"One node with all its documents."),
		method[Empty, NodeWatchResult]("node.watch", ClassRead, "node.changed",
			"node.list, and every change after."),
		method[NodeRename, Empty]("node.rename", ClassAdmin, "",
			"Gives this node another friendly name."),
		method[NodeConditionsParams, NodeConditionsResult]("node.conditions", ClassRead, "",
			"What is wrong, worst first: the nodes' own conditions and those derived here."),
	}
}

// NodeSelect names a node.
type NodeSelect struct {
	// Node is the node; empty = this one.
	Node NodeRef `json:"node,omitempty"`
}

// NodeListResult is every node and the totals.
type NodeListResult struct {
	// Nodes are ordered by short name, this node first.
	Nodes []NodeView `json:"nodes"`
	// Totals are of the nodes that are reached.
	Totals Totals `json:"totals"`
}

// NodeGetResult is one node with its documents.
type NodeGetResult struct {
	// Node is what is derived.
	Node NodeView `json:"node"`
	// Docs are its documents.
	Docs []Document `json:"docs"`
}

// NodeWatchResult is NodeListResult with the subscription that continues it.
type NodeWatchResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	NodeListResult
}

// NodeChanged is what changed among the nodes.
type NodeChanged struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1; absent where Lagged.
	N uint64 `json:"n,omitempty"`
	// Put are the nodes that changed.
	Put []NodeView `json:"put,omitempty"`
	// Del are the nodes that are gone.
	Del []NodeID `json:"del,omitempty"`
	// Totals are the new totals.
	Totals *Totals `json:"totals,omitempty"`
	// Lagged says that changes were dropped and the subscription is over.
	Lagged bool `json:"lagged,omitempty"`
}

// NodeRename is a new name.
type NodeRename struct {
	// Name is the new friendly name, 1 to 63 characters; empty = follow the computer's name.
	Name string `json:"name"`
}

// NodeConditionsParams says whose conditions.
type NodeConditionsParams struct {
	// Nodes are the nodes wanted; empty = all.
	Nodes []NodeRef `json:"nodes,omitempty"`
	// Muted includes those that a person muted.
	Muted bool `json:"muted,omitempty"`
}

// NodeConditionsResult is what is wrong.
type NodeConditionsResult struct {
	// Conditions are ordered by severity, the worst first, then by age, the newest first.
	Conditions []NodeCondition `json:"conditions"`
	// Headline is of the whole cluster, whichever nodes are wanted.
	Headline Headline `json:"headline"`
}

// Headline is the cluster in one line, in the words of every screen.
type Headline struct {
	// Text is how well the cluster is, or the worst that is wrong with it; empty = not known.
	Text string `json:"text,omitempty"`
	// Problems counts the conditions that ask for something: neither muted nor of severity info.
	Problems int `json:"problems"`
	// Worst is what Text is about, with its remedy and action; absent where all is well.
	Worst *NodeCondition `json:"worst,omitempty"`
}

// IsAbout reports whether the headline is about a condition.
func (h Headline) IsAbout(c NodeCondition) bool {
	return h.Worst != nil && h.Worst.Node == c.Node && h.Worst.Code == c.Code && h.Worst.Subject == c.Subject
}

// NodeCondition is a condition with the node that says so.
type NodeCondition struct {
	// Node is who says so.
	Node NodeID `json:"node"`
	// Others say the same, such as the node at a cable's other end.
	Others []NodeID `json:"others,omitempty"`
	// Brief is it in two or three words, where it is of the node's heat, power or memory.
	Brief string `json:"brief,omitempty"`
	Condition
}
