package rdma

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

// named is an owner that only knows what people call its node.
func named() *Owner {
	return &Owner{cfg: Config{Node: nodeA, Name: func(id api.NodeID) string { return string(id[:4]) }}}
}

// What an end lacks of what a change is for.
func TestMissing(t *testing.T) {
	r := change.Record{Interface: "en2", Address: netip.MustParsePrefix("169.254.1.1/30")}
	has := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/8"), r.Address}
	gid := func(a string) native.GID { return native.GID{Address: netip.MustParseAddr(a)} }
	ours, other := gid("::ffff:169.254.1.1"), gid("fe80::1")
	device := func(iface string, state native.RDMAPortState, gids ...native.GID) native.RDMADevice {
		return native.RDMADevice{Name: "rdma_" + iface, Interface: iface, PortState: state, GIDs: gids}
	}
	for _, c := range []struct {
		addresses []netip.Prefix
		devices   []native.RDMADevice
		reason    api.Reason
		reports   string
	}{
		{has, []native.RDMADevice{device("en1", native.RDMAPortDown, ours), device("en2", native.RDMAPortActive, other, ours)}, "", ""},
		{nil, []native.RDMADevice{device("en2", native.RDMAPortActive, ours)}, api.ReasonNoAddress, "en2 of axwf has no address 169.254.1.1/30"},
		{has[:1], []native.RDMADevice{device("en2", native.RDMAPortActive, ours)}, api.ReasonNoAddress, "en2 of axwf has no address 169.254.1.1/30"},
		{has, []native.RDMADevice{device("en2", native.RDMAPortDown, ours)}, api.ReasonRDMAPortDown, "rdma_en2 of axwf is down"},
		{has, []native.RDMADevice{device("en2", native.RDMAPortActive, other, gid("::ffff:169.254.1.2"), gid("169.254.1.1"))}, api.ReasonRDMANoIPv4GID, "rdma_en2 of axwf has no GID of 169.254.1.1"},
		{has, []native.RDMADevice{device("en1", native.RDMAPortActive, ours)}, api.ReasonRDMANoDevice, "en2 of axwf has no RDMA device"},
	} {
		is := is.New(t)
		got := named().missing(r, change.Found{Addresses: c.addresses}, native.Snapshot{RDMA: &native.RDMA{Devices: c.devices}})
		is.Equal(got, api.Cause{Reason: c.reason, Message: c.reports})
	}
	is.New(t).Equal(named().missing(r, change.Found{Addresses: has}, native.Snapshot{}).Reason, api.ReasonRDMANoDevice)
}

// What is read of an interface, and which networks cannot be used.
func TestWhatIsFound(t *testing.T) {
	is := is.New(t)
	address := func(s string) native.InterfaceAddress {
		return native.InterfaceAddress{Address: netip.MustParsePrefix(s)}
	}
	tentative, own := address("169.254.9.9/16"), address("169.254.7.7/32")
	tentative.Tentative = true
	own.Origin = native.OriginLinkLocal
	n := native.Network{
		Interfaces: []native.Interface{{Name: "en2", Addresses: []native.InterfaceAddress{address("fe80::1/64"), tentative, address("169.254.1.1/30")}},
			{Name: "en3", Addresses: []native.InterfaceAddress{own}}},
		Bridges: []native.Bridge{
			{Name: "b0", KernelMembers: []string{"en2"}, StoredMembers: []string{"en3"}},
			{Name: "b1", KernelMembers: []string{"en3"}, StoredMembers: []string{"en2"}},
			{Name: "b2", KernelMembers: []string{"en2"}, Unknown: map[string]native.Reason{"stored_members": "x"}},
			{Name: "b3", KernelMembers: []string{"en2"}},
			{Name: "b4", KernelMembers: []string{"en2"}, StoredMembers: []string{}, Unknown: map[string]native.Reason{"stored_members": "x"}},
		},
		Services: []native.NetworkService{{ID: "1", Interface: "en3"}, {ID: "2", Interface: "en2", Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}},
	}
	f := foundIn(n, "en2")
	is.True(f.Present)
	is.Equal(f.Addresses, []netip.Prefix{netip.MustParsePrefix("169.254.1.1/30")})
	is.Equal(f.Bridges, []change.Membership{{Bridge: "b0", Kernel: true}, {Bridge: "b1", Stored: true}, {Bridge: "b2", Kernel: true, Stored: true}, {Bridge: "b3", Kernel: true}, {Bridge: "b4", Kernel: true}})
	is.Equal(len(f.Services), 1)
	is.Equal(f.Services[0].ID, "2")
	is.True(!foundIn(n, "en9").Present)

	o := named()
	link, other := cable(nodeA, 1, nodeB, 1), cable(nodeA, 2, nodeB, 2)
	record := func(l api.LinkID, s api.RDMAChangeState, a string) *part {
		r := change.Record{Link: l, State: s}
		if a != "" {
			r.Address = netip.MustParsePrefix(a)
		}
		return &part{record: r}
	}
	o.parts = []*part{record(link, api.RDMAChangePlanned, "169.254.2.1/30"), record(other, api.RDMAChangeUndone, "169.254.3.1/30"),
		record(other, api.RDMAChangePartial, ""), record(other, api.RDMAChangeActive, "169.254.4.1/30")}
	is.Equal(fmt.Sprint(o.taken(n, link)), "[169.254.9.9/16 169.254.1.1/30 169.254.7.7/16 10.0.0.0/8 169.254.4.1/30]")
}

