package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// Somebody goes to a Mac whose switch is off. Another Mac has the steps, sees that
// one go, and says that it is done when that one is back with its switch on. What was
// asked for before is done then.
func TestUserActionIsFollowedFromAnotherMac(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster is paired first")
	}
	is := is.New(t)
	socket, _ := sharedWorld(t, "unready")
	home, folder := newHome(t), newHome(t)
	one, three := joined(t, home, "unready:studio-1", socket), joined(t, folder, "unready:studio-3", socket)
	first := one.dial()
	node := func(r *rig) api.NodeID { return call[api.DaemonInfoResult](t, r.dial(), "daemon.info", nil).Node }
	here, there := node(one), node(three)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	must(t, "joining", testcluster.Join(ctx, first, here, three.dial(), ""))
	must(t, "a whole cluster", testcluster.SeesAlive(ctx, first, 2))
	call[api.Sharing](t, three.dial(), "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})

	var list api.RDMAListResult
	userAction := func(fits func(api.RDMAUserAction) bool) func() bool {
		return func() bool {
			list = call[api.RDMAListResult](t, first, "rdma.list", nil)
			return len(list.UserActions) == 1 && list.UserActions[0].Node == there && fits(list.UserActions[0])
		}
	}
	eventually(t, "a trip", soon, userAction(func(e api.RDMAUserAction) bool { return !e.Steps[0].Done }))
	is.Equal(list.Price, "1 Mac needs one trip to Recovery, about 4 minutes.")
	is.Equal(list.UserActions[0].Kind, api.UserActionRecovery)
	is.Equal(list.UserActions[0].Note, "")

	warns := func() bool {
		all := call[api.NodeConditionsResult](t, first, "node.conditions", nil).Conditions
		return slices.ContainsFunc(all, func(c api.NodeCondition) bool { return c.Node == there && c.Code == api.ReasonRDMAOneSided })
	}
	eventually(t, "the warning of the Mac that is off", soon, warns)
	change(t, first, "set studio-3.rdma on")
	eventually(t, "the end of the warning", soon, func() bool { return !warns() })
	change(t, first, "set studio-3.rdma off")
	eventually(t, "the trip again", soon, userAction(func(e api.RDMAUserAction) bool { return !e.Done }))

	cable := list.UserActions[0].Links[0]
	enable := func(link api.LinkRef) error {
		_, err := client.Call[api.RDMAChangeResult](ctx, first, "rdma.enable", api.RDMAChangeParams{Links: []api.LinkRef{link}})
		return err
	}
	err := enable(api.LinkRef(cable.String()))
	is.True(errors.Is(err, api.ReasonRDMASwitchOff))
	is.True(strings.Contains(err.Error(), "by itself when that is done"))
	is.True(userAction(func(e api.RDMAUserAction) bool { return e.Note == "Fulmen then enables RDMA by itself." })())

	is.NoErr(three.end())
	eventually(t, "that Mac to be away", soon, userAction(func(e api.RDMAUserAction) bool { return e.Steps[0].Done && e.Note != "" && !e.Done }))
	// The daemon that was asked is started anew meanwhile, and has nobody to tell it
	// anything: what it knew of the trip, and who asked for what, is kept.
	is.NoErr(one.end())
	one = joined(t, home, "unready:studio-1", socket)
	first = one.dial()
	change(t, first, "set studio-3.rdma on") // as rdma_ctl does in Recovery
	joined(t, folder, "unready:studio-3", socket)
	eventually(t, "the end of the trip", soon, userAction(func(e api.RDMAUserAction) bool { return e.Done }))
	is.Equal(list.Price, "")

	// Fulmen has gone on by itself, as who asked, and every command says so.
	var ready api.RDMAReadiness
	eventually(t, "a cable that is ready", soon, func() bool {
		ready = call[api.RDMAReadiness](t, first, "rdma.check", api.LinkSelect{Link: api.LinkRef(cable.String())})
		return ready.Verdict == api.RDMAReady
	})
	is.True(ready.Simulated)
	got := call[api.LinkGetResult](t, first, "link.get", api.LinkSelect{Link: "studio-1:5"})
	is.Equal(got.RDMA.Link, cable)
	is.Equal(len(got.RDMA.Checks), len(ready.Checks))
	is.Equal(got.Cable.RDMA, got.RDMA.Verdict)
	var history api.RDMAHistoryResult
	eventually(t, "the change in the history", soon, func() bool {
		history = call[api.RDMAHistoryResult](t, first, "rdma.history", api.RDMAHistoryParams{})
		return len(history.Changes) == 1
	})
	is.Equal(history.Changes[0].By.Node, here)
}
