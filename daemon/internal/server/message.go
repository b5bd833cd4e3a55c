package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/creachadair/jrpc2"

	"fulmen/daemon/api"
)

// read has every message worked on until the connection ends, and what is under way with it.
func (c *conn) read() {
	var working sync.WaitGroup
	defer working.Wait()
	defer c.cancel(errDisconnected)
	notified := make(chan struct{}) // closed when all notifications so far were worked on
	close(notified)
	for c.box.WaitRoom(c.ctx, maxWaitingBytes) == nil {
		kind, message, err := c.ws.Read(c.ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			c.end(websocket.StatusUnsupportedData, api.NewError(api.ReasonMalformedMessage, ""))
			<-c.ctx.Done() // the farewell first: returning cuts the connection
			return
		}
		requests, refusal := parse(message)
		if refusal != nil {
			c.push(encodeReply(api.Response{Error: refusal}))
			continue
		}
		w := &work{conn: c, requests: requests, after: notified}
		if !w.takeSlots() {
			return
		}
		if w.notifications > 0 {
			notified = make(chan struct{})
			w.notified = notified
		}
		working.Go(w.do)
	}
}

// parse reads a message, and refuses what is none or too much. What is wrong with one
// request of several is in its Error.
func parse(message []byte) ([]*jrpc2.ParsedRequest, *api.ResponseError) {
	if !utf8.Valid(message) {
		return nil, malformed(api.RPCParseError, "it is not UTF-8")
	}
	if n := batchLength(message); n > api.MaxBatch {
		return nil, api.Errorf(api.ReasonBatchTooLarge, "", "The batch holds more than %d requests.", api.MaxBatch).Response()
	}
	requests, err := jrpc2.ParseRequests(message)
	switch {
	case err != nil:
		return nil, malformed(api.RPCParseError, "it is not JSON")
	case len(requests) == 0:
		return nil, malformed(api.RPCInvalidRequest, "the batch is empty")
	}
	return requests, nil
}

// batchLength counts the elements of a batch, only as far as it matters, so
// that a million empty elements cost nothing.
func batchLength(message []byte) int {
	if trimmed := bytes.TrimSpace(message); len(trimmed) == 0 || trimmed[0] != '[' {
		return 0
	}
	dec := json.NewDecoder(bytes.NewReader(message))
	if _, err := dec.Token(); err != nil {
		return 0
	}
	n := 0
	for n <= api.MaxBatch && dec.More() {
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return 0 // not JSON: the parser says so
		}
		n++
	}
	return n
}

// work is the requests of one message.
type work struct {
	conn          *conn
	requests      []*jrpc2.ParsedRequest
	notifications int
	// after is closed when the notifications of earlier messages were worked on, and
	// notified, unless it is nil, when those of this one were too.
	after, notified chan struct{}
}

// isNotification reports whether nobody waits for the reply to a request.
func isNotification(r *jrpc2.ParsedRequest) bool {
	return r.ID == "" && r.Error == nil && r.Method != ""
}

// takeSlots takes the connection's slots for the message; false when it has ended.
func (w *work) takeSlots() bool {
	for _, r := range w.requests {
		if isNotification(r) {
			w.notifications++
		}
	}
	n := w.notifications
	if n < len(w.requests) {
		n += replySlots // one reply, or one array of them, will come
	}
	for range n {
		select {
		case w.conn.slots <- struct{}{}:
		case <-w.conn.ctx.Done():
			return false
		}
	}
	return true
}

// do works on all requests at once, and replies to them together, in their order.
func (w *work) do() {
	c := w.conn
	<-w.after
	refused := c.claim(w.requests)
	replies := make([]*api.Response, len(w.requests))
	var calls, notifications sync.WaitGroup
	for i, r := range w.requests {
		if isNotification(r) {
			notifications.Go(func() {
				_, _ = c.call(r) // nobody hears of it
				<-c.slots
			})
			continue
		}
		replies[i] = &api.Response{ID: json.RawMessage(r.ID), Error: refused[i]}
		if refused[i] == nil {
			calls.Go(func() { replies[i].Result, replies[i].Error = c.call(r) })
		}
	}
	if w.notified != nil {
		notifications.Wait()
		close(w.notified)
	}
	calls.Wait()
	if w.notifications < len(w.requests) {
		w.reply(replies, refused)
	}
}

