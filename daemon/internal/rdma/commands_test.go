package rdma

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rdma/useractions"
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
func asked(t *testing.T, f func(is *is.I, d *table, c Commands, notify func(api.LinkID))) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		disk := &peertest.Disk{}
		held, writer, err := ledger.Open(ledger.Options{Key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), Cluster: "a7937b64b8caa58f03721bb6bacf5c78", Counter: disk, Store: disk})
		is.NoErr(err)
		d := newTable(t, held.Node(), nodeB)
		defer d.close()
		f(is, d, Commands{
			Owner: d.owner(held.Node()), Ledger: held, Requests: useractions.NewRequests(nativetest.NewClock(time.Unix(0, 0)), nil, func([]useractions.KeptRequest) {}),
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
			one, _ := d.hosts[held.Node()].reported(link)
			is.NoErr(writer.Owner("rdma", api.KindRDMAChange).Put(ledger.Draft{Kind: api.KindRDMAChange, Name: link.String(), Value: one}))
		})
	})
}

// A dry run says what is in force and changes nothing; what was put back is no more in
// force.
func TestCablesArePutBack(t *testing.T) {
	asked(t, func(is *is.I, d *table, c Commands, notify func(api.LinkID)) {
		self := c.Ledger.Node()
		by, ctx := api.Principal{User: "ada", Node: self}, context.Background()
		before := d.hosts[self].mac.picture()
		first, second := cable(self, 1, nodeB, 1), cable(self, 2, nodeB, 2)
		for _, link := range []api.LinkID{first, second} {
			_, err := c.Owner.Enable(ctx, by, link, false, nil)
			is.NoErr(err)
			notify(link)
		}
		enabled := d.hosts[self].mac.picture()
		c.Graph = func() topology.Graph { return cabled(self, nodeB, nil) }
		ready, err := c.Enable(ctx, by, api.RDMAChangeParams{Links: []api.LinkRef{"ada:1"}})
		is.NoErr(err)
		is.Equal(len(ready.Changes), 1) // what is in force of it
		is.Equal(ready.Changes[0].Link, first)
		is.Equal(d.hosts[self].mac.picture(), enabled)
		seen, err := c.Undo(ctx, by, api.RDMAChangeParams{Links: []api.LinkRef{"ada:1"}, DryRun: true})
		is.NoErr(err)
		is.Equal(len(seen.Changes), 1) // of the other end nothing was heard
		is.Equal(seen.Changes[0].Node, self)
		is.Equal(seen.Changes[0].Link, first)
		is.Equal(d.hosts[self].mac.picture(), enabled)

		done, err := c.Undo(ctx, by, api.RDMAChangeParams{Links: []api.LinkRef{"ada:1"}})
		is.NoErr(err)
		is.Equal(len(done.Changes), 2)
		notify(first)
		is.Equal(len(c.changesOf(first)), 0)
		is.Equal(len(c.changesOf(second)), 1)
		is.Equal(len(c.changesOf(cable(self, 3, nodeB, 3))), 0)
		_, err = c.Undo(ctx, by, api.RDMAChangeParams{Links: []api.LinkRef{"carl:1"}})
		is.True(errors.Is(err, api.ReasonNoSuchNode))
		done, err = c.Disable(ctx, by, api.RDMAChangeParams{AllReady: true})
		is.NoErr(err)
		is.Equal(len(done.Refused), 0)
		is.Equal(d.hosts[self].mac.picture(), before)
		notify(second)
		all, err := c.Undo(ctx, by, api.RDMAChangeParams{AllReady: true})
		is.NoErr(err)
		for _, one := range all.Changes {
			is.Equal(one.State, api.RDMAChangeUndone)
		}
	})
}

// To put a cable back that only waits for a user action is to forget that it was asked for.
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

