package endpoint

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// For one connection more than there may be the one that rests for longest has to go.
func TestManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.crowd.most = 4
		r.serve("j00000001", ada, "org/m", answers("ok"))
		for range 100 {
			_, err := r.at.dial("127.0.0.1:5000", "127.0.0.1:7733")
			r.is.NoErr(err)
		}
		status, _ := r.result(r.ask(t.Context(), hello))
		r.is.Equal(status, 200)
		synctest.Wait()
		r.crowd.mu.Lock()
		r.is.True(len(r.crowd.all) <= 4)
		r.crowd.mu.Unlock()
	})
}

// Over real connections: many streams at once, and a client that reads nothing, which is given up.
func TestOverTCP(t *testing.T) {
	is := is.New(t)
	flooded := make(chan struct{})
	var open atomic.Int64
	const streams = 200
	asked, all := make(chan struct{}), make(chan struct{}) // closed when all of them are, and one more
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/v1/flood" {
			for event(w, strings.Repeat("x", 1<<16)) == nil {
			}
			close(flooded)
			return
		}
		switch open.Add(1) {
		case streams:
			close(asked)
		case streams + 1:
			close(all)
		}
		<-all
		_ = event(w, "[DONE]")
	}))
	defer engine.Close()
	serve := func(within time.Duration) (*rig, string) {
		r := newRig(t)
		r.writeWithin = within
		r.Endpoint.cfg.Dial = func(ctx context.Context, _ api.Principal, _ api.RankRef, _ api.NodeID, _ int) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", engine.Listener.Addr().String())
		}
		r.put("j00000001", ada, "org/m", api.Job{Phase: api.JobRunning, Attempt: 1})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		is.NoErr(err)
		go func() { _ = r.Serve(l) }()
		return r, l.Addr().String()
	}
	r, at := serve(writeWithin)
	var asking sync.WaitGroup
	for range streams {
		asking.Go(func() {
			_, text := r.result(http.Post("http://"+at+"/v1/completions", "application/json", strings.NewReader(hello)))
			is.Equal(text, "data: [DONE]\n\n")
		})
	}
	<-asked
	// Connections that ask nothing take no place of those that do.
	idle := 2 * maxConns
	if os.Getenv("FULMEN_SOAK") != "" {
		idle = 10_000
	}
	for range idle {
		conn, err := net.Dial("tcp", at)
		is.NoErr(err)
		defer conn.Close()
	}
	_, text := r.result(http.Post("http://"+at+"/v1/completions", "application/json", strings.NewReader(hello)))
	is.Equal(text, "data: [DONE]\n\n")
	asking.Wait()
	r.crowd.mu.Lock()
	is.True(len(r.crowd.all) <= maxConns)
	r.crowd.mu.Unlock()
	_, at = serve(100 * time.Millisecond)
	conn, err := net.Dial("tcp", at)
	is.NoErr(err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /v1/flood HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(hello), hello)
	is.NoErr(err)
	<-flooded
}
