package api

import (
	"reflect"
	"sync"
)

// KindInfo is a row of the table of kinds.
type KindInfo struct {
	// Kind is the key.
	Kind Kind
	// Value is the struct type of the document's value.
	Value reflect.Type
	// Name is the rule of the document's name.
	Name NameRule
	// Replicated says that every member gets it.
	Replicated bool
	// Persisted says that it outlives a restart of its node; the others are learnt anew.
	Persisted bool
	// Live says that it moves while watched, by subscription and not by gossip.
	Live bool
	// Fresh says that it is measured again while somebody watches and it is old.
	Fresh bool
}

// Kinds lists every kind this version knows.
func Kinds() []KindInfo {
	return []KindInfo{
		{Kind: KindIdentity, Value: reflect.TypeFor[Identity](), Name: NameEmpty, Replicated: true},
		{Kind: KindMemory, Value: reflect.TypeFor[Memory](), Name: NameEmpty, Replicated: true, Live: true},
		{Kind: KindSystem, Value: reflect.TypeFor[System](), Name: NameEmpty, Replicated: true, Live: true},
		{Kind: KindNetwork, Value: reflect.TypeFor[Network](), Name: NameEmpty, Replicated: true},
		{Kind: KindThunderbolt, Value: reflect.TypeFor[Thunderbolt](), Name: NamePortNumber, Replicated: true},
		{Kind: KindRDMA, Value: reflect.TypeFor[RDMA](), Name: NamePortNumber, Replicated: true},
		{Kind: KindReach, Value: reflect.TypeFor[Reach](), Name: NamePeerAddress, Replicated: true},
		{Kind: KindSharing, Value: reflect.TypeFor[Sharing](), Name: NameEmpty, Replicated: true, Persisted: true},
		{Kind: KindGPUProfile, Value: reflect.TypeFor[GPUProfile](), Name: NameEmpty, Replicated: true, Persisted: true, Fresh: true},
		{Kind: KindLinkProfile, Value: reflect.TypeFor[LinkProfile](), Name: NamePath, Replicated: true, Persisted: true, Fresh: true},
		{Kind: KindJob, Value: reflect.TypeFor[Job](), Name: NameJob, Replicated: true, Persisted: true},
		{Kind: KindRank, Value: reflect.TypeFor[Rank](), Name: NameRank, Replicated: true, Persisted: true},
		{Kind: KindGrant, Value: reflect.TypeFor[Grant](), Name: NameHolder, Replicated: true, Persisted: true},
		{Kind: KindCondition, Value: reflect.TypeFor[Condition](), Name: NameCondition, Replicated: true},
		{Kind: KindRDMAChange, Value: reflect.TypeFor[RDMAChange](), Name: NameLink, Replicated: true, Persisted: true},
		{Kind: KindNodeState, Value: reflect.TypeFor[NodeState](), Name: NameEmpty, Replicated: true},
		{Kind: KindPending, Value: reflect.TypeFor[Pending](), Name: NameNode},
	}
}

// LookupKind finds a kind's row; false for a kind of another version.
func LookupKind(k Kind) (KindInfo, bool) {
	info, ok := kindIndex()[k]
	return info, ok
}

// kindIndex is built at the first look-up and never changes.
var kindIndex = sync.OnceValue(func() map[Kind]KindInfo {
	index := make(map[Kind]KindInfo)
	for _, info := range Kinds() {
		index[info.Kind] = info
	}
	return index
})

// Valid reports whether the kind belongs to this version.
func (k Kind) Valid() bool { _, ok := LookupKind(k); return ok }