// cabled is what is seen of two Macs that three cables join, each at one receptacle of
// both: over the first RDMA works, over the others it can be enabled.
func cabled(a, b api.NodeID, change func(api.PortNumber, *api.RDMA, *api.Interface)) topology.Graph {
	uuid := func(node, port int) string { return fmt.Sprintf("%08X-0000-4000-8000-%012X", node+1, port) }
	nodes := []topology.Node{{ID: a, ShortName: "ada", Network: &api.Network{}}, {ID: b, ShortName: "bob", Network: &api.Network{}}}
	for i := range nodes {
		for port := 1; port <= 3; port++ {
			name, r := fmt.Sprintf("en%d", port), api.PortNumber(port)
			address := netip.AddrFrom4([4]byte{10, 0, byte(port), byte(i + 1)})
			rdma := api.RDMA{PortNumber: r, HardwareCapable: new(true), OSCapable: new(true), SwitchedOn: new(true), Device: &api.RDMADevice{
				Name: "rdma_" + name, PortState: api.RDMAPortActive, GIDs: []api.GID{{Address: netip.MustParseAddr("fe80::1")}},
			}}
			iface := api.Interface{Name: name, Type: api.InterfaceThunderbolt, Up: true, PortNumber: r}
			if port == 1 {
				rdma.Device.GIDs = append(rdma.Device.GIDs, api.GID{Index: 1, Address: netip.AddrFrom16(address.As16())})
				iface.Addresses = []api.InterfaceAddress{{Address: netip.PrefixFrom(address, 24)}}
			}
			if change != nil {
				change(r, &rdma, &iface)
			}
			n := &nodes[i]
			n.Thunderbolt = append(n.Thunderbolt, topology.Port{Thunderbolt: api.Thunderbolt{
				PortNumber: r, DomainUUID: uuid(i, port), Capability: api.Thunderbolt5, Interface: name, Connected: new(true),
				Negotiated: &api.ThunderboltSpeed{TxBitsPerS: 80e9, RxBitsPerS: 80e9, Generation: api.Thunderbolt5},
				Peers:      []api.ThunderboltPeer{{DomainUUID: uuid(1-i, port)}},
			}})
			n.RDMA, n.Network.Interfaces = append(n.RDMA, rdma), append(n.Network.Interfaces, iface)
		}
	}
	return topology.Build(topology.Input{Nodes: nodes})
}

// What is enabled of the cables that a person names, or of all, and what each is told.
func TestWhichCablesAreEnabled(t *testing.T) {
	off := func(at ...api.PortNumber) func(api.PortNumber, *api.RDMA, *api.Interface) {
		return func(r api.PortNumber, rdma *api.RDMA, _ *api.Interface) {
			if slices.Contains(at, r) {
				rdma.SwitchedOn, rdma.Device = new(false), nil
			}
		}
	}
	stored := func(r api.PortNumber, _ *api.RDMA, iface *api.Interface) {
		if r == 1 {
			iface.BridgeConfigured = "bridge0"
		}
	}
	all := api.RDMAChangeParams{AllReady: true}
	some := func(links ...api.LinkRef) api.RDMAChangeParams { return api.RDMAChangeParams{Links: links} }
	dry := func(p api.RDMAChangeParams) api.RDMAChangeParams { p.DryRun = true; return p }
	for name, c := range map[string]struct {
		change  func(api.PortNumber, *api.RDMA, *api.Interface)
		asked   api.RDMAChangeParams
		changed []api.PortNumber // for each change, of both ends
		refused []api.Reason     // of several cables
		err     error            // of one
		waits   []api.PortNumber // until somebody has been to a Mac
	}{
		"all":                                 {nil, all, []api.PortNumber{2, 2, 3, 3}, nil, nil, nil},
		"all, to look":                        {nil, dry(all), []api.PortNumber{2, 2, 3, 3}, nil, nil, nil},
		"one":                                 {nil, some("bob:3"), []api.PortNumber{3, 3}, nil, nil, nil},
		"in the order of the names":           {nil, some("ada:3", "ada:2~bob:2"), []api.PortNumber{3, 3, 2, 2}, nil, nil, nil},
		"one that is ready":                   {nil, some("ada:1"), nil, nil, nil, nil},
		"one that is ready, and not for long": {stored, some("ada:1"), []api.PortNumber{1, 1}, nil, nil, nil},
		"one that is switched off":            {off(2), some("ada:2"), nil, nil, api.ReasonRDMASwitchOff, []api.PortNumber{2}},
		"one that is switched off, to look":   {off(2), dry(some("ada:2")), nil, nil, api.ReasonRDMASwitchOff, nil},
		"two of which one is switched off":    {off(2), some("ada:2", "ada:3"), []api.PortNumber{3, 3}, []api.Reason{api.ReasonRDMASwitchOff}, nil, []api.PortNumber{2}},
		"all of which one is switched off":    {off(2), all, []api.PortNumber{3, 3}, nil, nil, nil},
		"one beside one that nobody has":      {nil, some("ada:2", "ada:9"), nil, nil, api.ReasonNoSuchLink, nil},
	} {
		t.Run(name, func(t *testing.T) {
			asked(t, func(is *is.I, d *table, commands Commands, _ func(api.LinkID)) {
				self := commands.Ledger.Node()
				commands.Graph = func() topology.Graph { return cabled(self, nodeB, c.change) }
				before := d.hosts[self].mac.picture()
				result, err := commands.Enable(context.Background(), api.Principal{User: "ada", Node: self}, c.asked)
				is.True(errors.Is(err, c.err))
				var changed []api.PortNumber
				networks := map[netip.Prefix]int{}
				for _, one := range result.Changes {
					changed = append(changed, one.Link.Low.PortNumber)
					networks[one.Address.Masked()]++
					is.Equal(one.State == api.RDMAChangePlanned, c.asked.DryRun)
				}
				is.Equal(changed, c.changed)
				is.Equal(len(networks), len(changed)/2) // each cable has its own
				is.Equal(d.hosts[self].mac.picture() == before, len(changed) == 0 || c.asked.DryRun)
				var refused []api.Reason
				for _, cause := range result.Refused {
					refused = append(refused, cause.Reason)
				}
				is.Equal(refused, c.refused)
				var waits []api.PortNumber
				for r := api.PortNumber(1); r <= 3; r++ {
					if commands.Requests.Waits(cable(self, r, nodeB, r)) {
						waits = append(waits, r)
					}
				}
				is.Equal(waits, c.waits)
			})
		})
	}
}

