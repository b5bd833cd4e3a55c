package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

// ended waits for the other end to close a connection.
func ended(t *testing.T, conn net.Conn) {
	t.Helper()
	is := is.New(t)
	is.NoErr(conn.SetReadDeadline(time.Now().Add(timeout)))
	_, err := io.Copy(io.Discard, conn)
	ne, ok := errors.AsType[net.Error](err)
	is.True(!ok || !ne.Timeout()) // it was never closed
}

func TestHalfOpenClients(t *testing.T) {
	a := servertest.Start(t, func(c *server.Config) { c.Limits.HelloDeadline = 300 * time.Millisecond })
	addr := strings.TrimSuffix(strings.TrimPrefix(a.URL, "ws://"), "/v1")
	for name, report := range map[string]string{
		"silent":         "",
		"half a request": "GET /v1 HTTP/1.1\r\nHost: " + addr + "\r\n",
		"upgraded": "GET /v1 HTTP/1.1\r\nHost: " + addr + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
		"half a frame": "GET /v1 HTTP/1.1\r\nHost: " + addr + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n\x81",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", addr)
			is.New(t).NoErr(err)
			defer conn.Close()
			_, err = io.WriteString(conn, report)
			is.New(t).NoErr(err)
			ended(t, conn)
		})
	}
	t.Run("silent on the Unix socket", func(t *testing.T) {
		conn, err := net.Dial("unix", a.Socket)
		is.New(t).NoErr(err)
		defer conn.Close()
		ended(t, conn)
	})
}

// Silent connections of whoever it is keep nobody waiting, however many there are.
func TestSilentConnectionsKeepNobodyWaiting(t *testing.T) {
	for name, c := range map[string]struct{ places, silent int }{
		"as many as there may be": {0, 1000},
		"more than there may be":  {8, 400},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			a := servertest.Start(t, func(c2 *server.Config) {
				c2.Limits.HelloDeadline, c2.Limits.HalfOpen = time.Hour, c.places
			})
			addr := strings.TrimSuffix(strings.TrimPrefix(a.URL, "ws://"), "/v1")
			token := a.Token(t)
			for network, address := range map[string]string{"tcp": addr, "unix": a.Socket} {
				for i := range c.silent {
					conn, err := net.Dial(network, address)
					is.NoErr(err)
					defer conn.Close()
					if i == 0 && c.places > 0 {
						defer ended(t, conn) // the oldest had to go
					}
				}
			}
			dialToken(t, a, token).ok("state.get", `{}`, nil)
			dialSocket(t, a).ok("state.get", `{}`, nil)
		})
	}
}

