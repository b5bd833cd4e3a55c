package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/creachadair/jrpc2"

	"fulmen/daemon/api"
)

// call is what an HTTP request calls.
type call struct {
	method string
	// given are its parameters where they are in the address; nil: they are the body.
	given map[string]any
	// isStream says that the answer is one.
	isStream bool
}

// callOf is what a request calls: POST /v1/METHOD, or one of the addresses that stand for a
// method each. It is nil for a request that calls nothing.
func callOf(r *http.Request) *call {
	name, isBelow := strings.CutPrefix(r.URL.Path, api.PathAPI+"/")
	if !isBelow {
		return nil
	}
	instance, isInstance := strings.CutPrefix(name, "instances/")
	switch {
	case r.Method == http.MethodGet && name == "watch":
		given := map[string]any{}
		for field, values := range r.URL.Query() {
			given[field+"s"] = values // kind and node
		}
		return &call{watchMethod, given, true}
	case r.Method == http.MethodGet && name == "instances":
		return &call{"instance.list", map[string]any{}, false}
	case r.Method == http.MethodDelete && isInstance:
		return &call{"instance.delete", map[string]any{"name": instance}, false}
	case r.Method != http.MethodPost:
		return nil
	case name == "instances":
		name = "instance.apply"
	}
	return &call{name, nil, strings.Contains(r.Header.Get("Accept"), eventStream)}
}

const (
	eventStream = "text/event-stream"
	// streamID is the id of the one request of a stream.
	streamID = "1"
	// watchMethod is the method whose stream can be resumed.
	watchMethod = "state.watch"
)

// serveCall does one call. The connection ends with it, so that none is kept by whoever may
// not be known any more.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, l *link, what *call) {
	w.Header().Set("Connection", "close")
	who, known, err := s.identify(l, r)
	switch {
	case err == nil && !known:
		err = api.NewError(api.ReasonNoToken, "")
	case err == nil && !s.enter(who.uid):
		err = api.NewError(api.ReasonTooManyClients, "")
	}
	if err != nil {
		problem(w, api.AsError(err).Response())
		return
	}
	defer s.leave(who.uid)
	if !s.begin() {
		problem(w, api.NewError(api.ReasonStopping, "").Response())
		return
	}
	defer s.sockets.Done()
	l.known()
	params, refusal := s.paramsOf(w, r, what.given)
	if refusal != nil {
		problem(w, refusal)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	out := &events{w: w, cancel: cancel}
	if what.isStream && what.method == watchMethod {
		out.log = s.watched.open(who.uid, string(params), r.Header.Get("Last-Event-ID"))
	}
	c := newConn(s, out, l, ctx, cancel)
	c.who = who
	defer c.finish()
	leave, err := s.admit(c)
	if err != nil {
		problem(w, api.AsError(err).Response())
		return
	}
	defer leave()
	request := &jrpc2.ParsedRequest{Method: what.method, Params: params}
	if what.isStream {
		request.ID = streamID
	}
	result, refusal := c.call(request)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.config.Limits.WriteDeadline)) // it may have taken longer
	switch {
	case refusal != nil:
		problem(w, refusal)
	case !what.isStream:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(result, '\n')) // the client may be gone
	default:
		c.stream(result)
	}
}

// paramsOf reads the parameters of a call.
func (s *Server) paramsOf(w http.ResponseWriter, r *http.Request, given map[string]any) (json.RawMessage, *api.ResponseError) {
	if given != nil {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		params, err := json.Marshal(given)
		if err != nil {
			return nil, api.AsError(err).Response()
		}
		return params, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxMessageBytes))
	body = bytes.TrimSpace(body)
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // what follows is read to see that the client is there
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case err != nil:
		return nil, api.NewError(api.ReasonMessageTooLarge, "").Response()
	case len(body) == 0:
		return nil, nil
	case kind != "application/json": // which no form of a page can send
		return nil, api.Errorf(api.ReasonBadValue, "Content-Type", "The parameters are not application/json.").
			WithRemedy("Send the header Content-Type: application/json.").Response()
	case !json.Valid(body):
		return nil, malformed(api.RPCParseError, "it is not JSON")
	}
	return body, nil
}

