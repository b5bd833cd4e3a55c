package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// probing makes probes in virtual time; answers says what the probe of a port comes to.
func probing(t *testing.T, p api.Probes, answers func(port int, at time.Duration) error, want ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		ranks := &ranksHere{ready: make(chan string)}
		r := &prober{Relay: lonely(func(c *Config) { c.Ranks = ranks }), try: func(p api.Probe) error { return answers(p.Port, time.Since(began)) }}
		go r.run(t.Context(), p)
		for _, one := range want {
			got := <-ranks.ready
			is.Equal(strconv.Itoa(int(time.Since(began).Seconds()))+" s: "+got, one)
		}
	})
}

var errDown = errors.New("GET / at port 1 failed")

// A job is ready once its readiness probe passes, asked every second until then; and not
// any more after three failures in a row.
func TestReadiness(t *testing.T) {
	const first = "0 s: false Rank 0 has not been ready yet."
	probing(t, api.Probes{Readiness: &api.Probe{Port: 1}}, func(_ int, at time.Duration) error {
		if at < 3*time.Second || at > 20*time.Second && at < 55*time.Second {
			return errDown
		}
		return nil
	}, first, "0 s: false Rank 0 is not ready: GET / at port 1 failed.", "1 s: false Rank 0 is not ready: GET / at port 1 failed.", "2 s: false Rank 0 is not ready: GET / at port 1 failed.",
		"3 s: true ", "13 s: true ", "43 s: false Rank 0 is not ready: GET / at port 1 failed.", "53 s: false Rank 0 is not ready: GET / at port 1 failed.", "63 s: true ")
}

// A rank whose liveness probe fails for good is ended, and one whose startup probe never passes;
// until that passes nothing else is asked.
func TestLivenessAndStartup(t *testing.T) {
	live, start := &api.Probe{Port: 1, PeriodS: 2, FailureThreshold: 2}, &api.Probe{Port: 2, FailureThreshold: 5}
	probing(t, api.Probes{Liveness: live}, func(_ int, at time.Duration) error {
		if at == 4*time.Second || at >= 8*time.Second {
			return errDown
		}
		return nil
	}, "10 s: end: The liveness probe of rank 0 failed 2 times in a row: GET / at port 1 failed.")
	probing(t, api.Probes{Startup: start, Liveness: live}, func(port int, at time.Duration) error {
		if port == 2 && at >= 3*time.Second {
			return nil
		}
		return errDown
	}, "5 s: end: The liveness probe of rank 0 failed 2 times in a row: GET / at port 1 failed.")
	probing(t, api.Probes{Startup: start, Liveness: live}, func(int, time.Duration) error { return errDown },
		"4 s: end: The startup probe of rank 0 failed 5 times in a row: GET / at port 1 failed.")
}

// What a probe asks, and what it takes for an answer.
func TestProbes(t *testing.T) {
	var asked atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 100)
		n, _ := r.Body.Read(body)
		asked.Store(r.Method + " " + r.URL.String() + " " + r.Header.Get("Content-Type") + " " + string(body[:n]))
		switch r.URL.Path {
		case "/down":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/moved":
			http.Redirect(w, r, "/down", http.StatusFound)
		case "/slow":
			<-r.Context().Done()
		case "/endless":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	port := int(netip.MustParseAddrPort(server.Listener.Addr().String()).Port())
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := int(netip.MustParseAddrPort(silent.Addr().String()).Port())
	silent.Close()
	who := &listeners{}
	who.set(port, gone)
	s := lonely(func(c *Config) { c.Processes = who }).serve(api.RankRef{Job: theirJob, Attempt: 1}, 1, nil, func([]int) {}, idleSettle, func(api.Time) {})
	defer s.shut()
	at := strconv.Itoa(port)
	for _, c := range []struct {
		probe       api.Probe
		asked, want string
	}{
		{api.Probe{Port: port, Path: "/health?x=1"}, "GET /health?x=1  ", ""},
		{api.Probe{Port: port, Path: "/v1/completions", Body: `{"prompt":"a"}`}, `POST /v1/completions application/json {"prompt":"a"}`, ""},
		{api.Probe{Port: port}, "", ""},
		{api.Probe{Port: port, Path: "/moved"}, "GET /moved  ", ""},
		{api.Probe{Port: port, Path: "/down"}, "GET /down  ", "GET /down at port " + at + " was answered by 503 Service Unavailable"},
		{api.Probe{Port: port, Path: "/slow", TimeoutS: 0.1}, "GET /slow  ", "GET /slow at port " + at + ": no answer within 100ms"},
		{api.Probe{Port: port, Path: "/endless", TimeoutS: 0.1}, "GET /endless  ", "GET /endless at port " + at + ": no answer within 100ms"},
		{api.Probe{Port: gone}, "", "a connection to port " + strconv.Itoa(gone) + " failed"},
	} {
		asked.Store("")
		got := ""
		if err := s.probe(c.probe); err != nil {
			got = err.Error()
		}
		if got != c.want || strings.TrimSpace(asked.Load().(string)) != strings.TrimSpace(c.asked) {
			t.Errorf("%+v: %q was asked, and came to %q", c.probe, asked.Load(), got)
		}
	}
	who.set()
	is.New(t).Equal(s.probe(api.Probe{Port: port}).Error(), "it does not listen at port "+at)
}

// A probe without an answer is owed, over all its tries, until one comes; one that finds nobody
// who listens is not.
func TestAProbeIsOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		ranks := &ranksHere{ready: make(chan string, 100)}
		r := &prober{Relay: lonely(func(c *Config) { c.Ranks = ranks }), try: func(api.Probe) error {
			switch at := time.Since(began); {
			case at < 20*time.Second:
				return errDown
			case at < 60*time.Second:
				time.Sleep(5 * time.Second)
				return fmt.Errorf("GET /: %w within 5s", errUnanswered)
			}
			return nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.run(ctx, api.Probes{Readiness: &api.Probe{Port: 1, PeriodS: 1}})
		}()
		owed := func(after time.Duration) int {
			time.Sleep(time.Until(began.Add(after)))
			synctest.Wait()
			return int(ranks.owed.Load())
		}
		is.Equal(owed(10500*time.Millisecond), 0)
		for at := 22500 * time.Millisecond; at < 60*time.Second; at += time.Second {
			is.Equal(owed(at), 1) // between two tries as well
		}
		is.Equal(owed(70500*time.Millisecond), 0)
		cancel()
		<-done
		is.Equal(ranks.owed.Load(), int32(0))
	})
}
