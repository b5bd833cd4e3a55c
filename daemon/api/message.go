package api

import "encoding/json"

// Request is a JSON-RPC 2.0 request, or a notification where ID is absent.
// One text message of the WebSocket is one request, or a batch of at most
// MaxBatch as an array.
type Request struct {
	// JSONRPC is always JSONRPCVersion.
	JSONRPC string `json:"jsonrpc"`
	// ID is the client's, a string or a whole number; absent = no reply.
	ID json.RawMessage `json:"id,omitempty"`
	// Method is the method's name.
	Method string `json:"method"`
	// Params is always an object; absent = {}.
	Params json.RawMessage `json:"params,omitempty"`
}

// Response is a JSON-RPC 2.0 response: Result or Error.
type Response struct {
	// JSONRPC is always JSONRPCVersion.
	JSONRPC string `json:"jsonrpc"`
	// ID is the request's; null where it could not be read.
	ID json.RawMessage `json:"id"`
	// Result is the method's result.
	Result json.RawMessage `json:"result,omitempty"`
	// Error is why there is none.
	Error *ResponseError `json:"error,omitempty"`
}

// ResponseError is the error of a response. Code is one of Codes, or one that
// JSON-RPC itself reserves.
type ResponseError struct {
	// Code is Error.Code, or a code that JSON-RPC reserves.
	Code int `json:"code"`
	// Message is one sentence for a person.
	Message string `json:"message"`
	// Data is what can be acted on.
	Data *ErrorData `json:"data,omitempty"`
}

// The codes that JSON-RPC 2.0 reserves. Only the layer that reads messages
// sends them; methods send Codes.
const (
	// RPCParseError is text that is not JSON.
	RPCParseError = -32700
	// RPCInvalidRequest is JSON that is no request.
	RPCInvalidRequest = -32600
	// RPCMethodNotFound is a method that is not there.
	RPCMethodNotFound = -32601
	// RPCInvalidParams is parameters that do not fit the method.
	RPCInvalidParams = -32602
	// RPCInternalError is a defect of the server.
	RPCInternalError = -32603
)

// CodeOfRPC is the group of an error code as it came in a response: Codes as
// they are, JSON-RPC's own by their sense, anything else CodeInternal.
func CodeOfRPC(code int) Code {
	switch code {
	case RPCParseError, RPCInvalidRequest, RPCInvalidParams:
		return CodeInvalid
	case RPCMethodNotFound:
		return CodeNotFound
	}
	if code >= int(CodeInvalid) && code <= int(CodeInternal) {
		return Code(code)
	}
	return CodeInternal
}

// Response makes the error of a response.
func (e *Error) Response() *ResponseError {
	data := e.Data
	return &ResponseError{Code: int(e.Code), Message: e.Message, Data: &data}
}

// Err is the error that a client acts on. Where the server gave no reason it is
// that of the code.
func (r *ResponseError) Err() *Error {
	e := &Error{Code: CodeOfRPC(r.Code), Message: r.Message}
	if r.Data != nil {
		e.Data = *r.Data
	}
	if e.Data.Reason != "" {
		return e
	}
	switch r.Code {
	case RPCParseError, RPCInvalidRequest:
		e.Data.Reason = ReasonMalformedMessage
	case RPCMethodNotFound:
		e.Data.Reason = ReasonUnknownMethod
	case RPCInvalidParams:
		e.Data.Reason = ReasonBadValue
	default:
		e.Data.Reason = ReasonInternal
	}
	return e
}

// NodeRef is a node as people name it in a call: its id, its short name, or
// any unique beginning of either. Empty is the node that is called.
type NodeRef string

// LinkRef is a cable as people name it in a call: its id, or one end of it
// with a NodeRef, such as mac-studio:1.
type LinkRef string

// Subscription names a stream of notifications on one connection; it dies with
// the connection.
type Subscription string
