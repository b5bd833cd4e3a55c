package api

import (
	"reflect"
	"slices"
	"sync"
)

// MethodClass is who may call a method.
type MethodClass string

const (
	// ClassRead is any local user with a token.
	ClassRead MethodClass = "read"
	// ClassUser is any local user with a token, for what is their own.
	ClassUser MethodClass = "user"
	// ClassAdmin is uid 0; on macOS who holds an authorisation for AdminRight; on Linux also
	// the group AdminGroup; in user mode the daemon's own uid. A token never has this class.
	ClassAdmin MethodClass = "admin"
	// ClassPeer is a member of the cluster. Its methods have a table of their own.
	ClassPeer MethodClass = "peer"
)

// Values lists the classes.
func (MethodClass) Values() []string { return words(ClassRead, ClassUser, ClassAdmin, ClassPeer) }

// Valid reports whether the class belongs to this version.
func (c MethodClass) Valid() bool { return known(c) }

// MethodInfo is a row of a table of methods.
type MethodInfo struct {
	// Name is group.verb.
	Name string
	// Class is who may call it.
	Class MethodClass
	// Params is the struct of the parameters.
	Params reflect.Type
	// Result is the struct of the result.
	Result reflect.Type
	// Notifies is the notification that follows the result; empty where none does.
	Notifies string
	// Doc is what it does, one or two sentences.
	Doc string
}

// NotificationInfo is a row of a table of notifications.
type NotificationInfo struct {
	// Name is group.what-happened.
	Name string
	// Params is the struct of the parameters.
	Params reflect.Type
	// Doc is what it says, one or two sentences.
	Doc string
}

// Empty is the parameters or the result of a method that has none.
type Empty struct{}

// Methods lists what local clients can call.
func Methods() []MethodInfo {
	return slices.Concat(stateMethods(), nodeMethods(), linkMethods(), measureMethods(), rdmaMethods(),
		jobMethods(), eventMethods(), clusterMethods(), daemonMethods())
}

// Notifications lists what the daemon sends to local clients by itself, after
// they asked for it.
func Notifications() []NotificationInfo {
	return []NotificationInfo{
		{"state.changed", reflect.TypeFor[StateChanged](), "Documents that were put or deleted since the last one of the subscription, the latest version of each; or that the client lagged."},
		{"node.changed", reflect.TypeFor[NodeChanged](), "Derived views of nodes that changed, and the totals."},
		{"link.changed", reflect.TypeFor[LinkChanged](), "The derived graph changed."},
		{"measure.changed", reflect.TypeFor[MeasureChanged](), "Progress of a measurement; exactly one is terminal."},
		{"job.changed", reflect.TypeFor[JobChanged](), "A job or its ranks changed; exactly one is terminal."},
		{"job.output", reflect.TypeFor[JobOutput](), "A piece of what a rank printed."},
		{"event.happened", reflect.TypeFor[EventHappened](), "What happened since the last one of the subscription; or that the client lagged."},
		{"daemon.logged", reflect.TypeFor[DaemonLogged](), "Lines of the daemon's log."},
	}
}

// LookupMethod finds a local method's row. A peer's method is never found here.
func LookupMethod(name string) (MethodInfo, bool) {
	info, ok := methodIndex()[name]
	return info, ok
}

// LookupPeerMethod finds a peer method's row. A local method is never found here.
func LookupPeerMethod(name string) (MethodInfo, bool) {
	info, ok := peerMethodIndex()[name]
	return info, ok
}

// The indexes are built at the first look-up and never change.
var (
	methodIndex     = sync.OnceValue(func() map[string]MethodInfo { return indexMethods(Methods()) })
	peerMethodIndex = sync.OnceValue(func() map[string]MethodInfo { return indexMethods(PeerMethods()) })
)

func indexMethods(all []MethodInfo) map[string]MethodInfo {
	index := make(map[string]MethodInfo, len(all))
	for _, info := range all {
		index[info.Name] = info
	}
	return index
}

// method makes a row from its parameter and result types.
func method[P, R any](name string, class MethodClass, notifies, doc string) MethodInfo {
	return MethodInfo{Name: name, Class: class, Params: reflect.TypeFor[P](), Result: reflect.TypeFor[R](),
		Notifies: notifies, Doc: doc}
}