// What a person is told of an error of the platform, and what is noted of it.
func TestFaults(t *testing.T) {
	late, cancel := context.WithCancelCause(context.Background())
	cancel(&native.DeadlineError{WaitingFor: "the port", After: time.Minute})
	gone := errors.New("gone")
	for _, c := range []struct {
		ctx     context.Context
		err     error
		reason  api.Reason
		reports string
		noted   string
	}{
		{t.Context(), api.NewError(api.ReasonDiskFull, "x"), api.ReasonDiskFull, "", ""},
		{t.Context(), gone, api.ReasonRDMAChangeFailed, "On axwf: gone.", "could not change en2: gone"},
		{late, gone, api.ReasonDeadline, "On axwf: waited 1m0s for the port.", "could not change en2: gone"},
		{late, api.NewError(api.ReasonDiskFull, "x"), api.ReasonDiskFull, "", ""},
		{t.Context(), fmt.Errorf("x: %w", &native.DeadlineError{WaitingFor: "it", After: time.Second}), api.ReasonDeadline, "On axwf: waited 1s for it.", "could not change en2: x: waited 1s for it"},
		{t.Context(), &native.UnsupportedError{Feature: native.FeatureBridgeMembership, Reason: native.ReasonNoOS}, api.ReasonRDMABridgeCallsMissing, "The version of macOS on axwf has no safe way to change the bridge.", "The version of macOS on axwf has no safe way to change the bridge."},
		{t.Context(), &native.UnsupportedError{Feature: native.FeatureNetworkService, Reason: native.ReasonNoOS}, api.Reason(native.ReasonNoOS.Key()), "", ""},
		{t.Context(), &native.UnsupportedError{Feature: native.FeatureBridgeMembership, Reason: "odd: of its own"}, api.ReasonNotSupportedByPlatform, "Fulmen cannot change the network of axwf: odd: of its own.", "Fulmen cannot change the network of axwf: odd: of its own."},
	} {
		is := is.New(t)
		fault := named().faultOf(c.ctx, c.err)
		is.Equal(fault.Data.Reason, c.reason)
		noted := named().causeOf(c.ctx, "change en2", c.err)
		is.Equal(noted.Reason, c.reason)
		if c.reports == "" {
			is.Equal(noted.Message, fault.Message)
			continue
		}
		is.Equal(fault.Message, c.reports)
		is.Equal(noted.Message, c.noted)
		is.Equal(fault.Data.WaitingFor != "", c.reason == api.ReasonDeadline)
	}
}

