package server

import (
	"context"
	"encoding/json"

	"fulmen/daemon/api"
)

// Facts is where documents are read. What a viewer may not see is left out by
// the one who implements it, who knows whose a document is.
type Facts interface {
	// Snapshot gives the documents that are selected as they are now. A node
	// that cannot be found is an *api.Error.
	Snapshot(ctx context.Context, v Viewer, sel api.StateSelect) (Snapshot, error)
	// Watch does the same and goes on with every change after, with no gap and
	// no overlap in between. The name says who watches, for people.
	Watch(ctx context.Context, v Viewer, sel api.StateSelect, name string) (Snapshot, Changes, error)
}

// Viewer is the person for whom documents are read.
type Viewer struct {
	// UID is the local user.
	UID uint32
	// Class is the highest class that the user has on the connection.
	Class api.MethodClass
}

// Record is one version of a document, shared by all readers.
type Record interface {
	// Key says which document it is.
	Key() api.Key
	// Deleted says that it marks the document's end.
	Deleted() bool
	// JSON is the document as it goes over the wire. It should be encoded once,
	// however many clients it goes to; nobody changes the bytes.
	JSON() (json.RawMessage, error)
}

// Snapshot is documents at one moment, in any order.
type Snapshot struct {
	// Docs are the documents, none deleted.
	Docs []Record
	// Stale are the nodes that cannot be reached now.
	Stale []api.NodeID
}

// Changes is the stream that continues a snapshot.
type Changes interface {
	// Next waits for changes and gives those since the last call, the latest
	// version of each document. An error that matches api.ReasonLagged says that
	// some were dropped; any error ends the stream.
	Next(ctx context.Context) (Change, error)
	// Close ends the stream. It is called once.
	Close()
}

// Change is what changed. A key is in it once.
type Change struct {
	// Put are new and changed documents; a deleted one counts as Del.
	Put []Record
	// Del are the documents that are gone.
	Del []api.Key
	// Stale are the nodes that cannot be reached now; nil where that did not change.
	Stale []api.NodeID
}
