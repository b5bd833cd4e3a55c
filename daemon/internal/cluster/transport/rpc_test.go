package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/frame"
)

// line is a connection for calls in a bubble, with what its server is asked.
type line struct {
	client *callClient
	server *callServer
	raw    net.Conn // the client's end
	over   chan struct{}
	ctx    context.Context // the bubble's
}

// onLine runs a test on one. The server's handler answers with the parameters.
func onLine(t *testing.T, handle func(ctx context.Context, method string, params json.RawMessage) (any, error), notice func(string, json.RawMessage), test func(*is.I, *line)) {
	synctest.Test(t, func(t *testing.T) {
		if notice == nil {
			notice = func(string, json.RawMessage) {}
		}
		near, far := net.Pipe()
		l := &line{raw: near, over: make(chan struct{}), ctx: t.Context()}
		any := func(string, int) (func(), error) { return func() {}, nil }
		l.server = &callServer{records: newRecords(far), handle: handle, begin: any}
		l.client = newCallClient(near, notice)
		go func() {
			defer close(l.over)
			l.server.serve(l.ctx)
		}()
		test(is.New(t), l)
		l.client.close()
		<-l.over
	})
}

func parrot(_ context.Context, _ string, params json.RawMessage) (any, error) { return params, nil }

// Many call at once, and each gets its own answer, in whatever order they come.
func TestRPCAnswersFindTheirCalls(t *testing.T) {
	slow := func(_ context.Context, _ string, params json.RawMessage) (any, error) {
		var n int
		if err := json.Unmarshal(params, &n); err != nil {
			return nil, err
		}
		for range (100 - n) % 7 { // later ones first, some of them
			runtime.Gosched()
		}
		return n, nil
	}
	onLine(t, slow, nil, func(is *is.I, l *line) {
		var running sync.WaitGroup
		for n := range 100 { // more than are worked on at once
			running.Go(func() {
				answer, err := l.client.call(l.ctx, "peer.x", json.RawMessage(fmt.Sprint(n)))
				is.NoErr(err)
				is.Equal(string(answer), fmt.Sprint(n))
			})
		}
		running.Wait()
		is.Equal(len(l.client.pending), 0)
	})
}