// Which steps another node may ask for, and what it is told where it may not.
func TestWhoMayAsk(t *testing.T) {
	bubble(t, []api.NodeID{nodeA, nodeB, nodeC}, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		ask := func(to api.NodeID, p api.PeerRDMAParams) (api.RDMAChange, error) {
			var answer api.RDMAChange
			return answer, d.owner(nodeA).cfg.Peers.Call(t.Context(), to, "peer.rdma", p, &answer)
		}
		bob := api.Principal{User: "bob", Node: nodeB}
		for _, c := range []struct {
			to   api.NodeID
			p    api.PeerRDMAParams
			want api.Reason
		}{
			{nodeC, api.PeerRDMAParams{Step: api.RDMAPlan, Link: link, Change: "c1", By: ada}, api.ReasonNoSuchLink},
			{nodeB, api.PeerRDMAParams{Step: api.RDMAPlan, Link: link, Change: "c1", By: bob}, api.ReasonBadValue},
			{nodeB, api.PeerRDMAParams{Step: "paint", Link: link, Change: "c1", By: ada}, api.ReasonBadValue},
			{nodeA, api.PeerRDMAParams{Step: api.RDMAPlan, Link: cable(nodeA, 1, nodeA, 3), Change: "c1", By: ada}, api.ReasonNotSupportedByPlatform},
			{nodeB, api.PeerRDMAParams{Step: api.RDMAApply, Link: link, Change: "c1", By: ada}, api.ReasonRDMAChangeFailed},
			{nodeB, api.PeerRDMAParams{Step: api.RDMAProve, Link: link, Change: "c1", By: ada}, api.ReasonRDMAChangeFailed},
			{nodeB, api.PeerRDMAParams{Step: api.RDMACommit, Link: link, Change: "c1", By: ada}, api.ReasonRDMAChangeFailed},
			{nodeB, api.PeerRDMAParams{Step: api.RDMARollback, Link: link, By: ada}, api.ReasonRDMANothingToUndo},
		} {
			_, err := ask(c.to, c.p)
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.p.Step, err)
			}
		}
		undone, err := ask(nodeB, api.PeerRDMAParams{Step: api.RDMARollback, Link: link, Change: "c1", By: ada})
		is.NoErr(err)
		is.Equal(undone.Change, "c1")
		is.Equal(undone.State, api.RDMAChangeUndone) // it was never begun

		// What one node has begun, no other goes on with; what is in force goes back for
		// those alone who may change it, and while nothing is disturbed.
		done, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		carl := api.Principal{User: "carl", Node: nodeC}
		id := done[0].Change
		began := time.Now()
		applied, err := ask(nodeB, api.PeerRDMAParams{Step: api.RDMAApply, Link: link, Change: id, By: ada})
		is.NoErr(err) // whose answer was lost asks again
		is.Equal(applied.State, api.RDMAChangeActive)
		is.Equal(time.Since(began), time.Duration(0))
		var answer api.RDMAChange
		for _, step := range []api.RDMAChangeStep{api.RDMAApply, api.RDMAProve, api.RDMACommit} {
			err := d.owner(nodeC).cfg.Peers.Call(t.Context(), nodeB, "peer.rdma", api.PeerRDMAParams{Step: step, Link: link, Change: id, By: carl}, &answer)
			is.True(errors.Is(err, api.ReasonRDMAChangeFailed))
		}
		h := d.hosts[nodeB]
		for _, c := range []struct {
			set  func()
			want api.Reason
		}{
			{func() { h.refuses = api.ReasonRDMAChangesRefused }, api.ReasonRDMAChangesRefused},
			{func() { h.refuses, h.busy = "", api.NewError(api.ReasonLinkBusy, "job") }, api.ReasonLinkBusy},
		} {
			h.mu.Lock()
			c.set()
			h.mu.Unlock()
			_, err := ask(nodeB, api.PeerRDMAParams{Step: api.RDMARollback, Link: link, Change: id, By: ada})
			is.True(errors.Is(err, c.want))
			state, _ := d.state(nodeB, link)
			is.Equal(state, api.RDMAChangeActive)
		}
		h.mu.Lock()
		h.busy = nil
		h.mu.Unlock()
		other, err := ask(nodeB, api.PeerRDMAParams{Step: api.RDMARollback, Link: link, Change: "c-other", By: ada})
		is.NoErr(err)
		is.Equal(other.Change, "c-other") // which never was: nothing is put back for it
		state, _ := d.state(nodeB, link)
		is.Equal(state, api.RDMAChangeActive)
		all, err := ask(nodeB, api.PeerRDMAParams{Step: api.RDMARollback, Link: link, By: ada}) // whatever there is
		is.NoErr(err)
		is.Equal(all.Change, id)
		again, err := ask(nodeB, api.PeerRDMAParams{Step: api.RDMARollback, Link: link, Change: id, By: ada})
		is.NoErr(err)
		is.Equal(again.State, api.RDMAChangeUndone)
		is.Equal(len(again.Steps), 2)                                                        // as it was put back
		_, err = ask(nodeB, api.PeerRDMAParams{Step: api.RDMARollback, Link: link, By: ada}) // it is long over
		is.True(errors.Is(err, api.ReasonRDMANothingToUndo))
	})
}

