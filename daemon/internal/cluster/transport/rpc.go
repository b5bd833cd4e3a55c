package transport

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync/atomic"

	"fulmen/daemon/api"
)

// rpcMessage is a message of JSON-RPC 2.0 as it comes: a request, a notification,
// which has no id, or an answer, which has no method.
//
// This side of the protocol is written out here: jrpc2, which serves clients, hands
// each message over three goroutines.
type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcFailure     `json:"error"`
}

// parseRPC reads a message. Members send no batches.
func parseRPC(text []byte) (m rpcMessage, err error) {
	err = json.Unmarshal(text, &m)
	return m, err
}

// rpcFailure is an error as it comes. Data of a later version is no reason to
// lose the rest.
type rpcFailure struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// err is the error that the other side told.
func (f *rpcFailure) err() *api.Error {
	told := api.ResponseError{Code: f.Code, Message: f.Message}
	var data api.ErrorData
	if len(f.Data) > 0 && json.Unmarshal(f.Data, &data) == nil {
		told.Data = &data
	}
	return told.Err()
}

// requestRPC is a request, or a notification without an id.
func requestRPC(id []byte, method string, params json.RawMessage) ([]byte, error) {
	return json.Marshal(api.Request{JSONRPC: api.JSONRPCVersion, ID: id, Method: method, Params: params})
}

// answerRPC is an answer.
func answerRPC(id []byte, result any, err error) []byte {
	answer := api.Response{JSONRPC: api.JSONRPCVersion, ID: id}
	if err == nil {
		answer.Result, err = json.Marshal(result)
	}
	if err == nil && len(answer.Result) > api.MaxMessageBytes-len(id)-64 {
		err = errTooLarge
	}
	if err != nil {
		answer.Result, answer.Error = nil, api.AsError(err).Response()
	}
	text, _ := json.Marshal(answer) // its parts have been encoded before, and the id was read as JSON
	return text
}

// records is a connection as messages go over it: one a frame.
type records struct {
	conn   net.Conn
	isOver atomic.Bool
}

// send writes a message.
func (r *records) send(message []byte) error {
	if len(message) > api.MaxMessageBytes {
		return errTooLarge
	}
	return writeWithin(r.conn, message)
}

// receive reads one.
func (r *records) receive() ([]byte, error) {
	message, err := readFrame(r.conn, api.MaxMessageBytes)
	if r.isOver.Load() || errors.Is(err, net.ErrClosed) { // what TLS has read before counts no more
		return nil, io.EOF
	}
	return message, err
}

// close ends the connection.
func (r *records) close() {
	r.isOver.Store(true)
	abort(r.conn)
}
