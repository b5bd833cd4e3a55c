package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	received, updates, err := client.Stream[api.EventWatchResult, api.EventHappened](ctx, c, "event.watch", api.EventSelect{})
	is.NoErr(err)
	isA := func(kind api.EventKind) func(api.Event) bool {
		return func(e api.Event) bool { return e.Kind == kind }
	}
	is.True(!slices.ContainsFunc(received.Events, isA(api.EventCablePlugged))) // those that were there before the daemon are no news
	change(t, c, "unplug studio-1.tb4")
	var pulled api.Event
	for reported, err := range updates {
		is.NoErr(err)
		is.True(!slices.ContainsFunc(reported.Events, isA(api.EventCablePlugged)))
		if at := slices.IndexFunc(reported.Events, isA(api.EventCablePulled)); at >= 0 {
			pulled = reported.Events[at]
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

// What administrators did, and what others of this Mac were refused, is there after a
// restart; and nothing of it is a secret.
func TestAudit(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	r := start(t, folder)
	c := r.dial()
	code := call[api.ClusterPairResult](t, c, "cluster.pair", api.ClusterPairParams{}).Code
	call[api.Sharing](t, c, "cluster.set_sharing", api.ClusterSetSharingParams{Jobs: api.JobsNobody})
	call[api.NodeListResult](t, c, "node.list", nil) // everybody may
	_, err := client.Call[api.RDMAChangeResult](t.Context(), c, "rdma.enable", api.RDMAChangeParams{Links: []api.LinkRef{"nobody:1"}})
	failed := api.AsError(err).Data.Reason
	is.True(failed != "")
	_, err = client.Call[api.RDMAChangeResult](t.Context(), c, "rdma.enable", api.RDMAChangeParams{AllReady: true, DryRun: true})
	is.NoErr(err) // which changes nothing

	made := call[api.DaemonCreateTokenResult](t, c, "daemon.create_token", api.DaemonCreateTokenParams{Name: "audit"})
	token, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{URL: r.address.URL, Token: made.Token}}})
	is.NoErr(err)
	defer token.Close()
	_, err = client.Call[api.Empty](t.Context(), token, "cluster.map_user", api.ClusterMapUserParams{Members: true, Account: "guest"})
	is.True(errors.Is(err, api.ReasonAdminRequired))

	want := []string{
		"cluster.pair  admin ×1", "cluster.set_sharing jobs admin ×1", "rdma.enable nobody:1 admin " + string(failed) + " ×1",
		"cluster.map_user account,members refused admin_required ×1",
	}
	listed := func(c *client.Client) (all []string) {
		for _, e := range call[api.EventAuditResult](t, c, "event.audit", api.EventAuditParams{}).Entries {
			is.True(e.By.Valid() && e.Node == "")
			line := e.What + " " + e.Subject + " " + string(e.Why)
			if e.Reason != "" {
				line += " " + string(e.Reason)
			}
			all = append(all, fmt.Sprintf("%s ×%d", line, e.Count))
		}
		return all
	}
	is.Equal(listed(c), want)
	is.Equal(listed(token), want) // of the same person
	before := call[api.EventAuditResult](t, c, "event.audit", api.EventAuditParams{})
	raw, err := json.Marshal(before)
	is.NoErr(err)
	is.True(code != "" && !strings.Contains(string(raw), code))
	none := call[api.EventAuditResult](t, c, "event.audit", api.EventAuditParams{Since: api.TimeOf(time.Now().Add(time.Hour))})
	is.Equal(len(none.Entries), 0)

	is.NoErr(r.end())
	after := call[api.EventAuditResult](t, start(t, folder).dial(), "event.audit", api.EventAuditParams{})
	is.Equal(after, before)
}