func TestRPCErrors(t *testing.T) {
	handle := func(ctx context.Context, method string, _ json.RawMessage) (any, error) {
		switch method {
		case "refuse":
			return nil, api.Errorf(api.ReasonSuspect, "x", "No.")
		case "large":
			return strings.Repeat("x", api.MaxMessageBytes), nil
		case "strange":
			return func() {}, nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	onLine(t, handle, nil, func(is *is.I, l *line) {
		_, err := l.client.call(l.ctx, "refuse", nil)
		is.True(errors.Is(err, api.ReasonSuspect))
		is.Equal(api.AsError(err).Message, "No.")
		is.Equal(api.AsError(err).Data.Subject, "x")
		for _, method := range []string{"large", "strange"} { // who waits is not left to wait
			_, err = l.client.call(l.ctx, method, nil)
			is.True(errors.Is(err, api.CodeInternal))
		}
		_, err = l.client.call(l.ctx, "refuse", json.RawMessage(`"`+strings.Repeat("x", api.MaxMessageBytes)+`"`))
		is.True(errors.Is(err, errTooLarge)) // and the connection stays
		ctx, cancel := context.WithTimeout(l.ctx, time.Second)
		defer cancel()
		_, err = l.client.call(ctx, "wait", nil)
		is.True(errors.Is(err, errGivenUp))
		ended := make(chan error)
		go func() {
			_, err := l.client.call(l.ctx, "wait", nil)
			ended <- err
		}()
		synctest.Wait()
		l.server.close()
		is.True(errors.Is(<-ended, errEnded))
		<-l.over // the handlers that waited were told
		is.True(l.client.isOver())
		_, err = l.client.call(l.ctx, "refuse", nil)
		is.True(err != nil)
		is.Equal(len(l.client.pending), 0)
	})
}

func TestRPCNotices(t *testing.T) {
	var received []string
	onLine(t, parrot, func(method string, params json.RawMessage) { received = append(received, method+string(params)) }, func(is *is.I, l *line) {
		notify := func(method string, params json.RawMessage) error {
			text, err := requestRPC(nil, method, params)
			is.NoErr(err)
			return l.server.send(l.ctx, text)
		}
		for n := range 3 {
			is.NoErr(notify("peer.changed", json.RawMessage(fmt.Sprint(n))))
		}
		is.NoErr(notify("peer.bare", nil))
		synctest.Wait()
		is.Equal(received, []string{"peer.changed0", "peer.changed1", "peer.changed2", "peer.bare"})
	})
}

// Whatever is no message ends the connection, and its calls.
func TestRPCNonsense(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "{", "a list": "[]", "a number": "1", "no method": `{"jsonrpc":"2.0","id":1}`, "an answer": `{"id":1,"result":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			onLine(t, parrot, nil, func(is *is.I, l *line) {
				_, err := l.raw.Write(frame.Encode([]byte(text)))
				is.NoErr(err)
				<-l.over
				<-l.client.done
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		for _, text := range []string{"{", `{"result":{}}`, `{"id":"x","result":{}}`, `{"id":-1,"result":{}}`} {
			near, far := net.Pipe()
			c := newCallClient(near, nil)
			_, err := far.Write(frame.Encode([]byte(text)))
			is.New(t).NoErr(err)
			<-c.done
		}
	})
}

// An answer that nobody waits for any more, or never did, is no harm; a request
// without an id is not answered.
func TestRPCUnasked(t *testing.T) {
	onLine(t, parrot, nil, func(is *is.I, l *line) {
		is.NoErr(l.server.send(l.ctx, answerRPC([]byte("77"), 1, nil)))
		text, err := requestRPC(nil, "peer.x", json.RawMessage(`{}`))
		is.NoErr(err)
		is.NoErr(l.client.send(l.ctx, text))
		answer, err := l.client.call(l.ctx, "peer.x", json.RawMessage(`{"n":1}`))
		is.NoErr(err)
		is.Equal(string(answer), `{"n":1}`)
	})
}

// A peer that does not read keeps nobody who gives up.
func TestRPCSlowPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		near, far := net.Pipe()
		defer far.Close()
		c := newCallClient(near, nil)
		stuck := make(chan error)
		go func() {
			_, err := c.call(t.Context(), "peer.x", nil)
			stuck <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := c.call(ctx, "peer.x", nil)
		is.True(errors.Is(err, errGivenUp))
		is.Equal(time.Since(began), time.Second)
		is.True(<-stuck != nil) // after sendWithin
		is.True(time.Since(began) <= sendWithin)
		c.close()
	})
}

func FuzzRPC(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"peer.put","params":{"docs":[]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"No.","data":{"reason":"conflict"}}}`))
	f.Add([]byte(`{"id":null,"error":{"code":-32601,"data":7}}`))
	for text := range messages() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseRPC(text)
		if err != nil {
			return
		}
		if m.Error != nil && m.Error.err().Data.Reason == "" {
			t.Errorf("%q is an error without a reason", text)
		}
		if m.Params != nil && !json.Valid(m.Params) {
			t.Errorf("%q has parameters that are no JSON", text)
		}
	})
}

