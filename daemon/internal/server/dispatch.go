package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
