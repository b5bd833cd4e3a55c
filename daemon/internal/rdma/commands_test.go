package rdma

import (
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/ledger/ledgertest"
	"fulmen/daemon/internal/rdma/trips"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native/nativetest"
)

// Of one cable an error is the answer; of several each is listed beside what was done.
func TestWhatCameOfCables(t *testing.T) {
	changed := []api.NodeRDMAChange{{Node: nodeA}, {Node: nodeB}}
	busy, down := api.NewError(api.ReasonLinkBusy, "job"), api.NewError(api.ReasonRDMAPortDown, "port")
	for name, c := range map[string]struct {
		errs    []error // of each cable; nil: it was changed
		changes int
		refused []api.Reason
		err     error
	}{
		"none":            {nil, 0, nil, nil},
		"one is changed":  {[]error{nil}, 2, nil, nil},
		"one is refused":  {[]error{busy}, 0, nil, busy},
		"two are changed": {[]error{nil, nil}, 4, nil, nil},
		"one of two":      {[]error{busy, nil}, 2, []api.Reason{api.ReasonLinkBusy}, nil},
		"the other":       {[]error{nil, down}, 2, []api.Reason{api.ReasonRDMAPortDown}, nil},
		"neither":         {[]error{busy, down}, 0, []api.Reason{api.ReasonLinkBusy, api.ReasonRDMAPortDown}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var all changing
			for _, err := range c.errs {
				all.take(changed, err)
			}
			result, err := all.done()
			is.Equal(err, c.err)
			is.Equal(result.Changes != nil, err == nil) // a list, if an empty one
			is.Equal(len(result.Changes), c.changes)
			var refused []api.Reason
			for _, cause := range result.Refused {
				refused = append(refused, cause.Reason)
			}
			is.Equal(refused, c.refused)
		})
	}
}

// Cables are named, or all are meant, and not both.
func TestCablesAreNamedOrAllMeant(t *testing.T) {
	links := []api.LinkRef{"ada:1"}
	for _, c := range []struct {
		p    api.RDMAChangeParams
		good bool
	}{
		{api.RDMAChangeParams{}, false},
		{api.RDMAChangeParams{Links: links}, true},
		{api.RDMAChangeParams{AllReady: true}, true},
		{api.RDMAChangeParams{AllReady: true, Links: links}, false},
	} {
		is := is.New(t)
		is.Equal(oneWay(c.p) == nil, c.good)
		if !c.good {
			_, err := Commands{}.Enable(t.Context(), ada, c.p)
			is.True(errors.Is(err, api.ReasonBadValue))
			_, err = Commands{}.Undo(t.Context(), ada, c.p)
			is.True(errors.Is(err, api.ReasonBadValue))
		}
	}
}

// asked is two Macs and the commands of the first, whose ledger has what it said of
// its cables whenever tell was called.
func asked(t *testing.T, f func(is *is.I, d *table, c Commands, tell func(api.LinkID))) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		disk := &ledgertest.Disk{}
		held, writer, err := ledger.Open(ledger.Options{Key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), Cluster: "a7937b64b8caa58f03721bb6bacf5c78", Counter: disk, Store: disk})
		is.NoErr(err)
		d := newTable(t, held.Node(), nodeB)
		defer d.close()
		f(is, d, Commands{
			Owner: d.owner(held.Node()), Ledger: held, Requests: trips.NewRequests(nativetest.NewClock(time.Unix(0, 0)), nil, func([]trips.KeptRequest) {}),
			Graph: func() topology.Graph { return topology.Build(topology.Input{}) },
			Find: func(ref api.NodeRef) (api.NodeID, error) {
				switch ref {
				case "ada":
					return held.Node(), nil
				case "bob":
					return nodeB, nil
				}
				return "", api.NewError(api.ReasonNoSuchNode, string(ref))
			},
		}, func(link api.LinkID) {
			one, _ := d.hosts[held.Node()].said(link)
			is.NoErr(writer.Owner("rdma", api.KindRDMAChange).Put(ledger.Draft{Kind: api.KindRDMAChange, Name: link.String(), Value: one}))
		})
	})
}

