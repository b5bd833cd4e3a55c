package methods

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Samples of a series are added up, and nothing else is.
func TestSeriesOf(t *testing.T) {
	for text, want := range map[string]float64{
		"# HELP made How many.\n# TYPE made counter\nmade 7\nmade_by_hand 3\n": 7,
		"made{model=\"a } b\"} 2 1395066363000\nmade{model=\"c\"} 3.5\n":       5.5,
		"made 1e3\nmade NaN\nmade +Inf\nmade x\nmade\nunmade 4\n":              1000,
		"made_total 4\n": -1,
		"":               -1,
	} {
		sum, isThere := seriesOf(strings.NewReader(text), "made")
		if !isThere {
			sum = -1
		}
		if sum != want {
			t.Errorf("%q: %v, and not %v", text, sum, want)
		}
	}
}

// Tokens a second are those between two looks, and why they are not known is said.
func TestTokens(t *testing.T) {
	is := is.New(t)
	var made atomic.Int64
	var looks atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		looks.Add(1)
		switch r.URL.Path {
		case "/metrics":
			fmt.Fprintf(w, "made %d\n", made.Add(50))
		case "/endless":
			for r.Context().Err() == nil {
				fmt.Fprintln(w, "other 1")
			}
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	port := int(netip.MustParseAddrPort(server.Listener.Addr().String()).Port())
	clock, err := native.SystemClock()
	is.NoErr(err)
	k := newTokens(clock)
	k.span = 20 * time.Millisecond
	where := api.Metrics{Path: "/metrics", Series: "made"}
	rate, err := k.rate(t.Context(), "j1", port, where)
	is.NoErr(err)
	is.True(rate > 0 && rate <= 2500) // 50 in 20 ms at least
	is.Equal(looks.Load(), int64(2))
	made.Store(0)
	rate, err = k.rate(t.Context(), "j1", port, where)
	is.NoErr(err)
	is.Equal(rate, 0.0) // it was started again
	is.Equal(looks.Load(), int64(3))
	k.stale = 0
	_, err = k.rate(t.Context(), "j1", port, where)
	is.NoErr(err)
	is.Equal(looks.Load(), int64(5)) // the last was too old

	instance := func(id api.JobID, ready bool) api.Instance {
		one := api.Instance{Name: string(id), InstanceJob: api.InstanceJob{Job: id, Port: port}}
		if ready {
			one.ReadyAt = api.TimeOf(time.Now())
		}
		return one
	}
	all := []api.Instance{instance("j1", true), instance("j2", true), instance("j3", true), instance("j4", true), instance("j5", false), instance("j6", true)}
	all[5].Replicas = []api.InstanceReplica{
		{Replica: 1, InstanceJob: api.InstanceJob{Job: "j6", Port: port, ReadyAt: api.TimeOf(time.Now())}}, {Replica: 2, InstanceJob: api.InstanceJob{Job: "j7", Port: 1}}, {Replica: 3, InstanceJob: api.InstanceJob{Job: "j1", Port: port, ReadyAt: api.TimeOf(time.Now())}},
	}
	k.add(t.Context(), all, map[api.JobID]*api.Metrics{"j1": &where, "j3": {Path: "/none", Series: "made"}, "j4": {Path: "/endless", Series: "made"}, "j6": &where, "j7": &where})
	is.True(*all[0].TokensPerS > 0)
	is.Equal(all[1].TokensMessage, "The engine's file names no metrics.")
	is.Equal(all[2].TokensMessage, "The engine's metrics cannot be read: the engine answers 404 at /none.")
	is.Equal(all[3].TokensMessage, "The engine's metrics cannot be read: they have no made.")
	is.True(all[4].TokensPerS == nil && all[4].TokensMessage == "")
	is.True(*all[5].TokensPerS > 0 && all[5].TokensMessage == "")
	server.Close()
	_, err = k.rate(t.Context(), "j9", port, where)
	is.Equal(err.Error(), "the engine does not answer at /metrics")
}
