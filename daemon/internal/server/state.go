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

// stateHandlers are the methods over Facts. Results are put together from
// encoded documents, so that none is encoded once for each watcher.
func (s *Server) stateHandlers() Handlers {
	return Handlers{
		"state.get":   raw[api.StateSelect, api.StateGetResult](s.stateGet),
		"state.watch": raw[api.StateSelect, api.StateWatchResult](s.stateWatch),
		"state.unwatch": Handle(func(_ context.Context, c *Caller, p api.StateUnwatch) (api.Empty, error) {
			return api.Empty{}, c.conn.unwatch(p.Sub)
		}),
	}
}

// raw is Handle for a function that encodes its result, an R, by itself.
func raw[P, R any](f func(context.Context, *Caller, P) (json.RawMessage, error)) Handler {
	h := Handle(f)
	h.result = reflect.TypeFor[R]()
	return h
}

func (s *Server) stateGet(ctx context.Context, c *Caller, sel api.StateSelect) (json.RawMessage, error) {
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
	return snapshotResult("", some, snapshot.Stale, len(others) > 0), nil
}

func (s *Server) stateWatch(ctx context.Context, c *Caller, sel api.StateSelect) (json.RawMessage, error) {
	if err := checkSelect(sel); err != nil {
		return nil, err
	}
	f := &feed{limit: s.config.Limits.FeedBytes, changed: map[api.Key][]byte{}}
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
	return snapshotResult(sub.id, some, snapshot.Stale, len(others) > 0), nil
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
func encodeAll(docs []Record) ([][]byte, error) {
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b Record) int { return a.Key().Compare(b.Key()) })
	out := make([][]byte, 0, len(docs))
	for _, d := range docs {
		raw, err := d.JSON()
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// snapshotResult is api.StateWatchResult, or without sub api.StateGetResult.
func snapshotResult(sub api.Subscription, docs [][]byte, stale []api.NodeID, more bool) json.RawMessage {
	out := []byte{'{'}
	if sub != "" {
		out = append(out, `"sub":"`+string(sub)+`",`...)
	}
	out = appendArray(append(out, `"docs":`...), docs)
	if len(stale) > 0 {
		list, _ := json.Marshal(stale) // strings only
		out = append(append(out, `,"stale":`...), list...)
	}
	if more {
		out = append(out, `,"more":true`...)
	}
	return append(out, '}')
}