func TestTooManyClients(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, func(c *server.Config) { c.Limits.Clients = 2 })
	first := dialSocket(t, a)
	dialSocket(t, a).ok("state.get", `{}`, nil)
	_, resp, err := dial(t, "ws://localhost"+api.PathAPI, a.Socket, nil)
	is.True(err != nil)
	is.Equal(resp.StatusCode, http.StatusServiceUnavailable)
	body, err := io.ReadAll(resp.Body)
	is.NoErr(err)
	is.True(strings.Contains(string(body), string(api.ReasonTooManyClients)))
	w, _, err := dial(t, a.URL, "", nil) // may connect, and is refused when it is known
	is.NoErr(err)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"daemon.authenticate","params":{"token":"` + a.Token(t) + `"}}`)
	code, _ := w.closed()
	is.Equal(code, websocket.StatusTryAgainLater)
	is.NoErr(first.ws.Close(websocket.StatusNormalClosure, ""))
	until(t, func() bool {
		_, _, err := dial(t, "ws://localhost"+api.PathAPI, a.Socket, nil)
		return err == nil
	})
}

func TestOneUserKeepsNobodyOut(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, func(c *server.Config) { c.Limits.ClientsPerUser = 1 })
	dialSocket(t, a).ok("state.get", `{}`, nil)
	_, resp, err := dial(t, a.URL, "", http.Header{"Authorization": {"Bearer " + a.Token(t)}})
	is.True(err != nil)
	is.Equal(resp.StatusCode, http.StatusServiceUnavailable)
	theirs, _, err := a.Tokens.Create(me+1, "theirs", 0)
	is.NoErr(err)
	dialToken(t, a, theirs).ok("state.get", `{}`, nil)
}

// Nothing of a connection stays behind.
func TestConnectionsLeaveNothing(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	token := a.Token(t)
	dialSocket(t, a).ok("state.get", `{}`, nil)
	before := runtime.NumGoroutine()
	const clients = 50
	for range clients {
		w := dialToken(t, a, token)
		for range 3 {
			w.ok("state.watch", `{}`, nil)
		}
		a.Facts.Put(memory(t, 1))
		is.NoErr(w.ws.CloseNow())
		nonMember, _, err := dial(t, a.URL, "", nil)
		is.NoErr(err)
		is.NoErr(nonMember.ws.CloseNow())
	}
	until(t, func() bool { return a.Facts.Watches() == 0 && runtime.NumGoroutine() < before+clients/2 })
}

func TestThousandClients(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	is := is.New(t)
	// They are known as soon as this busy process lets them speak, and not by a
	// deadline.
	a := servertest.Start(t, func(c *server.Config) { c.Limits.HelloDeadline = time.Minute })
	token := a.Token(t)
	const clients = 1000
	wires := make([]*wire, clients)
	var dialing sync.WaitGroup
	for i := range wires { // all at once, on both sockets
		dialing.Go(func() {
			url, socket, header := a.URL, "", http.Header{"Authorization": {"Bearer " + token}}
			if i%2 == 1 {
				url, socket, header = "ws://localhost"+api.PathAPI, a.Socket, nil
			}
			w, _, err := dial(t, url, socket, header)
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			w.send(`{"jsonrpc":"2.0","id":1,"method":"state.watch"}`)
			if m := w.read(); m.Error != nil {
				t.Errorf("client %d: %v", i, m.Error.Err())
			}
			wires[i] = w
		})
	}
	dialing.Wait()
	if t.Failed() {
		return
	}
	is.Equal(a.Facts.Watches(), clients)
	a.Facts.Put(memory(t, 1))
	for _, w := range wires {
		is.Equal(w.changed().Put[0], memory(t, 1))
		is.NoErr(w.ws.CloseNow())
	}
	until(t, func() bool { return a.Facts.Watches() == 0 })
}

// A client that does not read is waited for by nobody, neither by the publisher
// nor by who does read.
func TestStalledClient(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, func(c *server.Config) { c.Limits.WriteDeadline = time.Hour })
	stalled, healthy := dialSocket(t, a), dialSocket(t, a)
	stalled.ok("state.watch", `{}`, nil)
	healthy.ok("state.watch", `{}`, nil)
	value := blob{strings.Repeat("x", 100<<10)}
	for seq := range uint64(100) { // many times what the socket's buffers hold, and the other one gets each
		a.Facts.Put(servertest.Document(t, api.KindMemory, "", seq+1, value))
		for healthy.changed().Put[0].Seq != seq+1 {
		}
	}
	is.Equal(a.Facts.Watches(), 2)
}

// It is disconnected after the write deadline.
func TestStalledClientIsCut(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, func(c *server.Config) { c.Limits.WriteDeadline = 2 * time.Second })
	stalled := dialSocket(t, a)
	stalled.ok("state.watch", `{}`, nil)
	value := blob{strings.Repeat("x", 100<<10)}
	seq := uint64(0)
	until(t, func() bool {
		seq++
		a.Facts.Put(servertest.Document(t, api.KindMemory, "", seq, value))
		return a.Facts.Watches() == 0
	})
	code, _ := stalled.closed()
	is.Equal(code, websocket.StatusCode(-1)) // cut, not said: it does not read
	dialSocket(t, a).ok("state.get", `{}`, nil)
}

// A client that asks and does not read the answers is not read from either.
func TestUnreadReplies(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, func(c *server.Config) { c.Limits.WriteDeadline = 2 * time.Second })
	a.Facts.Put(servertest.Document(t, api.KindMemory, "", 1, blob{strings.Repeat("x", 200<<10)}))
	w := dialSocket(t, a)
	ctx, stop := context.WithTimeout(t.Context(), timeout)
	defer stop()
	var err error
	for n := 0; err == nil; n++ { // 200 KiB of answers to each: it ends only when the server cuts it
		err = w.ws.Write(ctx, websocket.MessageText, []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"state.get"}`, n)))
	}
	is.NoErr(ctx.Err())
	dialSocket(t, a).ok("state.get", `{}`, nil)
}

// A client may ask for much at once and read the answers later: none is lost,
// because no more is read from it than fits.
func TestPipelinedRequests(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	a.Facts.Put(servertest.Document(t, api.KindMemory, "", 1, blob{strings.Repeat("x", 250<<10)}))
	w := dialToken(t, a, a.Token(t)) // whose buffers take all questions
	const asked = 80                 // 20 MB of answers
	for n := range asked {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"state.get"}`, n))
	}
	seen := map[string]bool{}
	for range asked {
		m := w.read()
		is.True(m.Error == nil)
		seen[string(m.ID)] = true
	}
	is.Equal(len(seen), asked)
}

func TestShutdownTellsClients(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	w := dialSocket(t, a)
	w.ok("state.watch", `{}`, nil)
	nonMember, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(a.URL, "ws://"), "/v1"))
	is.NoErr(err)
	defer nonMember.Close()
	done := make(chan error, 1)
	go func() { done <- a.Server.Shutdown(t.Context()) }()
	code, reason := w.closed()
	is.Equal(code, websocket.StatusGoingAway)
	is.Equal(reason, string(api.ReasonStopping))
	is.NoErr(<-done)
	is.Equal(a.Facts.Watches(), 0)
	_, _, err = dial(t, "ws://localhost"+api.PathAPI, a.Socket, nil)
	is.True(err != nil)
}

func TestRequestHeadersAreBounded(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	conn, err := net.Dial("unix", a.Socket)
	is.NoErr(err)
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 32<<10)+"\r\n\r\n") // may be cut off
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	is.NoErr(err)
	is.Equal(resp.StatusCode, http.StatusRequestHeaderFieldsTooLarge)
}