// Whoever began a change may end it while it is under way, refused or not; others are
// asked whether they may change this Mac.
func TestWhoEndsWhatIsUnderWay(t *testing.T) {
	bubble(t, []api.NodeID{nodeA, nodeB, nodeC}, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		h := d.hosts[nodeB]
		h.mac.mute = true // the address never comes
		over := make(chan error, 1)
		go func() {
			_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
			over <- err
		}()
		settle(2 * time.Second)
		state, id := d.state(nodeB, link)
		is.Equal(state, api.RDMAChangeApplying)
		h.mu.Lock()
		h.refuses = api.ReasonRDMAChangesRefused
		h.mu.Unlock()
		var answer api.RDMAChange
		p := api.PeerRDMAParams{Step: api.RDMARollback, Link: link, Change: id, By: api.Principal{User: "carl", Node: nodeC}}
		is.True(errors.Is(d.owner(nodeC).cfg.Peers.Call(t.Context(), nodeB, "peer.rdma", p, &answer), api.ReasonRDMAChangesRefused))
		state, _ = d.state(nodeB, link)
		is.Equal(state, api.RDMAChangeApplying)
		p.By = ada
		is.NoErr(d.owner(nodeA).cfg.Peers.Call(t.Context(), nodeB, "peer.rdma", p, &answer))
		is.Equal(answer.State, api.RDMAChangeUndone)
		is.True(errors.Is(<-over, api.ReasonRDMAChangeFailed))
	})
}

// An end that cannot apply its part says so itself, with the reason, once it is as it was.
func TestAnEndThatCannotApply(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		d.hosts[nodeB].mac.mute = true
		before := d.hosts[nodeB].mac.picture()
		var planned, applied api.RDMAChange
		p := api.PeerRDMAParams{Step: api.RDMAPlan, Link: link, Change: "c1", By: ada}
		is.NoErr(d.owner(nodeA).cfg.Peers.Call(t.Context(), nodeB, "peer.rdma", p, &planned))
		p.Step = api.RDMAApply
		is.True(errors.Is(d.owner(nodeA).cfg.Peers.Call(t.Context(), nodeB, "peer.rdma", p, &applied), api.ReasonNoAddress))
		is.Equal(d.hosts[nodeB].mac.picture(), before)
	})
}

// A test of the cable that takes too long is told as what was waited for, whatever it
// says when it is ended.
func TestATestThatTakesTooLong(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		for _, id := range pair {
			d.owner(id).cfg.Prove = func(ctx context.Context, _ api.LinkID) error {
				<-ctx.Done()
				return api.NewError(api.ReasonCancelled, "test")
			}
		}
		done, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		is.Equal(done[0].Reason, api.ReasonDeadline)
		is.True(strings.Contains(done[0].Message, "waited 1m0s for data over "+link.String()))
	})
}

// An end that does not come up says what it lacked when it was seen last, or why it could
// not be seen.
func TestWhatAnEndLackedIsTold(t *testing.T) {
	const waited = "; waited 20s for the RDMA port of en2 to be active with 169.254.1.1"
	blind := func(m *mac) { m.mu.Lock(); m.blind = errors.New("out of order"); m.mu.Unlock() }
	for name, c := range map[string]struct {
		set  func(*mac)
		want api.Cause
	}{
		"it has no address": {func(*mac) {}, api.Cause{Reason: api.ReasonNoAddress, Message: "en2 of axwf has no address 169.254.1.1/30" + waited}},
		"it cannot be seen": {blind, api.Cause{Reason: api.ReasonRDMAChangeFailed, Message: "could not read en2: out of order" + waited}},
		"it cannot be seen any more": {func(m *mac) { time.AfterFunc(time.Second, func() { blind(m); m.notify() }) },
			api.Cause{Reason: api.ReasonNoAddress, Message: "en2 of axwf has no address 169.254.1.1/30" + waited}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, pair, func(t *testing.T, d *table) {
				r := change.Record{Interface: "en2", Address: netip.MustParsePrefix("169.254.1.1/30")}
				c.set(d.hosts[nodeA].mac)
				is.New(t).Equal(d.owner(nodeA).verify(t.Context(), r), change.Failed{Cause: c.want})
			})
		})
	}
}