// claim refuses what is no request, and requests whose id one that is under way has.
func (c *conn) claim(requests []*jrpc2.ParsedRequest) []*api.ResponseError {
	refused := make([]*api.ResponseError, len(requests))
	count := map[string]int{}
	for _, r := range requests {
		count[r.ID]++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range requests {
		switch _, taken := c.underWay[r.ID]; {
		case r.ID != "" && (taken || count[r.ID] > 1):
			refused[i] = malformed(api.RPCInvalidRequest, "duplicate request ID")
		case r.Error != nil:
			code := int(r.Error.Code)
			if code != api.RPCParseError {
				code = api.RPCInvalidRequest
			}
			refused[i] = malformed(code, r.Error.Message)
		case r.Method == "":
			refused[i] = malformed(api.RPCInvalidRequest, "empty method name")
		}
	}
	for i, r := range requests {
		if refused[i] == nil && r.ID != "" {
			c.underWay[r.ID] = nil
		}
	}
	return refused
}

// call does one request, of which a connection has so many at once.
func (c *conn) call(r *jrpc2.ParsedRequest) (json.RawMessage, *api.ResponseError) {
	select {
	case c.calls <- struct{}{}:
	case <-c.ctx.Done():
		return nil, c.failure(r.Method, context.Canceled)
	}
	defer func() { <-c.calls }()
	return c.handle(r)
}

// reply queues the replies to a message, and then has the streams begin that they name:
// what belongs to a subscription must not overtake the reply. The ids of refused ones
// are not theirs.
func (w *work) reply(replies []*api.Response, refused []*api.ResponseError) {
	c := w.conn
	message := encodeReplies(replies, w.requests[0].Batch)
	if len(message) > api.MaxMessageBytes {
		for _, r := range replies {
			if r != nil {
				r.Result, r.Error = nil, api.Errorf(api.ReasonMessageTooLarge, "", "The reply would be larger than %d bytes.", api.MaxMessageBytes).Response()
			}
		}
		message = encodeReplies(replies, w.requests[0].Batch)
	}
	var begin []func()
	c.mu.Lock()
	for i, r := range replies {
		if r == nil || refused[i] != nil {
			continue
		}
		for _, f := range c.underWay[string(r.ID)] {
			begin = append(begin, func() { f(r.Error == nil) })
		}
		delete(c.underWay, string(r.ID)) // a client may use it again once it has the reply
	}
	c.mu.Unlock()
	for range replySlots {
		<-c.slots
	}
	if c.push(message) {
		for _, f := range begin {
			f()
		}
	}
}

// encodeReplies is the message of replies; nil ones are those to notifications.
func encodeReplies(replies []*api.Response, isBatch bool) []byte {
	var parts []json.RawMessage
	for _, r := range replies {
		if r != nil {
			parts = append(parts, encodeReply(*r))
		}
	}
	if !isBatch {
		return parts[0]
	}
	out, _ := json.Marshal(parts) // each is JSON
	return out
}

// encodeReply is one response as it goes out. Its id and result are JSON already, its error
// holds strings only: it cannot fail.
func encodeReply(r api.Response) []byte {
	r.JSONRPC = api.JSONRPCVersion
	if len(r.ID) == 0 {
		r.ID = nil // null
	}
	out, _ := json.Marshal(r)
	return out
}

// push queues a message, or ends the connection of a client that does not read.
func (c *conn) push(message []byte) bool {
	if c.box.Push(message) == nil {
		return true
	}
	c.cut()
	return false
}

// handle does one request.
func (c *conn) handle(r *jrpc2.ParsedRequest) (json.RawMessage, *api.ResponseError) {
	name := r.Method
	if refuse := c.server.config.Refuse; refuse != nil {
		if err := refuse(name); err != nil {
			return nil, c.failure(name, err)
		}
	}
	m, ok := c.server.methods[name]
	if !ok {
		return nil, unknownMethod(name, slices.Sorted(maps.Keys(c.server.methods)))
	}
	if expires := c.who.token.ExpiresAt; !expires.IsZero() && !c.server.config.Clock.Now().Before(expires.Time) {
		err := api.NewError(api.ReasonExpiredToken, "")
		c.end(websocket.StatusPolicyViolation, err)
		return nil, err.Response()
	}
	caller := &Caller{UID: c.who.uid, Socket: c.who.socket, Token: c.who.token.Name,
		conn: c, method: m.info, requestID: r.ID}
	ctx, stop := context.WithTimeout(c.ctx, c.server.config.Limits.CallDeadline)
	defer stop()
	var ended func(error)
	if audit := c.server.config.Audit; audit != nil {
		ended = audit(ctx, caller, m.info, r.Params)
	}
	out, err := run(ctx, m, caller, r.Params)
	if ended != nil {
		ended(err)
	}
	if err != nil {
		if cause := context.Cause(ctx); ctx.Err() != nil && err == ctx.Err() {
			err = cause
		}
		caller.drop()
		return nil, c.failure(name, err)
	}
	return out, nil
}

// run runs a handler. A panic is a defect of that handler, and no reason to
// end the daemon with all its state.
func run(ctx context.Context, m method, caller *Caller, params json.RawMessage) (out json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if err := caller.may(); err != nil {
		return nil, err
	}
	if m.handler.call == nil {
		return nil, notBuilt(m.info.Name)
	}
	result, err := m.handler.call(ctx, caller, params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// Handlers are methods by name.
type Handlers map[string]Handler

// Handler does one method. It is made by Handle.
type Handler struct {
	params, result reflect.Type
	call           func(ctx context.Context, c *Caller, params json.RawMessage) (any, error)
}

// Handle makes a handler from a function. Its types must be those of the table
// of methods. Params have been checked for unknown fields and wrong types;
// ranges are the function's to check. An *api.Error goes to the client as it
// is; of any other error the client learns only that there was one.
//
// The context ends with the connection and at Limits.CallDeadline, whichever
// is first.
func Handle[P, R any](f func(ctx context.Context, c *Caller, params P) (R, error)) Handler {
	return Handler{
		params: reflect.TypeFor[P](), result: reflect.TypeFor[R](),
		call: func(ctx context.Context, c *Caller, raw json.RawMessage) (any, error) {
			var params P
			if err := decodeParams(raw, &params); err != nil {
				return nil, err
			}
			return f(ctx, c, params)
		},
	}
}

// method is a row of the table with its handler, if it is built.
type method struct {
	info    api.MethodInfo
	handler Handler
}

// methodTable joins the table of methods with the handlers. It panics where
// they do not fit, which is a mistake in the program.
func methodTable(table []api.MethodInfo, handlers ...Handlers) map[string]method {
	out := make(map[string]method, len(table))
	for _, info := range table {
		if !classCovers(api.ClassAdmin, info.Class) {
			panic(fmt.Sprintf("server: %s is of class %q, which no local caller has", info.Name, info.Class))
		}
		out[info.Name] = method{info: info}
	}
	for _, set := range handlers {
		for name, h := range set {
			m, ok := out[name]
			switch {
			case !ok:
				panic("server: a handler for " + name + ", which is not in the table of methods")
			case m.handler.call != nil:
				panic("server: two handlers for " + name)
			case h.params != m.info.Params || h.result != m.info.Result:
				panic(fmt.Sprintf("server: the handler of %s has types (%v, %v), the table (%v, %v)",
					name, h.params, h.result, m.info.Params, m.info.Result))
			}
			m.handler = h
			out[name] = m
		}
	}
	return out
}

func notBuilt(name string) error {
	return &api.Error{Code: api.CodeUnsupported, Message: name + ": this version of Fulmen does not have it yet.",
		Data: api.ErrorData{Reason: api.ReasonNotBuiltYet, Subject: name}}
}
