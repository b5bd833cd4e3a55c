package clienttest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
)

// Answer gives a method's result; its error becomes the response's.
type Answer func(params json.RawMessage) (any, error)

// Stream gives a method's result, and what follows it: then is given a way to
// send the parameters of notifications, which fails once the client is gone.
type Stream func(params json.RawMessage) (result any, then func(notify func(any) error), err error)

// Call is a request that was made.
type Call struct {
	Method string
	Params string
}

// Daemon is a daemon that knows nothing but what it was told.
type Daemon struct {
	server *http.Server

	mu       sync.Mutex
	streams  map[string]Stream
	docs     []api.Document
	watches  map[*watch]bool
	conns    map[*websocket.Conn]bool
	calls    []Call
	answered map[string]int // how often each method was
	next     chan struct{}  // closed at the next answer
}

// watch is a subscription of documents.
type watch struct {
	kinds []api.Kind
	n     uint64
	send  func(any) error
}

// Start serves below a FULMEN_HOME, where clients find the socket.
func Start(home string) (*Daemon, error) {
	dir := filepath.Join(home, "run")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", filepath.Join(dir, api.SocketFile))
	if err != nil {
		return nil, err
	}
	d := &Daemon{streams: map[string]Stream{}, watches: map[*watch]bool{}, conns: map[*websocket.Conn]bool{}, answered: map[string]int{}, next: make(chan struct{})}
	d.server = &http.Server{Handler: http.HandlerFunc(d.serve)}
	go func() { _ = d.server.Serve(listener) }() // it ends with Close
	return d, nil
}

// Close ends it; connections that were taken over end with their clients.
func (d *Daemon) Close() error { return d.server.Close() }

// Drop cuts all connections off, as a daemon does that is killed.
func (d *Daemon) Drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for conn := range d.conns {
		_ = conn.CloseNow() // it may be closed already
	}
}

// Set says what a method answers from now on.
func (d *Daemon) Set(method string, answer Answer) {
	d.SetStream(method, func(params json.RawMessage) (any, func(func(any) error), error) {
		result, err := answer(params)
		return result, nil, err
	})
}

// SetStream says what a method that is followed by notifications answers from now on.
func (d *Daemon) SetStream(method string, stream Stream) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams[method] = stream
}

// Always answers a method with the same result.
func (d *Daemon) Always(method string, result any) {
	d.Set(method, func(json.RawMessage) (any, error) { return result, nil })
}

// Put adds or replaces documents, and tells those who watch.
func (d *Daemon) Put(docs ...api.Document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, doc := range docs {
		d.docs = slices.DeleteFunc(d.docs, func(old api.Document) bool { return old.Key() == doc.Key() })
		d.docs = append(d.docs, doc)
	}
	for w := range d.watches {
		if put := selected(docs, w.kinds); len(put) > 0 {
			w.n++
			_ = w.send(notification{JSONRPC: api.JSONRPCVersion, Method: "state.changed", Params: api.StateChanged{Sub: "s1", N: w.n, Put: put}}) // the client may be gone
		}
	}
}

// Calls are the requests so far, without those that every client makes by
// itself for its own api.json.
func (d *Daemon) Calls() []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// Await waits until a method was called and answered.
func (d *Daemon) Await(method string) { d.AwaitTimes(method, 1) }

// AwaitTimes waits until a method was called and answered so often.
func (d *Daemon) AwaitTimes(method string, times int) {
	for {
		d.mu.Lock()
		found, next := d.answered[method], d.next
		d.mu.Unlock()
		if found >= times {
			return
		}
		<-next
	}
}

// notification is a JSON-RPC notification.
type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

func (d *Daemon) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(api.MaxMessageBytes)
	ctx := r.Context()
	var writing sync.Mutex
	send := func(v any) error {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err) // a test's own value
		}
		writing.Lock()
		defer writing.Unlock()
		return conn.Write(ctx, websocket.MessageText, raw)
	}
	own := &watch{send: send}
	d.mu.Lock()
	d.conns[conn] = true
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watches, own)
		delete(d.conns, conn)
	}()
	for {
		_, raw, err := conn.Read(context.WithoutCancel(ctx))
		if err != nil {
			return
		}
		var request api.Request
		if json.Unmarshal(raw, &request) != nil {
			return
		}
		d.answer(request, own)
	}
}

func (d *Daemon) answer(request api.Request, own *watch) {
	var sel api.StateSelect
	response := api.Response{JSONRPC: api.JSONRPCVersion, ID: request.ID}
	d.mu.Lock()
	defer d.mu.Unlock()
	stream := d.streams[request.Method]
	var then func(notify func(any) error)
	if request.Method != "daemon.create_token" && request.Method != "daemon.revoke_token" {
		d.calls = append(d.calls, Call{request.Method, string(request.Params)})
	}
	var result any
	var err error = api.NewError(api.ReasonUnknownMethod, request.Method)
	switch {
	case stream != nil:
		func() {
			d.mu.Unlock()
			defer d.mu.Lock()
			result, then, err = stream(request.Params)
		}()
	case request.Method == "state.get":
		err = json.Unmarshal(request.Params, &sel)
		result = api.StateGetResult{Docs: selected(d.docs, sel.Kinds)}
	case request.Method == "state.watch":
		err = json.Unmarshal(request.Params, &sel)
		result = api.StateWatchResult{Sub: "s1", Docs: selected(d.docs, sel.Kinds)}
		own.kinds = sel.Kinds
		d.watches[own] = true
	}
	if err == nil {
		if response.Result, err = json.Marshal(result); err != nil {
			err = api.Errorf(api.ReasonInternal, request.Method, "the test's own result cannot be encoded").From(err)
		}
	}
	if err != nil {
		response.Result, response.Error = nil, api.AsError(err).Response()
	}
	_ = own.send(response) // under the lock, so that changes come after it; the client may be gone
	if err == nil && then != nil {
		go then(func(params any) error {
			return own.send(notification{JSONRPC: api.JSONRPCVersion, Method: request.Method, Params: params})
		})
	}
	d.answered[request.Method]++
	close(d.next)
	d.next = make(chan struct{})
}

// selected are the documents of some kinds; no kinds are all.
func selected(docs []api.Document, kinds []api.Kind) []api.Document {
	out := []api.Document{}
	for _, d := range docs {
		if len(kinds) == 0 || slices.Contains(kinds, d.Kind) {
			out = append(out, d)
		}
	}
	return out
}
