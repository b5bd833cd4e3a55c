package rdma

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

// strip takes an interface's addresses, as a replug can.
func (m *mac) strip(iface string) {
	m.mu.Lock()
	delete(m.address, iface)
	m.mu.Unlock()
	m.notify()
}

// An address that is lost comes back: the service is made anew, is still ours, and
// goes with the change.
func TestAddressLost(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		h := d.hosts[nodeA]
		before := h.mac.picture()
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		is.True(d.owner(nodeA).Ours("service 1"))

		h.mac.strip("en2")
		settle(lostAfter - time.Millisecond)
		_, raised := h.condition(api.ReasonAddressLost)
		is.True(!raised) // a moment without is usual
		settle(time.Millisecond)
		detail, raised := h.condition(api.ReasonAddressLost)
		is.True(raised)
		is.Equal(detail, "en2 should have 169.254.1.1/30")
		settle(10 * time.Second)
		_, raised = h.condition(api.ReasonAddressLost)
		is.True(!raised) // it is back
		is.True(d.owner(nodeA).Ours("service 2"))
		is.Equal(len(h.mac.address["en2"]), 1)

		h.mac.mu.Lock()
		h.mac.mute = true // and now it does not come
		h.mac.mu.Unlock()
		h.mac.strip("en2")
		settle(10 * time.Minute)
		_, raised = h.condition(api.ReasonAddressLost)
		is.True(raised)
		is.True(d.owner(nodeA).Ours("service 3")) // tried once, and not again and again

		_, err = d.owner(nodeB).Disable(t.Context(), api.Principal{User: "bob", Node: nodeB}, link)
		is.NoErr(err)
		is.Equal(h.mac.picture(), before)
		h.mac.notify()
		settle(time.Second)
		_, raised = h.condition(api.ReasonAddressLost)
		is.True(!raised) // nobody expects it any more
	})
}

// A service is ours as it was made, and while it is made anew; one that is gone is not.
func TestWhoseServiceIsMadeAnew(t *testing.T) {
	is := is.New(t)
	r := sampleRecord(t)
	there := change.Found{Interface: "en2", Present: true, Services: []change.Service{*r.Steps[1].Service}}
	is.True(isOurs(r, there))
	is.True(!isOurs(r, change.Found{Interface: "en2", Present: true}))
	another := there
	another.Services = []change.Service{serviceOf("en2")}
	is.True(!isOurs(r, another))
	anew := sampleRecord(t)
	anew.Steps[1].Service.ID = ""
	is.True(isOurs(anew, change.Found{Interface: "en2", Present: true}))
}

// Who ends the owner waits for nothing that a change waits for.
func TestCloseEndsWhatWaits(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		d.hosts[nodeB].mac.mute = true // the address never comes
		over := make(chan struct{})
		go func() {
			_, _ = d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
			close(over)
		}()
		settle(2 * time.Second)
		began := time.Now()
		d.owner(nodeB).Close()
		is.Equal(time.Since(began), time.Duration(0))
		<-over
	})
}

// A service that somebody changed is not ours to make anew.
func TestAddressOfAnother(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		_, err := d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
		is.NoErr(err)
		m := d.hosts[nodeA].mac
		m.mu.Lock()
		m.services[0].IPv4 = native.OriginDHCP
		m.mu.Unlock()
		before := m.picture()
		m.strip("en2")
		settle(time.Minute)
		_, raised := d.hosts[nodeA].condition(api.ReasonAddressLost)
		is.True(!raised)
		is.Equal(m.picture(), before)
	})
}

// Killed between the end of the old service and the new one: the next daemon goes
// on with it.
func TestDeathWhileMadeAnew(t *testing.T) {
	for at := 1; ; at++ {
		touched := 0
		bubble(t, pair, func(t *testing.T, d *table) {
			is := is.New(t)
			h := d.hosts[nodeA]
			before := h.mac.picture()
			_, err := d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
			is.NoErr(err)
			want := h.mac.picture()
			d.mu.Lock()
			d.ticks, d.fatal, d.dies = 0, at, nodeA
			d.death = func(h *host) { h.currentLife().die(); time.AfterFunc(time.Second, h.again) }
			d.mu.Unlock()
			h.mac.strip("en2")
			settle(time.Minute)
			d.mu.Lock()
			touched, d.fatal = d.ticks, 0
			d.mu.Unlock()
			is.Equal(h.mac.picture(), want) // the same, whatever its identifier
			_, err = d.owner(nodeA).Disable(t.Context(), ada, cable(nodeA, 2, nodeB, 2))
			is.NoErr(err)
			is.Equal(h.mac.picture(), before)
		})
		if touched < at {
			return
		}
	}
}