// Who waits for a user action is told that RDMA is then enabled by itself.
func TestWhatGoesOnByItselfIsTold(t *testing.T) {
	asked(t, func(is *is.I, _ *table, c Commands, _ func(api.LinkID)) {
		self := c.Ledger.Node()
		by := api.Principal{User: "ada", Node: self}
		c.Graph = func() topology.Graph {
			return cabled(self, nodeB, func(_ api.PortNumber, rdma *api.RDMA, _ *api.Interface) {
				rdma.SwitchedOn, rdma.Device = new(false), nil
			})
		}
		_, looked := c.Enable(context.Background(), by, api.RDMAChangeParams{Links: []api.LinkRef{"ada:2"}, DryRun: true})
		_, asked := c.Enable(context.Background(), by, api.RDMAChangeParams{Links: []api.LinkRef{"ada:2"}})
		want := api.AsError(looked)
		useractions.GoesOn(want)
		is.Equal(api.AsError(asked).Message, want.Message)
	})
}

// The audit log is of all cables, or of those that have every end that a person names.
func TestHistoryOfACable(t *testing.T) {
	asked(t, func(is *is.I, _ *table, c Commands, _ func(api.LinkID)) {
		self := c.Ledger.Node()
		for _, r := range []api.PortNumber{1, 2} {
			_, err := c.Owner.Enable(context.Background(), api.Principal{User: "ada", Node: self}, cable(self, r, nodeB, r), false, nil)
			is.NoErr(err)
		}
		for ref, want := range map[api.LinkRef][]api.PortNumber{
			"": {2, 1}, "ada:1": {1}, "bob:2": {2}, "ada:1~bob:1": {1}, "bob:1~ada:1": {1}, "ada:1~bob:2": nil, "ada:3": nil,
		} {
			got, err := c.History(api.RDMAHistoryParams{Link: ref})
			is.NoErr(err)
			var of []api.PortNumber
			for _, one := range got.Changes {
				of = append(of, one.Link.Low.PortNumber)
			}
			is.Equal(of, want)
		}
		_, err := c.History(api.RDMAHistoryParams{Link: "carl:1"})
		is.True(errors.Is(err, api.ReasonNoSuchNode))
	})
}

// What can be put back is what this node has changed, told of or not, and what any member
// tells that it has; an end that was changed under a former key is this node's.
func TestWhatCanBePutBack(t *testing.T) {
	asked(t, func(is *is.I, d *table, c Commands, notify func(api.LinkID)) {
		self := c.Ledger.Node()
		first, second, third := cable(self, 1, nodeB, 1), cable(self, 2, nodeB, 2), cable(self, 3, nodeB, 3)
		_, err := c.Owner.Enable(context.Background(), api.Principal{User: "ada", Node: self}, first, false, nil)
		is.NoErr(err)
		h := d.hosts[self]
		for link, state := range map[api.LinkID]api.RDMAChangeState{second: api.RDMAChangePartial, third: api.RDMAChangeUndone} {
			one, _ := h.reported(first)
			one.Link, one.State = link, state
			h.mu.Lock()
			h.docs[link] = one
			h.mu.Unlock()
			notify(link)
		}
		is.Equal(c.changedLinks(), []api.LinkID{first, second})
		notify(first)
		is.Equal(c.changedLinks(), []api.LinkID{first, second}) // each once

		former := cable(nodeC, 1, nodeB, 1)
		orphan := &part{}
		orphan.record.Link, orphan.record.End, orphan.record.State = former, api.LinkEnd{Node: nodeC, PortNumber: 1}, api.RDMAChangeActive
		c.Owner = named()
		c.Owner.parts = []*part{orphan}
		for _, e := range []struct {
			link api.LinkID
			end  api.LinkEnd
			want bool
		}{
			{former, former.Low, true}, {former, former.High, true}, {former, api.LinkEnd{Node: self, PortNumber: 1}, true},
			{former, api.LinkEnd{Node: self, PortNumber: 2}, false}, {former, api.LinkEnd{Node: nodeA, PortNumber: 1}, false}, {second, api.LinkEnd{Node: self, PortNumber: 1}, false},
		} {
			is.Equal(c.isEnd(e.link, e.end), e.want)
		}
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
