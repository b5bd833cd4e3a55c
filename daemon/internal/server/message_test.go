package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

func TestMalformedMessages(t *testing.T) {
	a := servertest.Start(t, nil)
	w := dialSocket(t, a)
	for name, c := range map[string]struct {
		text   string
		id     string
		code   int
		reason api.Reason
	}{
		"nothing":            {``, `null`, api.RPCParseError, api.ReasonMalformedMessage},
		"no JSON":            {`{"jsonrpc":`, `null`, api.RPCParseError, api.ReasonMalformedMessage},
		"two values":         {`{} {}`, `null`, api.RPCParseError, api.ReasonMalformedMessage},
		"not UTF-8":          {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"state.get\"}", `null`, api.RPCParseError, api.ReasonMalformedMessage},
		"a number":           {`1`, `null`, api.RPCParseError, api.ReasonMalformedMessage},
		"null":               {`null`, `null`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"empty object":       {`{}`, `null`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"empty batch":        {`[]`, `null`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"no version":         {`{"id":1,"method":"state.get"}`, `1`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"version 1":          {`{"jsonrpc":"1.0","id":1,"method":"state.get"}`, `1`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"no method":          {`{"jsonrpc":"2.0","id":1}`, `1`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"method a number":    {`{"jsonrpc":"2.0","id":1,"method":1}`, `1`, api.RPCParseError, api.ReasonMalformedMessage},
		"id an object":       {`{"jsonrpc":"2.0","id":{},"method":"state.get"}`, `null`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"further field":      {`{"jsonrpc":"2.0","id":1,"method":"state.get","x":1}`, `1`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"a response":         {`{"jsonrpc":"2.0","id":1,"result":{}}`, `1`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"params a number":    {`{"jsonrpc":"2.0","id":1,"method":"state.get","params":1}`, `1`, api.RPCInvalidRequest, api.ReasonMalformedMessage},
		"params an array":    {`{"jsonrpc":"2.0","id":1,"method":"state.get","params":[]}`, `1`, api.RPCInvalidParams, api.ReasonBadValue},
		"unknown method":     {`{"jsonrpc":"2.0","id":"x","method":"state.got"}`, `"x"`, api.RPCMethodNotFound, api.ReasonUnknownMethod},
		"rpc.serverInfo":     {`{"jsonrpc":"2.0","id":1,"method":"rpc.serverInfo"}`, `1`, api.RPCMethodNotFound, api.ReasonUnknownMethod},
		"rpc.cancel":         {`{"jsonrpc":"2.0","id":1,"method":"rpc.cancel","params":[1]}`, `1`, api.RPCMethodNotFound, api.ReasonUnknownMethod},
		"method in capitals": {`{"jsonrpc":"2.0","id":1,"method":"STATE.GET"}`, `1`, api.RPCMethodNotFound, api.ReasonUnknownMethod},
		"unknown field":      {`{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"kind":["memory"]}}`, `1`, api.RPCInvalidParams, api.ReasonUnknownField},
		"field in capitals":  {`{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"Kinds":["memory"]}}`, `1`, api.RPCInvalidParams, api.ReasonUnknownField},
		"wrong type":         {`{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"kinds":"memory"}}`, `1`, api.RPCInvalidParams, api.ReasonBadValue},
		"wrong inner type":   {`{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"kinds":[7]}}`, `1`, api.RPCInvalidParams, api.ReasonBadValue},
		"unknown kind":       {`{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"kinds":["memroy"]}}`, `1`, int(api.CodeInvalid), api.ReasonUnknownKind},
		"unknown node":       {`{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"nodes":["nobody"]}}`, `1`, int(api.CodeNotFound), api.ReasonNoSuchNode},
		"not built":          {`{"jsonrpc":"2.0","id":1,"method":"node.list"}`, `1`, int(api.CodeUnsupported), "not_built_yet"},
		"no subscription":    {`{"jsonrpc":"2.0","id":1,"method":"state.unwatch","params":{"sub":"s99"}}`, `1`, int(api.CodeNotFound), api.ReasonNoSuchSubscription},
		"deep nesting":       {`{"jsonrpc":"2.0","id":1,"method":"state.get","params":` + strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000) + `}`, `null`, api.RPCParseError, api.ReasonMalformedMessage},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			w.t = t
			w.send(c.text)
			m := w.read()
			is.True(m.Error != nil)
			is.Equal(string(m.ID), c.id)
			is.Equal(m.Error.Code, c.code)
			is.Equal(m.Error.Data.Reason, c.reason)
			is.True(strings.HasSuffix(m.Error.Message, ".") || strings.HasSuffix(m.Error.Message, "?")) // a sentence
			w.ok("state.get", `{}`, nil)                                                                // and the connection lives
		})
	}
}

func TestNearestIsNamed(t *testing.T) {
	is := is.New(t)
	w := dialSocket(t, servertest.Start(t, func(c *server.Config) {
		c.Handlers = server.Handlers{"job.submit": server.Handle(
			func(context.Context, *server.Caller, api.JobSubmitParams) (api.JobSubmitResult, error) {
				return api.JobSubmitResult{}, nil
			})}
	}))
	m := w.call("state.wacth", `{}`)
	is.True(strings.Contains(m.Error.Message, "state.watch"))
	m = w.call("state.get", `{"kinsd":[]}`)
	is.True(strings.Contains(m.Error.Message, `"kinds"`))
	is.Equal(m.Error.Data.Subject, "kinsd")
	m = w.call("state.get", `{"kinds":["memroy"]}`)
	is.True(strings.Contains(m.Error.Message, "memory"))
	m = w.call("job.submit", `{"request":{"program":{"comand":[]}}}`) // at any depth
	is.Equal(m.Error.Data.Reason, api.ReasonUnknownField)
	m = w.call("daemon.tokens", `{"x":1}`)
	is.Equal(m.Error.Data.Remedy, "Send an empty object.")
}

func TestBatches(t *testing.T) {
	a := servertest.Start(t, nil)
	w := dialSocket(t, a)
	batch := func(n int, entry func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = entry(i)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	get := func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"state.get"}`, i) }
	answers := func(t *testing.T) []message {
		text, err := w.readText()
		is.New(t).NoErr(err)
		var all []message
		is.New(t).NoErr(json.Unmarshal([]byte(text), &all))
		return all
	}
	t.Run("full", func(t *testing.T) {
		is := is.New(t)
		w.send(batch(api.MaxBatch, get))
		seen := map[string]bool{}
		for _, m := range answers(t) {
			is.True(m.Error == nil)
			seen[string(m.ID)] = true
		}
		is.Equal(len(seen), api.MaxBatch)
	})
	t.Run("one too many", func(t *testing.T) {
		is := is.New(t)
		for _, text := range []string{batch(api.MaxBatch+1, get), "[" + strings.Repeat("1,", 300_000) + "1]"} {
			w.send(text)
			m := w.read()
			is.Equal(m.Error.Code, int(api.CodeExhausted))
			is.Equal(m.Error.Data.Reason, api.ReasonBatchTooLarge)
		}
	})
	t.Run("mixed", func(t *testing.T) {
		is := is.New(t)
		w.send(`[` + get(1) + `, 7, {"jsonrpc":"2.0","method":"state.get"}, ` + get(2) + `,` + get(2) + `, {"jsonrpc":"2.0","id":3,"method":"x.y"}]`)
		byID := map[string]int{}
		for _, m := range answers(t) {
			if m.Error != nil {
				is.True(m.Error.Data.Reason != "") // every error has its data
				byID[string(m.ID)] = m.Error.Code
			} else {
				byID[string(m.ID)] = 0
			}
		}
		is.Equal(byID, map[string]int{"1": 0, "null": api.RPCParseError, "2": api.RPCInvalidRequest, "3": api.RPCMethodNotFound})
	})
	t.Run("only notifications", func(t *testing.T) {
		for range 20 { // more than there are slots: they are given back
			w.send(batch(api.MaxBatch, func(int) string { return `{"jsonrpc":"2.0","method":"state.get"}` }))
		}
		w.t = t
		w.ok("state.get", `{}`, nil)
	})
	t.Run("a watch without an id", func(t *testing.T) {
		w.t = t
		w.send(`{"jsonrpc":"2.0","method":"state.watch"}`)
		w.ok("state.get", `{}`, nil)
		is.New(t).Equal(a.Facts.Watches(), 0) // nobody would know its name
	})
}

func TestFrames(t *testing.T) {
	a := servertest.Start(t, nil)
	padded := func(size int) string {
		head, tail := `{"jsonrpc":"2.0","id":1,"method":"state.get"`, `}`
		return head + strings.Repeat(" ", size-len(head)-len(tail)) + tail
	}
	t.Run("at the limit", func(t *testing.T) {
		w := dialSocket(t, a)
		w.send(padded(api.MaxMessageBytes))
		is.New(t).True(w.read().Error == nil)
	})
	t.Run("fragmented", func(t *testing.T) {
		is := is.New(t)
		w := dialSocket(t, a)
		out, err := w.ws.Writer(t.Context(), websocket.MessageText)
		is.NoErr(err)
		for _, b := range []byte(padded(200)) {
			_, err = out.Write([]byte{b}) // a frame each
			is.NoErr(err)
		}
		is.NoErr(out.Close())
		is.True(w.read().Error == nil)
	})
	t.Run("giant", func(t *testing.T) {
		w := dialSocket(t, a)
		_ = w.ws.Write(t.Context(), websocket.MessageText, []byte(padded(api.MaxMessageBytes+1))) // may be cut off
		code, _ := w.closed()
		is.New(t).Equal(code, websocket.StatusMessageTooBig)
	})
	t.Run("giant in fragments", func(t *testing.T) {
		is := is.New(t)
		w := dialSocket(t, a)
		out, err := w.ws.Writer(t.Context(), websocket.MessageText)
		is.NoErr(err)
		for range 20 {
			if _, err = out.Write(make([]byte, 64<<10)); err != nil {
				break
			}
		}
		code, _ := w.closed()
		is.Equal(code, websocket.StatusMessageTooBig)
	})
	t.Run("binary", func(t *testing.T) {
		is := is.New(t)
		w := dialSocket(t, a)
		is.NoErr(w.ws.Write(t.Context(), websocket.MessageBinary, []byte(padded(100))))
		code, _ := w.closed()
		is.Equal(code, websocket.StatusUnsupportedData)
	})
}

// FuzzMessage sends anything to a live connection: it answers with JSON-RPC
// whose errors have a reason, and goes on.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{``, `{}`, `[]`, `[{}]`, `[1,2]`, `null`, `{"jsonrpc":"2.0","id":1,"method":"state.get"}`,
		`{"jsonrpc":"2.0","method":"state.watch","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"state.watch","params":{"kinds":["memory"]}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"daemon.tokens"},{"jsonrpc":"2.0","id":1,"method":"x"}]`, `{"jsonrpc":"2.0","id":-0e1,"method":""}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1},"method":"x"}`, `{"jsonrpc":"2.0","id":1,"method":"job.submit","params":{"request":{"a":[{}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	a := servertest.Start(f, nil)
	f.Fuzz(func(t *testing.T, text []byte) {
		is := is.New(t)
		w := dialSocket(t, a)
		w.send(string(text))
		w.send(`{"jsonrpc":"2.0","id":"the last one","method":"state.get"}`)
		for {
			answer, err := w.readText()
			is.NoErr(err)
			var all []message
			if json.Unmarshal([]byte(answer), &all) != nil {
				all = make([]message, 1)
				is.NoErr(json.Unmarshal([]byte(answer), &all[0]))
			}
			for _, m := range all {
				is.Equal(m.JSONRPC, "2.0")
				is.True(m.Error == nil || m.Error.Data != nil && m.Error.Data.Reason != "" && m.Error.Message != "")
			}
			if string(all[0].ID) == `"the last one"` {
				return
			}
		}
	})
}
