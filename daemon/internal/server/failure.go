package server

import (
	"context"
	"errors"

	"fulmen/daemon/api"
	"fulmen/native/nearest"
)

// withCode is an error of a reply with one of JSON-RPC's own codes, which are for what is
// wrong with the request as such; methods have api's.
func withCode(code int, e *api.Error) *api.ResponseError {
	r := e.Response()
	r.Code = code
	return r
}

// failure is what a client is told of an error. What is not made for clients is
// logged and told as an internal error.
func (c *conn) failure(method string, err error) *api.ResponseError {
	if e, ok := errors.AsType[paramsError](err); ok {
		return withCode(api.RPCInvalidParams, e.fault)
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		if e.Code == api.CodeInternal {
			c.log().Error("a request failed", "method", method, "error", err)
		}
		return e.Response()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return api.NewError(api.ReasonDeadline, method).WithWait(method).Response()
	case errors.Is(err, context.Canceled):
		return api.NewError(api.ReasonCancelled, method).Response()
	}
	c.log().Error("a request failed", "method", method, "error", err)
	return api.AsError(err).Response()
}

func unknownMethod(name string, known []string) *api.ResponseError {
	e := api.Errorf(api.ReasonUnknownMethod, shorten(name), "There is no method %q.", shorten(name))
	if near := nearest.Of(name, known); near != "" {
		e.Message += " Did you mean " + near + "?"
	}
	return withCode(api.RPCMethodNotFound, e)
}

func malformed(code int, what string) *api.ResponseError {
	return withCode(code, api.Errorf(api.ReasonMalformedMessage, "", "The message is not valid JSON-RPC 2.0: %s.", what))
}
