package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// A client that comes later hears of what happened before, and follows what comes.
func TestEvents(t *testing.T) {
	is := is.New(t)
	c := simulated(t, newHome(t), "two-studios").dial()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	heard, news, err := client.Stream[api.EventWatchResult, api.EventHappened](ctx, c, "event.watch", api.EventSelect{})
	is.NoErr(err)
	isA := func(kind api.EventKind) func(api.Event) bool {
		return func(e api.Event) bool { return e.Kind == kind }
	}
	is.True(!slices.ContainsFunc(heard.Events, isA(api.EventCablePlugged))) // those that were there before the daemon are no news
	change(t, c, "unplug studio-1.tb4")
	var pulled api.Event
	for said, err := range news {
		is.NoErr(err)
		is.True(!slices.ContainsFunc(said.Events, isA(api.EventCablePlugged)))
		if at := slices.IndexFunc(said.Events, isA(api.EventCablePulled)); at >= 0 {
			pulled = said.Events[at]
			break
		}
	}
	is.Equal(pulled.Severity, api.SeverityWarning)
	is.Equal(pulled.Node, call[api.DaemonInfoResult](t, c, "daemon.info", nil).Node)

	later := call[api.EventListResult](t, c, "event.list", api.EventSelect{})
	is.True(slices.Contains(later.Events, pulled))
	is.True(later.KeptSince.Before(pulled.At.Time))
	is.True(slices.IsSortedFunc(later.Events, func(a, b api.Event) int { return int(a.Seq) - int(b.Seq) }))
	none := call[api.EventListResult](t, c, "event.list", api.EventSelect{Since: api.TimeOf(pulled.At.AddDate(1, 0, 0))})
	is.Equal(len(none.Events), 0)
}