// What the other end says of an end in force: only what is of this change, and whoever
// may change this Mac, has it put back.
func TestWhatIsHeard(t *testing.T) {
	for _, c := range []struct {
		name    string
		theirs  func(mine api.RDMAChange) api.RDMAChange
		refuses bool
		want    api.RDMAChangeState
		by      string
		reports string
	}{
		{"still in force", func(m api.RDMAChange) api.RDMAChange { return m }, false, api.RDMAChangeActive, "", ""},
		{"put back by a person", func(m api.RDMAChange) api.RDMAChange {
			m.State, m.UndoneBy = api.RDMAChangeUndone, api.Principal{User: "bob", Node: nodeB}
			return m
		}, false, api.RDMAChangeUndone, "bob", ""},
		{"put back by itself", func(m api.RDMAChange) api.RDMAChange { m.State = api.RDMAChangeUndone; return m }, false, api.RDMAChangeUndone, "", "axwf put it back"},
		{"put back for a reason", func(m api.RDMAChange) api.RDMAChange {
			m.State, m.Reason, m.Message = api.RDMAChangePartial, api.ReasonRDMAPortDown, "down"
			return m
		}, false, api.RDMAChangeUndone, "", "axwf: down"},
		{"an earlier change was put back", func(m api.RDMAChange) api.RDMAChange { m.Change, m.State = "c0", api.RDMAChangeUndone; return m }, false, api.RDMAChangeActive, "", ""},
		{"an earlier change is in force", func(m api.RDMAChange) api.RDMAChange { m.Change = "c0"; return m }, false, api.RDMAChangeActive, "", ""},
		{"a later change has begun", func(m api.RDMAChange) api.RDMAChange {
			m.Change, m.State, m.StartedAt = "c9", api.RDMAChangeApplying, api.TimeOf(m.StartedAt.Add(time.Second))
			m.Message = "of the later one"
			return m
		}, false, api.RDMAChangeUndone, "", "axwf put it back"},
		{"of another cable", func(m api.RDMAChange) api.RDMAChange {
			m.State, m.Link = api.RDMAChangeUndone, cable(nodeA, 1, nodeB, 1)
			return m
		}, false, api.RDMAChangeActive, "", ""},
		{"put back by who may not change this Mac", func(m api.RDMAChange) api.RDMAChange { m.State = api.RDMAChangeUndone; return m }, true, api.RDMAChangeActive, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, pair, func(t *testing.T, d *table) {
				is := is.New(t)
				link := cable(nodeA, 2, nodeB, 2)
				done, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
				is.NoErr(err)
				settle(time.Second)
				d.scenario.Cut(nodeA, nodeB)
				h := d.hosts[nodeB]
				h.mu.Lock()
				if c.refuses {
					h.refuses = api.ReasonRDMAChangesRefused
				}
				h.mu.Unlock()
				d.owner(nodeB).PeerChanged(nodeA, c.theirs(done[0].RDMAChange))
				settle(30 * time.Second)
				reported, _ := h.reported(link)
				is.Equal(reported.State, c.want)
				is.Equal(reported.UndoneBy.User, c.by)
				is.Equal(reported.Message, c.reports)
			})
		})
	}
}

// The audit log keeps the last changes, the newest first, each once.
func TestHistoryIsBounded(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		o := d.owner(nodeA)
		for i := range historyMax + 5 {
			r := sampleRecord(t)
			r.Change, r.State = fmt.Sprint("c", i), api.RDMAChangeApplying
			o.publish(r)
			r.State = api.RDMAChangeUndone
			o.publish(r)
		}
		planned := sampleRecord(t)
		planned.Change, planned.State = "c", api.RDMAChangePlanned
		o.publish(planned) // nothing was changed yet
		all := o.History(nil)
		is.Equal(len(all), historyMax)
		is.Equal(all[0].Change, fmt.Sprint("c", historyMax+4))
		is.Equal(all[historyMax-1].Change, "c5")
		is.Equal(all[0].State, api.RDMAChangeUndone)
		is.Equal(len(o.History(func(c api.RDMAChange) bool { return c.Change == "c7" })), 1)
		is.Equal(len(d.hosts[nodeA].log), historyMax)
		is.Equal(len(o.held()), 0)
	})
}

// A service is Fulmen's while its step is made.
func TestWhoseServiceItIs(t *testing.T) {
	is := is.New(t)
	o := named()
	r := sampleRecord(t)
	o.parts = []*part{{record: r}}
	is.True(o.Ours(r.Steps[1].Service.ID))
	is.True(!o.Ours("another"))
	is.Equal(o.held(), []change.Record{r})
	o.parts[0].record.Steps[1].State = api.RDMAStepUndone
	is.True(!o.Ours(r.Steps[1].Service.ID))
	o.parts[0].record.State = api.RDMAChangeUndone
	is.Equal(len(o.held()), 0)
	for _, s := range []api.RDMAChangeState{api.RDMAChangeUndoing, api.RDMAChangeUndone, api.RDMAChangePartial} {
		is.True(change.IsBack(s) && goesBack(change.PeerChange{State: s}))
	}
	is.True(!change.IsBack(api.RDMAChangeActive) && !goesBack(change.PeerChange{State: api.RDMAChangeProving}) && !goesBack(change.Apply{}))
	is.True(goesBack(change.Rollback{}))
}
