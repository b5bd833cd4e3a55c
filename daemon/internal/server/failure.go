package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/creachadair/jrpc2"

	"fulmen/daemon/api"
	"fulmen/native/nearest"
)

// rpcError makes the error of a reply. JSON-RPC's own codes are for what is
// wrong with the request as such; methods have api's.
func rpcError(code int, e *api.Error) *jrpc2.Error {
	if code == 0 {
		code = int(e.Code)
	}
	data, err := json.Marshal(e.Data)
	if err != nil { // strings only: it cannot be
		data = nil
	}
	return &jrpc2.Error{Code: jrpc2.Code(code), Message: e.Message, Data: data}
}

// failure is what a client is told of an error. What is not made for clients is
// logged and told as an internal error.
func (c *conn) failure(method string, err error) *jrpc2.Error {
	if e, ok := errors.AsType[paramsError](err); ok {
		return rpcError(api.RPCInvalidParams, e.fault)
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		if e.Code == api.CodeInternal {
			c.log().Error("a request failed", "method", method, "error", err)
		}
		return rpcError(0, e)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e := api.NewError(api.ReasonDeadline, method)
		e.Data.WaitingFor = method
		return rpcError(0, e)
	case errors.Is(err, context.Canceled):
		return rpcError(0, api.NewError(api.ReasonCancelled, method))
	}
	c.log().Error("a request failed", "method", method, "error", err)
	return rpcError(0, api.AsError(err))
}

func unknownMethod(name string, known []string) *jrpc2.Error {
	e := api.Errorf(api.ReasonUnknownMethod, shorten(name), "There is no method %q.", shorten(name))
	if near := nearest.Of(name, known); near != "" {
		e.Message += " Did you mean " + near + "?"
	}
	return rpcError(api.RPCMethodNotFound, e)
}

func malformed(code int, what string) *jrpc2.Error {
	return rpcError(code, api.Errorf(api.ReasonMalformedMessage, "", "The message is not valid JSON-RPC 2.0: %s.", what))
}

// reply is one response as it goes out.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *jrpc2.Error    `json:"error,omitempty"`
}

func encodeReply(r reply) []byte {
	r.JSONRPC = api.JSONRPCVersion
	if len(r.ID) == 0 {
		r.ID = json.RawMessage("null")
	}
	out, err := json.Marshal(r)
	if err != nil { // its parts have been encoded before
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"The reply could not be encoded."}}`)
	}
	return out
}
