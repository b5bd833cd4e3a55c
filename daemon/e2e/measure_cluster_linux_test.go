package e2e

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// measuredWithin is how long the paths of the lab may take to be measured, the
// long measurement of each, one after the other, and not while the machine is busy.
const measuredWithin = 6 * time.Minute

// TestMeasurementsOverNetworks has daemons on networks of their own measure their
// paths: nothing while nobody looks, each way once while somebody does.
func TestMeasurementsOverNetworks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("each path is measured for some seconds")
	}
	l := newLab(t, "")
	l.pairAll(t)
	l.hasPaths(t, "path by every interface", soon)
	for _, step := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"nothing for nobody", l.testUnwatched},
		{"what is watched", l.testWatched},
		{"on request, by the other end", l.testAsked},
		{"history and metrics", l.testHistory},
	} {
		if !t.Run(step.name, step.run) {
			t.FailNow()
		}
	}
}

// pairAll makes the hosts one cluster.
func (l *lab) pairAll(t *testing.T) {
	t.Helper()
	for _, h := range l.all[1:] {
		code := l.open(t)
		h.sees(t, l.north)
		_, err := h.join(l.north, code)
		must(t, "joining", err)
	}
	isWhole(t, soon, l.all...)
}

// measurements counts what all hosts have measured since they started.
func (l *lab) measurements(t *testing.T) int {
	t.Helper()
	count := 0
	for _, h := range l.all {
		for _, m := range regexp.MustCompile(`(?m)^fulmen_measurements_total\{.*\} (\d+)$`).FindAllStringSubmatch(h.metrics(t), -1) {
			n, err := strconv.Atoi(m[1])
			must(t, "number", err)
			count += n
		}
	}
	return count
}

// measuresNothing sees that the number of measurements stays what it is: that
// nothing happens takes its time.
func (l *lab) measuresNothing(t *testing.T, count int) {
	t.Helper()
	long, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	<-long.Done()
	is.New(t).Equal(l.measurements(t), count)
}

// metrics is what a host tells Prometheus, over its Unix socket.
func (h *host) metrics(t *testing.T) string {
	t.Helper()
	web := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(h.folder, "run", api.SocketFile))
	}, DisableKeepAlives: true}}
	response, err := web.Get("http://localhost/metrics")
	must(t, "metrics", err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, "metrics", err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("/metrics: %s\n%s", response.Status, text)
	}
	return string(text)
}

func (l *lab) testUnwatched(t *testing.T) {
	is := is.New(t)
	l.measuresNothing(t, 0)
	list := call[api.LinkListResult](t, l.north.client, "link.list", nil)
	is.True(len(list.Rows) >= 10)
	for _, row := range list.Rows {
		is.True(row.MeasuredAt.IsZero())
	}
}

func (l *lab) testWatched(t *testing.T) {
	is := is.New(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, changes, err := client.Stream[api.LinkWatchResult, api.LinkChanged](ctx, l.south.client, "link.watch", nil)
	is.NoErr(err)
	go func() {
		for range changes {
		}
	}()
	var rows []api.LinkRow
	t.Cleanup(func() {
		for _, row := range rows {
			t.Logf("%s to %s: %s, %s %v, measured at %v", row.From, row.Name, row.Kind, row.Verdict, row.Reasons, row.MeasuredAt)
		}
	})
	eventually(t, "measurement of every path", measuredWithin, func() bool {
		rows = call[api.LinkListResult](t, l.south.client, "link.list", nil).Rows
		for _, row := range rows {
			if row.UpBitsPerS == nil || row.DownBitsPerS == nil || row.RTTUS == nil {
				return false
			}
		}
		return true
	})
	// Both ends show each way, and one of them has measured it.
	documents := call[api.StateGetResult](t, l.south.client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindLinkProfile}}).Docs
	ways := map[[2]netip.Addr]bool{}
	for _, d := range documents {
		var p api.LinkProfile
		is.NoErr(d.Decode(&p))
		is.True(!ways[[2]netip.Addr{p.Sink, p.Source}]) // the other end has not measured it too
		ways[[2]netip.Addr{p.Source, p.Sink}] = true
	}
	is.True(len(documents) < len(rows))
	together := map[api.NodeID]int{} // the LAN and a cable, which is in a network of its own, at both ends of each pair
	for _, row := range rows {
		is.True(*row.UpBitsPerS > 1e6)
		is.True(*row.RTTUS > 0 && *row.RTTUS < 10e6)
		if row.Together != nil {
			is.Equal(len(row.Together.Sinks), 2)
			is.Equal(row.Together.Reason, api.Reason(""))
			is.True(*row.Together.UpBitsPerS > 1e6 && *row.Together.DownBitsPerS > 1e6)
			together[row.From]++
		}
	}
	is.Equal(together, map[api.NodeID]int{l.north.id: 2, l.south.id: 2, l.west.id: 2})
	stop()
	eventually(t, "end of what was being measured", soon, func() bool {
		for _, h := range l.all {
			for _, m := range call[api.MeasureListResult](t, h.client, "measure.list", nil).Measurements {
				if m.State == api.MeasureRunning || m.State == api.MeasureWaiting {
					return false
				}
			}
		}
		return true
	})
	count := l.measurements(t)
	is.True(count >= len(documents))
	l.measuresNothing(t, count) // nobody looks any more
}

// Whoever is asked has the end measure that does; the other one hears of every step.
func (l *lab) testAsked(t *testing.T) {
	is := is.New(t)
	highest := l.all[0]
	for _, h := range l.all {
		if h.id > highest.id {
			highest = h
		}
	}
	before := l.measurements(t)
	ctx, stop := context.WithTimeout(t.Context(), measuredWithin)
	defer stop()
	started, changes, err := client.Stream[api.MeasureStarted, api.MeasureChanged](ctx, highest.client, "measure.link", api.MeasureLinkParams{})
	is.NoErr(err)
	is.True(len(started.Measurement.Items) >= 3)
	is.True(started.Measurement.Items[0].Document.Node != highest.id)
	steps, end := 0, api.Measurement{}
	for change, err := range changes {
		is.NoErr(err)
		if steps, end = steps+1, change.Measurement; change.Terminal {
			break
		}
	}
	for _, item := range end.Items {
		if item.State != api.MeasureDone {
			t.Errorf("%s %s: %s, %v", item.Document.Node, item.Document.Name, item.State, item.Error)
		}
	}
	is.Equal(end.State, api.MeasureDone)
	is.True(steps > len(end.Items))
	is.True(l.measurements(t) >= before+len(end.Items))
}

func (l *lab) testHistory(t *testing.T) {
	is := is.New(t)
	got := call[api.LinkHistoryResult](t, l.west.client, "link.history", api.LinkHistoryParams{})
	is.True(len(got.Paths) >= 5)
	two := 0
	for _, p := range got.Paths {
		is.True(p.Best != nil && p.Median != nil)
		is.True(*p.Best.UpBitsPerS >= *p.Results[0].UpBitsPerS)
		if len(p.Results) == 2 {
			two++
		}
	}
	is.True(two >= 3)
	text := l.west.metrics(t)
	is.True(regexp.MustCompile(`fulmen_link_bits_per_s\{.*direction="up"`).MatchString(text))
	is.True(strings.Contains(text, `from_name="`))
}
