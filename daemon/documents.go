package daemon

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// documents is a ledger's writer in the form that owners declare. On a
// simulated machine every document says so.
type documents struct {
	writer    *ledger.Writer
	simulated bool
}

// Put publishes a document.
func (d documents) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	return d.writer.Put(ledger.Draft{Kind: kind, Name: name, Value: value, Unknown: unknown, Simulated: d.simulated})
}

// Delete ends one.
func (d documents) Delete(kind api.Kind, name string) error { return d.writer.Delete(kind, name) }

// DeleteJob ends a job's document, with the proof that this node was its home.
func (d documents) DeleteJob(id api.JobID, homes []api.Succession) error {
	return d.writer.Put(ledger.Draft{Kind: api.KindJob, Name: id.String(), Delete: true, Homes: homes, Simulated: d.simulated})
}

// watched is documents whose publishing is an occasion to look at the clock.
type watched struct {
	documents
	look func()
}

// Put publishes a document.
func (w watched) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	w.look()
	return w.documents.Put(kind, name, value, unknown)
}
