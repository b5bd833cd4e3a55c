package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"

	"github.com/coder/websocket"
	"github.com/creachadair/jrpc2"

	"fulmen/daemon/api"
)

// Assign makes conn a jrpc2.Assigner. It knows every name, so that every
// refusal has a reason.
func (c *conn) Assign(context.Context, string) jrpc2.Handler {
	return func(ctx context.Context, req *jrpc2.Request) (any, error) {
		if req.IsNotification() {
			defer c.giveBack(1)
		}
		result, failure := c.handle(ctx, req)
		if failure != nil {
			return nil, failure
		}
		return result, nil
	}
}

// handle does one request.
func (c *conn) handle(ctx context.Context, req *jrpc2.Request) (json.RawMessage, *jrpc2.Error) {
	name := req.Method()
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
		return nil, rpcError(0, err)
	}
	caller := &Caller{UID: c.who.uid, Socket: c.who.socket, Token: c.who.token.Name,
		conn: c, method: m.info, requestID: req.ID()}
	var params json.RawMessage
	if err := req.UnmarshalParams(&params); err != nil {
		return nil, malformed(api.RPCInvalidRequest, "params cannot be read")
	}
	ctx, stop := context.WithTimeout(ctx, c.server.config.Limits.CallDeadline)
	defer stop()
	var ended func(error)
	if audit := c.server.config.Audit; audit != nil {
		ended = audit(ctx, caller, m.info, params)
	}
	out, err := call(ctx, m, caller, params)
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

// call runs a handler. A panic is a defect of that handler, and no reason to
// end the daemon with all its state.
func call(ctx context.Context, m method, caller *Caller, params json.RawMessage) (out json.RawMessage, err error) {
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