// Changes of one node are made one after the other, whoever asks for them.
func TestChangesStandInLine(t *testing.T) {
	bubble(t, []api.NodeID{nodeA, nodeB, nodeC}, func(t *testing.T, d *table) {
		is := is.New(t)
		links := []api.LinkID{cable(nodeA, 1, nodeB, 1), cable(nodeB, 2, nodeC, 2), cable(nodeA, 3, nodeC, 3), cable(nodeA, 1, nodeB, 1)}
		leaders := []api.NodeID{nodeB, nodeA, nodeB, nodeC}
		errs := make([]error, len(links))
		var all sync.WaitGroup
		for i, link := range links {
			all.Go(func() {
				_, errs[i] = d.owner(leaders[i]).Enable(t.Context(), api.Principal{User: "ada", Node: leaders[i]}, link, false, nil)
			})
		}
		all.Wait()
		is.Equal(errs, make([]error, len(links))) // the last two ask for the same
		used := map[string]bool{}
		for id := range d.hosts {
			for _, c := range d.owner(id).held() {
				is.Equal(c.State, api.RDMAChangeActive)
				is.True(!used[c.Address.String()]) // no address twice
				used[c.Address.String()] = true
			}
		}
		is.Equal(len(used), 6)
	})
}

// One that takes too long says on what the other waited.
func TestWaitsInVain(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		hold := make(chan struct{})
		d.prove = func(api.LinkID) error { <-hold; return nil }
		done := make(chan error, 1)
		go func() {
			_, err := d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 1, nodeB, 1), false, nil)
			done <- err
		}()
		settle(5 * time.Second)
		_, err := d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
		is.True(errors.Is(err, api.ReasonRDMAChangeRunning))
		is.Equal(api.AsError(err).Data.WaitingFor, "the change of "+cable(nodeA, 1, nodeB, 1).String()+" on axwf")
		close(hold)
		is.NoErr(<-done)
	})
}

// Everything of this node can be put back without the others, also what it changed
// under a former key.
func TestUndoAll(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		h := d.hosts[nodeA]
		before := h.mac.picture()
		for _, port := range []api.PortNumber{1, 2} {
			_, err := d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, port, nodeB, port), false, nil)
			is.NoErr(err)
		}
		h.kill()
		h.mu.Lock()
		disk := h.disk
		h.mu.Unlock()
		other := newTable(t, nodeC) // the same Mac with a new key
		defer other.close()
		c := other.hosts[nodeC]
		c.kill()
		c.mac, c.machine, c.disk = h.mac, h.mac, disk
		c.boot()
		held := other.owner(nodeC).held()
		is.Equal(len(held), 2)
		is.Equal(held[0].End.Node, nodeA)
		done, err := other.owner(nodeC).Undo(t.Context(), api.Principal{User: "carl", Node: nodeC}, held[0].Link)
		is.NoErr(err)
		is.Equal(done[0].State, api.RDMAChangeUndone)
		is.Equal(done[0].Link, held[0].Link)
		is.NoErr(other.owner(nodeC).UndoAll(t.Context()))
		is.Equal(h.mac.picture(), before)
	})
}

// A record that cannot be read is left, and nothing is changed.
func TestDamagedRecord(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		h := d.hosts[nodeA]
		h.kill()
		h.disk = []byte(`{"version": 7}`)
		l := h.currentLife()
		is.True(l.owner != nil)
		fresh := &life{host: h}
		cfg := l.owner.cfg
		cfg.Records, cfg.Peers = fresh, reach{cfg.Peers.(reach).Peers, fresh}
		o := New(cfg)
		defer o.Close()
		_, err := o.Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
		is.True(errors.Is(err, api.ReasonUnreachable)) // not before it knows what there was
		is.True(o.Start() != nil)
		_, err = o.Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
		is.True(errors.Is(err, api.ReasonRDMAChangeFailed)) // and why, not that it does not answer
		is.Equal(string(h.disk), `{"version": 7}`)
	})
}

// Where the system does not let the network be changed, nothing is even planned.
func TestNotAble(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		d.owner(nodeB).cfg.Able = func(f native.Feature) error {
			if f == native.FeatureBridgeMembership {
				return native.Unsupported(f, native.ReasonNoOS)
			}
			return nil
		}
		_, err := d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), true, nil)
		is.True(errors.Is(err, api.ReasonRDMABridgeCallsMissing))
		d.hosts[nodeB].mac.members["bridge0"] = []string{"en1", "en3"} // as after the one click
		_, err = d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
		is.NoErr(err)
		d.owner(nodeB).cfg.Able = func(f native.Feature) error { return native.Unsupported(f, native.ReasonNeedsRoot) }
		_, err = d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 3, nodeB, 3), true, nil)
		is.Equal(api.AsError(err).Data.Reason, api.Reason("needs_root"))
	})
}