// stream sends a result and then what the subscription of the request has to say, until that
// is over or the client has gone.
func (c *conn) stream(result json.RawMessage) {
	e := c.ws.(*events)
	e.w.Header().Set("Content-Type", eventStream)
	name, id := "result", ""
	if e.log != nil {
		var first stateChanged
		_ = json.Unmarshal(result, &struct { // the daemon's own
			*stateChanged
			Docs *[]json.RawMessage `json:"docs"`
		}{&first, &first.Put})
		isResumed := e.log.old != nil
		id = eventID(e.log.take(&first))
		if isResumed {
			first.Stale = append([]api.NodeID{}, first.Stale...) // also where there are none any more
			name = "state.changed"
			result, _ = json.Marshal(first) // as above
		}
	}
	if err := e.event(c.ctx, c.server.config.Limits.WriteDeadline, name, id, result); err != nil {
		return
	}
	c.mu.Lock()
	begin, subs := c.underWay[streamID], len(c.subs)
	delete(c.underWay, streamID)
	c.mu.Unlock()
	if subs == 0 {
		return
	}
	for _, f := range begin {
		f(true)
	}
	c.write()
}

// events are the messages of a connection as server-sent events.
type events struct {
	w      http.ResponseWriter
	cancel context.CancelCauseFunc
	log    *watchLog // nil: it cannot be resumed
}

func eventID(id string) string { return "id: " + id + "\n" }

// Write sends a notification: an event of its name, with its number as its id, or one by which
// the stream can be resumed.
func (e *events) Write(ctx context.Context, _ websocket.MessageType, message []byte) error {
	var n struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	var end struct {
		N        uint64 `json:"n"`
		Terminal bool   `json:"terminal"`
		Lagged   bool   `json:"lagged"`
	}
	if err := json.Unmarshal(message, &n); err != nil {
		return err
	}
	_ = json.Unmarshal(n.Params, &end) // the daemon's own
	id := strconv.FormatUint(end.N, 10)
	if e.log != nil {
		var change stateChanged
		_ = json.Unmarshal(n.Params, &change) // as above
		id = e.log.take(&change)
		n.Params, _ = json.Marshal(change) // it was JSON
	}
	until, _ := ctx.Deadline()
	if err := e.event(ctx, time.Until(until), n.Method, eventID(id), n.Params); err != nil {
		return err
	}
	if end.Terminal || end.Lagged {
		e.cancel(errDisconnected)
	}
	return nil
}

func (e *events) event(ctx context.Context, within time.Duration, name, id string, data json.RawMessage) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := http.NewResponseController(e.w)
	_ = out.SetWriteDeadline(time.Now().Add(within))
	if _, err := fmt.Fprintf(e.w, "event: %s\n%sdata: %s\n\n", name, id, data); err != nil { // JSON on one line
		return err
	}
	return out.Flush()
}

// Read has nothing: there is one request.
func (e *events) Read(ctx context.Context) (websocket.MessageType, []byte, error) {
	<-ctx.Done()
	return 0, nil, ctx.Err()
}

// Close ends the stream.
func (e *events) Close(websocket.StatusCode, string) error { return e.CloseNow() }

// CloseNow ends the stream.
func (e *events) CloseNow() error {
	e.cancel(errDisconnected)
	return nil
}

// problem answers with an error as RFC 9457 has it, beside what an error of the API has.
func problem(w http.ResponseWriter, e *api.ResponseError) {
	status := problemStatus(e.Code)
	data := api.ErrorData{}
	if e.Data != nil {
		data = *e.Data
	}
	body, _ := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Code   int    `json:"code"`
		api.ErrorData
	}{"about:blank", http.StatusText(status), status, e.Message, e.Code, data}) // it holds strings and numbers only
	w.Header().Set("Content-Type", "application/problem+json")
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may be gone
}

// problemStatus is HTTP's number for a code of the API or of JSON-RPC.
func problemStatus(code int) int {
	switch code {
	case int(api.CodeNotFound), api.RPCMethodNotFound:
		return http.StatusNotFound
	case int(api.CodeConflict), int(api.CodePrecondition), int(api.CodeCancelled):
		return http.StatusConflict
	case int(api.CodeDenied):
		return http.StatusForbidden
	case int(api.CodeUnauthenticated):
		return http.StatusUnauthorized
	case int(api.CodeUnreachable):
		return http.StatusBadGateway
	case int(api.CodeDeadline):
		return http.StatusGatewayTimeout
	case int(api.CodeExhausted):
		return http.StatusTooManyRequests
	case int(api.CodeUnsupported):
		return http.StatusNotImplemented
	case int(api.CodeInternal), api.RPCInternalError:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}
