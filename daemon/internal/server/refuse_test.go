package server_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

// A server that refuses answers with the reason and nothing else, before it looks at
// who calls or at what is wrong with the call, and needs nothing to read from.
func TestRefuse(t *testing.T) {
	is := is.New(t)
	stopped := func(method string) error {
		if method == "state.get" {
			return nil
		}
		return api.NewError(api.ReasonStopped, method)
	}
	a := servertest.Start(t, func(c *server.Config) { c.Refuse, c.Metrics, c.Schema = stopped, http.NotFoundHandler(), []byte("{}") })
	local := dialSocket(t, a)
	for _, call := range [][2]string{{"daemon.info", `{}`}, {"daemon.tokens", `{"unknown":1}`}, {"no.such", `{}`}, {"daemon.stop", `[]`}} {
		answer := local.call(call[0], call[1])
		is.Equal(answer.Error.Data.Reason, api.ReasonStopped)
		is.Equal(answer.Error.Code, int(api.CodePrecondition))
	}
	local.ok("state.get", `{}`, nil) // the one that is answered
	host := fmt.Sprintf("127.0.0.1:%d", a.Port)
	for _, path := range []string{"/", "/schema", "/metrics", "/v1", "/nothing"} {
		answer := ask(t, "tcp", host, "GET "+path+" HTTP/1.1\nHost: "+host)
		is.Equal(answer.StatusCode, http.StatusServiceUnavailable)
		answer = ask(t, "tcp", host, "GET "+path+" HTTP/1.1\nHost: stranger.example")
		is.True(answer.StatusCode != http.StatusServiceUnavailable) // the guard comes first
	}
	is.Equal(ask(t, "unix", a.Socket, "GET /metrics HTTP/1.1\nHost: localhost").StatusCode, http.StatusServiceUnavailable)
}

// Who wants to know how many are connected hears each once, however it ends.
func TestAccepted(t *testing.T) {
	is := is.New(t)
	var mu sync.Mutex
	open, all := 0, 0
	changed := sync.NewCond(&mu)
	a := servertest.Start(t, func(c *server.Config) {
		c.Accepted = func(by int) {
			mu.Lock()
			defer mu.Unlock()
			if open += by; by > 0 {
				all++
			}
			changed.Broadcast()
		}
	})
	await := func(want int) {
		mu.Lock()
		defer mu.Unlock()
		for open != want {
			changed.Wait()
		}
	}
	first, second := dialSocket(t, a), dialToken(t, a, a.Token(t))
	first.ok("state.get", `{}`, nil)
	second.ok("state.get", `{}`, nil)
	await(2)
	host := fmt.Sprintf("127.0.0.1:%d", a.Port)
	ask(t, "tcp", host, "GET /nothing HTTP/1.1\nHost: "+host+"\nConnection: close")
	await(2)
	is.NoErr(first.ws.CloseNow())
	await(1)
	a.Stop(t)
	await(0)
	is.Equal(all, 3)
	a.Resume(t)
}