// A dry run says what is in force and changes nothing; what was put back is no more in
// force.
func TestCablesArePutBack(t *testing.T) {
	asked(t, func(is *is.I, d *table, c Commands, tell func(api.LinkID)) {
		self := c.Ledger.Node()
		by, ctx := api.Principal{User: "ada", Node: self}, context.Background()
		before := d.hosts[self].mac.picture()
		first, second := cable(self, 1, nodeB, 1), cable(self, 2, nodeB, 2)
		for _, link := range []api.LinkID{first, second} {
			_, err := c.Owner.Enable(ctx, by, link, false, nil)
			is.NoErr(err)
			tell(link)
		}
		enabled := d.hosts[self].mac.picture()
		seen, err := c.Undo(ctx, by, api.RDMAChangeParams{Links: []api.LinkRef{"ada:1"}, DryRun: true})
		is.NoErr(err)
		is.Equal(len(seen.Changes), 1) // of the other end nothing was heard
		is.Equal(seen.Changes[0].Node, self)
		is.Equal(seen.Changes[0].Link, first)
		is.Equal(d.hosts[self].mac.picture(), enabled)

		done, err := c.Undo(ctx, by, api.RDMAChangeParams{Links: []api.LinkRef{"ada:1"}})
		is.NoErr(err)
		is.Equal(len(done.Changes), 2)
		tell(first)
		is.Equal(len(c.changesOf(first)), 0)
		is.Equal(len(c.changesOf(second)), 1)
		is.Equal(len(c.changesOf(cable(self, 3, nodeB, 3))), 0)
		_, err = c.Undo(ctx, by, api.RDMAChangeParams{Links: []api.LinkRef{"carl:1"}})
		is.True(errors.Is(err, api.ReasonNoSuchNode))
		done, err = c.Disable(ctx, by, api.RDMAChangeParams{AllReady: true})
		is.NoErr(err)
		is.Equal(len(done.Refused), 0)
		is.Equal(d.hosts[self].mac.picture(), before)
		tell(second)
		all, err := c.Undo(ctx, by, api.RDMAChangeParams{AllReady: true})
		is.NoErr(err)
		for _, one := range all.Changes {
			is.Equal(one.State, api.RDMAChangeUndone)
		}
	})
}

// To put a cable back that only waits for a trip is to forget that it was asked for.
func TestWhatWasAskedForIsForgotten(t *testing.T) {
	asked(t, func(is *is.I, _ *table, c Commands, _ func(api.LinkID)) {
		self := c.Ledger.Node()
		by, ctx := api.Principal{User: "ada", Node: self}, context.Background()
		first, second := cable(self, 1, nodeB, 1), cable(self, 2, nodeB, 2)
		waits := func(link api.LinkID) {
			is.True(c.Requests.Add(readiness.Report{RDMAReadiness: api.RDMAReadiness{Link: link}, Causes: []api.Cause{{Reason: api.ReasonRDMASwitchOff}}}, by))
		}
		waits(first)
		waits(second)
		one := api.RDMAChangeParams{Links: []api.LinkRef{"ada:1~bob:1"}}
		dry := one
		dry.DryRun = true
		_, err := c.Undo(ctx, by, dry)
		is.True(errors.Is(err, api.ReasonRDMANothingToUndo))
		is.True(c.Requests.Waits(first))
		done, err := c.Undo(ctx, by, one)
		is.NoErr(err) // that was all
		is.Equal(len(done.Changes), 0)
		is.True(!c.Requests.Waits(first) && c.Requests.Waits(second))
		_, err = c.Undo(ctx, by, one)
		is.True(errors.Is(err, api.ReasonRDMANothingToUndo))
		_, err = c.Undo(ctx, by, api.RDMAChangeParams{Links: []api.LinkRef{"ada:2~bob:1"}}) // no cable of two
		is.True(errors.Is(err, api.ReasonRDMANothingToUndo))
		is.True(c.Requests.Waits(second))
		_, err = c.Disable(ctx, by, api.RDMAChangeParams{AllReady: true})
		is.NoErr(err)
		is.True(!c.Requests.Waits(second))
	})
}

// Who names a cable that nobody sees is told; of all cables there may be none.
func TestEnableWithoutCables(t *testing.T) {
	asked(t, func(is *is.I, _ *table, c Commands, _ func(api.LinkID)) {
		_, err := c.Enable(context.Background(), ada, api.RDMAChangeParams{Links: []api.LinkRef{"ada:1"}})
		is.True(errors.Is(err, api.ReasonNoSuchLink))
		none, err := c.Enable(context.Background(), ada, api.RDMAChangeParams{AllReady: true})
		is.NoErr(err)
		is.Equal(none.Changes, []api.NodeRDMAChange{})
	})
}

// What an end can be asked of a change is of the cable, the change and the node that
// began it.
func TestWhichChangeIsMeant(t *testing.T) {
	is := is.New(t)
	o := named()
	link, other := cable(nodeA, 2, nodeB, 2), cable(nodeA, 3, nodeB, 3)
	one := &part{}
	one.record.Link, one.record.Change, one.record.By = link, "c1", api.Principal{Node: nodeB}
	o.parts = []*part{one}
	for _, c := range []struct {
		from   api.NodeID
		link   api.LinkID
		change string
		found  bool
	}{
		{nodeB, link, "c1", true}, {nodeB, link, "c2", false}, {nodeB, other, "c1", false}, {nodeC, link, "c1", false},
	} {
		got, fault := o.begun(c.from, api.PeerRDMAParams{Link: c.link, Change: c.change})
		is.Equal(got != nil, c.found)
		is.Equal(fault == nil, c.found)
	}
}
