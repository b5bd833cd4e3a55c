package transport

import (
	"bytes"
	"encoding/json"

	"fulmen/daemon/api/scan"
)

// parseRPC reads a message. Members send no batches.
func parseRPC(text []byte) (rpcMessage, error) {
	if m, is := cutRPC(text); is {
		return m, nil
	}
	var m rpcMessage
	err := json.Unmarshal(text, &m)
	return m, err
}

// cutRPC reads a message that is written as this version writes them, all but
// errors, and looks through what it carries once; false for any other. What it
// carries, mostly documents, is nearly all of it, and is read again by whoever it is for.
func cutRPC(text []byte) (m rpcMessage, is bool) {
	rest, is := bytes.CutPrefix(text, []byte(`{"jsonrpc":"2.0"`))
	if !is || !bytes.HasSuffix(rest, []byte(`}`)) {
		return m, false
	}
	rest = rest[:len(rest)-1]
	if after, hasID := bytes.CutPrefix(rest, []byte(`,"id":`)); hasID {
		n := 0
		for n < len(after) && after[n] >= '0' && after[n] <= '9' {
			n++
		}
		if n == 0 || n > 1 && after[0] == '0' {
			return m, false
		}
		m.ID, rest = after[:n:n], after[n:]
	}
	carried, into := []byte(nil), &m.Result
	if after, isCall := bytes.CutPrefix(rest, []byte(`,"method":"`)); isCall {
		method, after, is := bytes.Cut(after, []byte(`"`))
		if !is || !scan.Plain(method) {
			return m, false
		}
		m.Method, into = string(method), &m.Params
		if len(after) == 0 {
			return m, true
		}
		if carried, is = bytes.CutPrefix(after, []byte(`,"params":`)); !is {
			return m, false
		}
	} else if carried, is = bytes.CutPrefix(rest, []byte(`,"result":`)); !is {
		return m, false
	}
	if bytes.Equal(carried, []byte("null")) || len(bytes.TrimSpace(carried)) != len(carried) || !scan.Valid(carried) {
		return m, false
	}
	*into = carried[:len(carried):len(carried)]
	return m, true
}
