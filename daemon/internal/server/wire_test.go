package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server/servertest"
)

// timeout bounds every wait of these tests; nothing takes so long unless it is
// broken.
const timeout = time.Minute

// wire is a client that sees every message as it is.
type wire struct {
	t  testing.TB
	ws *websocket.Conn
	n  int
}

// message is a response or a notification.
type message struct {
	JSONRPC string             `json:"jsonrpc"`
	ID      json.RawMessage    `json:"id"`
	Result  json.RawMessage    `json:"result"`
	Error   *api.ResponseError `json:"error"`
	Method  string             `json:"method"`
	Params  json.RawMessage    `json:"params"`
}

// dial connects to an address, or to a Unix socket if one is named.
func dial(t testing.TB, url, socket string, header http.Header) (*wire, *http.Response, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if socket != "" {
			network, addr = "unix", socket
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}}
	opts := &websocket.DialOptions{HTTPClient: client, HTTPHeader: header, Host: header.Get("Host")}
	ctx, stop := context.WithTimeout(t.Context(), timeout)
	defer stop()
	ws, resp, err := websocket.Dial(ctx, url, opts)
	if err != nil {
		return nil, resp, err
	}
	ws.SetReadLimit(2 * api.MaxMessageBytes)
	t.Cleanup(func() { _ = ws.CloseNow() }) // the server may have closed it
	return &wire{t: t, ws: ws}, resp, nil
}

func dialSocket(t testing.TB, a *servertest.API) *wire {
	t.Helper()
	w, _, err := dial(t, "ws://localhost"+api.PathAPI, a.Socket, nil)
	is.New(t).NoErr(err)
	return w
}

func dialToken(t testing.TB, a *servertest.API, token string) *wire {
	t.Helper()
	w, _, err := dial(t, a.URL, "", http.Header{"Authorization": {"Bearer " + token}})
	is.New(t).NoErr(err)
	return w
}

func (w *wire) send(text string) {
	w.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), timeout)
	defer stop()
	if err := w.ws.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		w.t.Fatalf("send: %v", err)
	}
}

func (w *wire) readText() (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), timeout)
	defer stop()
	_, text, err := w.ws.Read(ctx)
	return string(text), err
}

func (w *wire) read() message {
	w.t.Helper()
	text, err := w.readText()
	if err != nil {
		w.t.Fatalf("read: %v", err)
	}
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.JSONRPC != "2.0" {
		w.t.Fatalf("not a message: %v in %.300s", err, text)
	}
	return m
}

// closed reads until the connection ends and gives the status.
func (w *wire) closed() (websocket.StatusCode, string) {
	w.t.Helper()
	for {
		if _, err := w.readText(); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				w.t.Fatal("the connection was not closed")
			}
			ce, _ := errors.AsType[websocket.CloseError](err)
			return websocket.CloseStatus(err), ce.Reason
		}
	}
}

// call makes a request and gives its response; notifications in between are lost.
func (w *wire) call(method, params string) message {
	w.t.Helper()
	w.n++
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.n, method, params))
	for {
		if m := w.read(); string(m.ID) == fmt.Sprint(w.n) {
			return m
		}
	}
}

// ok is call for what must work.
func (w *wire) ok(method, params string, into any) {
	w.t.Helper()
	m := w.call(method, params)
	if m.Error != nil {
		w.t.Fatalf("%s: %v", method, m.Error.Err())
	}
	if err := json.Unmarshal(m.Result, into); into != nil && err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
}

// changed reads the next state.changed.
func (w *wire) changed() api.StateChanged {
	w.t.Helper()
	m := w.read()
	if m.Method != "state.changed" {
		w.t.Fatalf("not state.changed: %+v", m)
	}
	var c api.StateChanged
	if err := json.Unmarshal(m.Params, &c); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// until waits for something that happens after a reply, and that nothing announces.
func until(t testing.TB, happened func() bool) {
	t.Helper()
	deadline := time.Now().Add(timeout)
	for !happened() {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
		runtime.Gosched()
	}
}

func unmarshal(text string, into any) error { return json.Unmarshal([]byte(text), into) }
