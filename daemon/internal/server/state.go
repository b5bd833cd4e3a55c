package server

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"fulmen/daemon/api"
	"fulmen/native/nearest"
)

// staleBytes is what a node takes in the list of stale ones.
const staleBytes = 24

// stateHandlers are the methods over Facts. Results hold encoded documents, so that
// none is encoded once for each watcher.
func (s *Server) stateHandlers() Handlers {
	return Handlers{
		"state.get":   raw[api.StateSelect, api.StateGetResult](s.stateGet),
		"state.watch": raw[api.StateSelect, api.StateWatchResult](s.stateWatch),
		"state.unwatch": Handle(func(_ context.Context, c *Caller, p api.StateUnwatch) (api.Empty, error) {
			return api.Empty{}, c.conn.unwatch(p.Sub)
		}),
	}
}

// snapshotResult is api.StateWatchResult, or without Sub api.StateGetResult, with
// encoded documents.
type snapshotResult struct {
	Sub   api.Subscription  `json:"sub,omitempty"`
	Docs  []json.RawMessage `json:"docs"`
	Stale []api.NodeID      `json:"stale,omitempty"`
	More  bool              `json:"more,omitempty"`
}

// raw is Handle for a function whose result goes out as an R.
func raw[P, R any](f func(context.Context, *Caller, P) (*snapshotResult, error)) Handler {
	h := Handle(f)
	h.result = reflect.TypeFor[R]()
	return h
}

func (s *Server) stateGet(ctx context.Context, c *Caller, sel api.StateSelect) (*snapshotResult, error) {
	if err := checkSelect(sel); err != nil {
		return nil, err
	}
	snapshot, err := s.config.Facts.Snapshot(ctx, c.Viewer(), sel)
	if err != nil {
		return nil, err
	}
	docs, err := encodeAll(snapshot.Docs)
	if err != nil {
		return nil, err
	}
	some, others := fill(docs, len(snapshot.Stale)*staleBytes)
	return &snapshotResult{Docs: some, Stale: snapshot.Stale, More: len(others) > 0}, nil
}

func (s *Server) stateWatch(ctx context.Context, c *Caller, sel api.StateSelect) (*snapshotResult, error) {
	if err := checkSelect(sel); err != nil {
		return nil, err
	}
	f := &feed{limit: s.config.Limits.FeedBytes, changed: map[api.Key]json.RawMessage{}}
	sub, err := c.subscribe(func(sub *subscription) source { f.sub = sub; return f })
	if err != nil {
		return nil, err
	}
	snapshot, changes, err := s.config.Facts.Watch(ctx, c.Viewer(), sel, c.watcherName())
	if err != nil {
		return nil, err // the failed request drops the subscription
	}
	docs, err := encodeAll(snapshot.Docs)
	if err != nil {
		changes.Close()
		return nil, err
	}
	some, others := fill(docs, len(snapshot.Stale)*staleBytes)
	f.rest = others
	if len(others) > 0 {
		sub.ready()
	}
	s.background.Go(func() { f.pump(changes) })
	return &snapshotResult{Sub: sub.id, Docs: some, Stale: snapshot.Stale, More: len(others) > 0}, nil
}

// watcherName says who watches, for the list of subscribers.
func (c *Caller) watcherName() string {
	if c.Socket {
		return "api " + strconv.FormatUint(uint64(c.UID), 10)
	}
	return "api " + strconv.FormatUint(uint64(c.UID), 10) + " " + c.Token
}

// checkSelect refuses kinds that are not known: a misspelt kind would be a
// watch on which nothing ever comes.
func checkSelect(sel api.StateSelect) error {
	for _, k := range sel.Kinds {
		if k.Valid() {
			continue
		}
		e := api.Errorf(api.ReasonUnknownKind, shorten(string(k)), "There is no kind %q of documents.", shorten(string(k)))
		if near := nearest.Of(string(k), k.Values()); near != "" {
			e.Message += " Did you mean " + near + "?"
		}
		return e
	}
	return nil
}

// encodeAll encodes documents, ordered by node, kind and name.
func encodeAll(docs []Record) ([]json.RawMessage, error) {
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b Record) int { return a.Key().Compare(b.Key()) })
	out := make([]json.RawMessage, 0, len(docs))
	for _, d := range docs {
		raw, err := d.JSON()
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}
