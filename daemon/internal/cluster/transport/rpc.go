package transport

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"sync/atomic"

	"fulmen/daemon/api"
)

// rpcMessage is a message of JSON-RPC 2.0 as it comes: a request, a notification,
// which has no id, or an answer, which has no method.
//
// This side of the protocol is written out here: jrpc2, which serves clients,
// looks through every message four times and hands each over three goroutines,
// and a change that many nodes hear of waits for that.
type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcFailure     `json:"error"`
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

// appendRPC begins a message; one with an id waits for an answer or is one.
func appendRPC(room int, id []byte) []byte {
	text := append(make([]byte, 0, room+96), `{"jsonrpc":"2.0"`...)
	if id != nil {
		text = append(append(text, `,"id":`...), id...)
	}
	return text
}

// requestRPC is a request, or a notification without an id. The parameters are
// JSON already.
func requestRPC(id []byte, method string, params json.RawMessage) []byte {
	text := strconv.AppendQuote(append(appendRPC(len(params)+len(method), id), `,"method":`...), method)
	if params != nil {
		text = append(append(text, `,"params":`...), params...)
	}
	return append(text, '}')
}

// answerRPC is an answer.
func answerRPC(id []byte, result any, err error) []byte {
	raw, name := []byte(nil), `,"result":`
	if err == nil {
		if raw, err = json.Marshal(result); err == nil && len(raw) > api.MaxMessageBytes-len(id)-64 {
			err = errTooLarge
		}
	}
	if err != nil {
		name = `,"error":`
		if raw, err = json.Marshal(api.AsError(err).Response()); err != nil { // strings only: it cannot be
			raw = []byte(`{"code":` + strconv.Itoa(api.RPCInternalError) + `,"message":""}`)
		}
	}
	return append(append(append(appendRPC(len(raw), id), name...), raw...), '}')
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
