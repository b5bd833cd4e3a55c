package api

import (
	"reflect"
	"slices"
	"sync"
)

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
		jobMethods(), modelMethods(), instanceMethods(), eventMethods(), clusterMethods(), daemonMethods())
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
		{"model.watched", reflect.TypeFor[ModelWatched](), "Which models are copied to this Mac now, and how far that is."},
		{"model.copied", reflect.TypeFor[ModelCopied](), "How far the copying of a model is; exactly one is terminal."},
		{"model.verified", reflect.TypeFor[ModelVerified](), "How far the verification of a model is; exactly one is terminal."},
		{"event.happened", reflect.TypeFor[EventHappened](), "What happened since the last one of the subscription; or that the client lagged."},
		{"daemon.logged", reflect.TypeFor[DaemonLogged](), "Lines of the daemon's log."},
	}
}

// LookupMethod finds a local method's row. A peer's method is never found here.
func LookupMethod(name string) (MethodInfo, bool) {
	info, ok := methodIndex()[name]
	return info, ok
}

// methodIndex is built at the first look-up and never changes.
var methodIndex = sync.OnceValue(func() map[string]MethodInfo {
	index := map[string]MethodInfo{}
	for _, info := range Methods() {
		index[info.Name] = info
	}
	return index
})

// method makes a row from its parameter and result types.
func method[P, R any](name string, class MethodClass, notifies, doc string) MethodInfo {
	return MethodInfo{Name: name, Class: class, Params: reflect.TypeFor[P](), Result: reflect.TypeFor[R](),
		Notifies: notifies, Doc: doc}
}
