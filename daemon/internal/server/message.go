package server

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/creachadair/jrpc2"

	"fulmen/daemon/api"
)

// load is what a message from a client sets in motion.
type load struct {
	notifications int  // requests without an id
	replies       bool // one reply, or one array of them, will come
}

// slots is how many slots of the connection it takes.
func (l load) slots() int {
	if l.replies {
		return l.notifications + replySlots
	}
	return l.notifications
}

// examine looks at a message before jrpc2 does, with jrpc2's own parser, and
// refuses what jrpc2 would take at any size or answer without a reason. What
// is wrong with one request of several is left to jrpc2, and mended on the way
// out by mend.
func examine(message []byte) (load, *jrpc2.Error) {
	if !utf8.Valid(message) {
		return load{}, malformed(api.RPCParseError, "it is not UTF-8")
	}
	if n := batchLength(message); n > api.MaxBatch {
		return load{}, rpcError(0, api.Errorf(api.ReasonBatchTooLarge, "", "The batch holds more than %d requests.", api.MaxBatch))
	}
	requests, err := jrpc2.ParseRequests(message)
	switch {
	case err != nil:
		return load{}, malformed(api.RPCParseError, "it is not JSON")
	case len(requests) == 0:
		return load{}, malformed(api.RPCInvalidRequest, "the batch is empty")
	}
	var l load
	for _, r := range requests {
		if r.ID == "" && r.Error == nil && r.Method != "" {
			l.notifications++
		} else {
			l.replies = true
		}
	}
	return l, nil
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

// mend gives errors that jrpc2 made by itself the data that every error of this
// API has, and replaces what has become too large to be sent.
func mend(message []byte) []byte {
	tooLarge := len(message) > api.MaxMessageBytes
	if !tooLarge && !bytes.Contains(message, []byte(`"error":{"code":-32`)) {
		return message
	}
	replies, batch, ok := parseReplies(message)
	if !ok {
		return message
	}
	parts := make([][]byte, len(replies))
	for i, r := range replies {
		if tooLarge {
			r.Result, r.Error = nil, tooLargeReply()
		}
		if r.Error != nil && (len(r.Error.Data) == 0 || r.Error.Data[0] != '{') {
			code := int(r.Error.Code)
			if code != api.RPCParseError {
				code = api.RPCInvalidRequest
			}
			r.Error = malformed(code, r.Error.Message)
		}
		parts[i] = encodeReply(r)
	}
	if !batch {
		return parts[0]
	}
	return append(append([]byte("["), bytes.Join(parts, []byte(","))...), ']')
}

func tooLargeReply() *jrpc2.Error {
	return rpcError(0, api.Errorf(api.ReasonMessageTooLarge, "", "The reply would be larger than %d bytes.", api.MaxMessageBytes))
}

func parseReplies(message []byte) (replies []reply, batch, ok bool) {
	if len(message) > 0 && message[0] == '[' {
		err := json.Unmarshal(message, &replies)
		return replies, true, err == nil && len(replies) > 0
	}
	var one reply
	err := json.Unmarshal(message, &one)
	return []reply{one}, false, err == nil
}