// messages are texts, and what each is read as; nil = it is no message.
func messages() map[string]*rpcMessage {
	one, two := json.RawMessage("1"), json.RawMessage("{}")
	return map[string]*rpcMessage{
		`{"jsonrpc":"2.0","id":1,"method":"peer.put","params":{"docs":[{"node":"}"}]}}`: {ID: one, Method: "peer.put", Params: json.RawMessage(`{"docs":[{"node":"}"}]}`)},
		`{"jsonrpc":"2.0","id":18446744073709551615,"method":"peer.x_y"}`:               {ID: json.RawMessage("18446744073709551615"), Method: "peer.x_y"},
		`{"jsonrpc":"2.0","method":"peer.changed","params":[1,2]}`:                      {Method: "peer.changed", Params: json.RawMessage("[1,2]")},
		`{"jsonrpc":"2.0","method":"peer.bare"}`:                                        {Method: "peer.bare"},
		`{"jsonrpc":"2.0","id":1,"method":"peer.x","params":"a"}`:                       {ID: one, Method: "peer.x", Params: json.RawMessage(`"a"`)},
		`{"jsonrpc":"2.0","id":1,"result":{"n":1}}`:                                     {ID: one, Result: json.RawMessage(`{"n":1}`)},
		`{"jsonrpc":"2.0","id":1,"result":true}`:                                        {ID: one, Result: json.RawMessage("true")},
		`{"jsonrpc":"2.0","id":1,"method":"peer.x","params":{},"method":"peer.y"}`:      {ID: one, Method: "peer.y", Params: two},
		`{"jsonrpc":"2.0","id":1,"method":"peer.x","params":{}},{}`:                     nil,
		`{"jsonrpc":"2.0","id":01,"method":"peer.x"}`:                                   nil,
		`{"jsonrpc":"2.0","id":,"method":"peer.x"}`:                                     nil,
		`{"jsonrpc":"2.0","id":"1","method":"peer.x"}`:                                  {ID: json.RawMessage(`"1"`), Method: "peer.x"},
		`{"jsonrpc":"2.0","id":1,"method":"peer.\u0078"}`:                               {ID: one, Method: "peer.x"},
		`{"jsonrpc":"2.0","id":1,"method":"peer.x","params":null}`:                      {ID: one, Method: "peer.x", Params: json.RawMessage("null")},
		`{"jsonrpc":"2.0","id":1,"method":"peer.x","params": {} }`:                      {ID: one, Method: "peer.x", Params: two},
		`{"jsonrpc":"2.0","id":1,"method":"peer.x","params":}`:                          nil,
		`{"jsonrpc":"2.0","id":1,"method":"peer.x`:                                      nil,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`:                       {ID: one, Result: two, Error: &rpcFailure{Code: 1}},
		`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`:                                   {ID: one, Error: &rpcFailure{Code: 1}},
		`{"jsonrpc":"2.0"}`:                    {},
		`{"id":1,"jsonrpc":"2.0","result":{}}`: {ID: one, Result: two},
	}
}

func TestRPCIsRead(t *testing.T) {
	for text, want := range messages() {
		m, err := parseRPC([]byte(text))
		if (err == nil) != (want != nil) || want != nil && !reflect.DeepEqual(m, *want) {
			t.Errorf("%s is read as %+v, %v; want %+v", text, m, err, want)
		}
	}
}

// What members write stays as it is: members of other versions read it.
func TestRPCIsWritten(t *testing.T) {
	is := is.New(t)
	request := func(id []byte, method, params string) string {
		text, err := requestRPC(id, method, json.RawMessage(params))
		is.NoErr(err)
		return string(text)
	}
	is.Equal(request([]byte("1"), "peer.put", `{"docs":[{"node":"}"}]}`), `{"jsonrpc":"2.0","id":1,"method":"peer.put","params":{"docs":[{"node":"}"}]}}`)
	is.Equal(request([]byte("18446744073709551615"), "peer.x_y", ""), `{"jsonrpc":"2.0","id":18446744073709551615,"method":"peer.x_y"}`)
	is.Equal(request(nil, "peer.changed", "[1,2]"), `{"jsonrpc":"2.0","method":"peer.changed","params":[1,2]}`)
	is.Equal(string(answerRPC([]byte("7"), map[string]int{"n": 1}, nil)), `{"jsonrpc":"2.0","id":7,"result":{"n":1}}`)
	is.Equal(string(answerRPC([]byte("7"), nil, nil)), `{"jsonrpc":"2.0","id":7,"result":null}`)
	is.Equal(string(answerRPC([]byte("7"), nil, api.Errorf(api.ReasonSuspect, "x", "No."))), `{"jsonrpc":"2.0","id":7,"error":{"code":6,"message":"No.","data":{"reason":"suspect","subject":"x"}}}`)
}
