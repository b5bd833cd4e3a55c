package rdma

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

// What is not in force any more, at one end or both, goes back and is made anew.
func TestEnableAgain(t *testing.T) {
	link := cable(nodeA, 2, nodeB, 2)
	for name, c := range map[string]struct {
		spoil  func(*table)
		reason api.Reason // that a dry run tells of the second end
		same   bool
	}{
		"nothing happened":   {func(*table) {}, "", true},
		"an address is gone": {func(d *table) { d.hosts[nodeB].mac.strip("en2") }, api.ReasonNoAddress, false},
		"the port is down": {func(d *table) {
			m := d.hosts[nodeB].mac
			m.mu.Lock()
			m.unresponsive = true
			m.mu.Unlock()
			time.AfterFunc(5*time.Second, func() { m.mu.Lock(); m.unresponsive = false; m.mu.Unlock(); m.notify() })
		}, api.ReasonRDMAPortDown, false},
		"a service is gone": {func(d *table) {
			m := d.hosts[nodeB].mac
			m.mu.Lock()
			m.services = nil
			delete(m.address, "en2")
			m.mu.Unlock()
		}, api.ReasonRDMAUndoPartial, false},
		"one end went back": {func(d *table) {
			d.scenario.Cut(nodeA, nodeB)
			if _, err := d.owner(nodeA).Undo(context.Background(), ada, link); err != nil {
				d.t.Error(err)
			}
			d.scenario.Join(nodeA, nodeB)
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, pair, func(t *testing.T, d *table) {
				is := is.New(t)
				first, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
				is.NoErr(err)
				pictures := [2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}
				c.spoil(d)
				seen, err := d.owner(nodeA).Enable(t.Context(), ada, link, true, nil)
				is.NoErr(err)
				is.Equal(seen[1].Reason, c.reason)
				is.Equal(seen[1].Message != "", c.reason != "")
				again, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
				is.NoErr(err)
				is.Equal(again[0].Change == first[0].Change, c.same)
				is.Equal(again[0].Change, again[1].Change)
				settle(time.Second)
				for _, id := range pair {
					state, change := d.state(id, link)
					is.Equal(state, api.RDMAChangeActive)
					is.Equal(change, again[0].Change)
				}
				is.Equal([2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}, pictures)
			})
		})
	}
}

// A person who wants it back does not wait for what only waits.
func TestBackWhileItWaits(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		before := [2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}
		d.hosts[nodeB].mac.mute = true // the address never comes
		over := make(chan error, 1)
		go func() {
			_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
			over <- err
		}()
		settle(2 * time.Second)
		state, id := d.state(nodeB, link)
		is.Equal(state, api.RDMAChangeApplying)
		began := time.Now()
		var answer api.RDMAChange
		is.NoErr(d.owner(nodeA).cfg.Peers.Call(t.Context(), nodeB, "peer.rdma", api.PeerRDMAParams{Step: api.RDMARollback, Link: link, Change: id, By: ada}, &answer))
		is.Equal(answer.State, api.RDMAChangeUndone)
		is.True(time.Since(began) < shownWithin/2)
		is.True(errors.Is(<-over, api.ReasonRDMAChangeFailed))
		settle(time.Minute)
		is.Equal([2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}, before)

		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.True(strings.HasSuffix(err.Error(), "; waited 20s for the RDMA port of en2 to be active with 169.254.1.2."))
	})
}

// An end that refuses between planning and applying, or before anything, leaves both as
// they were; one that sees the cable a moment later is waited for.
func TestRefusedInBetween(t *testing.T) {
	link := cable(nodeA, 2, nodeB, 2)
	for name, c := range map[string]struct {
		set  func(*table, *host)
		want api.Reason
	}{
		"while it is planned": {func(_ *table, h *host) {
			h.setQuiet(func(context.Context, api.PortNumber) *api.Error {
				h.mu.Lock()
				h.refuses = api.ReasonRDMAChangesRefused
				h.mu.Unlock()
				return nil
			})
		}, api.ReasonRDMAChangesRefused},
		"busy once it is kept out": {func(_ *table, h *host) {
			h.setQuiet(func(context.Context, api.PortNumber) *api.Error { return api.NewError(api.ReasonLinkBusy, "test") })
		}, api.ReasonLinkBusy},
		"it sees the cable late": {func(d *table, h *host) {
			h.check = api.NewError(api.ReasonLinkGone, "cable")
			time.AfterFunc(seenWithin-time.Second, func() { h.mu.Lock(); h.check = nil; h.mu.Unlock(); d.owner(nodeB).Look(false) })
		}, ""},
		"it sees the cable too late": {func(d *table, h *host) {
			h.check = api.NewError(api.ReasonLinkGone, "cable")
			time.AfterFunc(seenWithin+time.Second, func() { h.mu.Lock(); h.check = nil; h.mu.Unlock(); d.owner(nodeB).Look(false) })
		}, api.ReasonLinkGone},
		"an answer is lost": {func(_ *table, h *host) { h.mac.unreceived = 1 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, pair, func(t *testing.T, d *table) {
				is := is.New(t)
				before := [2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}
				c.set(d, d.hosts[nodeB])
				done, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
				if c.want == "" {
					is.NoErr(err)
					is.Equal(done[1].State, api.RDMAChangeActive)
					is.Equal(d.hosts[nodeB].mac.made, 1)
					is.True(d.owner(nodeB).Ours("service 1")) // whether its making was heard of or not
					return
				}
				is.True(errors.Is(err, c.want))
				settle(time.Minute)
				is.Equal([2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}, before)
			})
		})
	}
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		_, err := d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 9, nodeB, 2), false, nil)
		is.True(errors.Is(err, api.ReasonRDMANoDevice))
		all := []netip.Prefix{netip.MustParsePrefix("169.254.0.0/17"), netip.MustParsePrefix("169.254.128.0/17")}
		_, err = d.owner(nodeA).Enable(t.Context(), ada, link, false, all)
		is.True(errors.Is(err, api.ReasonRDMANoFreeNetwork))
		is.True(!d.owner(nodeA).Changing() && !d.owner(nodeB).Changing())
	})
}

// Two changes of one Mac stand in line while the first is planned.
func TestPlansStandInLine(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		far, began := d.hosts[nodeB], time.Now()
		far.setQuiet(func(ctx context.Context, r api.PortNumber) *api.Error {
			if r == 2 {
				<-time.After(5 * time.Second)
			}
			return nil
		})
		first := make(chan error, 1)
		go func() {
			_, err := d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
			first <- err
		}()
		settle(time.Second)
		_, err := d.owner(nodeB).Enable(t.Context(), api.Principal{User: "bob", Node: nodeB}, cable(nodeA, 3, nodeB, 3), true, nil)
		is.NoErr(err)
		is.True(time.Since(began) >= 5*time.Second)
		is.NoErr(<-first)
	})
}

// Who puts all back is told what could not be.
func TestUndoAllTellsWhatIsLeft(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		_, err := d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
		is.NoErr(err)
		m := d.hosts[nodeB].mac
		m.mu.Lock()
		m.services[0].Name = "Mine"
		m.mu.Unlock()
		err = d.owner(nodeB).UndoAll(t.Context())
		is.True(errors.Is(err, api.ReasonRDMAUndoPartial))
		is.True(strings.HasPrefix(err.Error(), "Not everything was put back: "))
		is.True(!strings.Contains(err.Error(), "\n")) // people read it
		m.mu.Lock()
		m.services = nil
		delete(m.address, "en2")
		m.mu.Unlock()
		is.NoErr(d.owner(nodeB).UndoAll(t.Context()))
		reported, _ := d.hosts[nodeB].reported(cable(nodeA, 2, nodeB, 2))
		settle(time.Second)
		is.NoErr(d.owner(nodeB).UndoAll(t.Context())) // nothing is left
		again, _ := d.hosts[nodeB].reported(cable(nodeA, 2, nodeB, 2))
		is.Equal(again, reported)
		is.Equal(m.picture(), newMac().picture())
		broken := named()
		broken.broken = api.NewError(api.ReasonStateCorrupt, "file")
		is.True(errors.Is(broken.UndoAll(t.Context()), api.ReasonStateCorrupt))
	})
}

// Undo goes on to the end that can be reached, whichever is asked first.
func TestUndoAtOneEnd(t *testing.T) {
	link := cable(nodeA, 2, nodeB, 2)
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		d.scenario.Cut(nodeA, nodeB)
		done, err := d.owner(nodeB).Undo(t.Context(), api.Principal{User: "bob", Node: nodeB}, link)
		is.NoErr(err)
		is.Equal(len(done), 1)
		is.Equal(done[0].Node, nodeB)
	})
}

// An end that has put a change back, and forgotten it, has nothing to add to what the
// other one puts back.
func TestUndoWhereOneEndHasForgotten(t *testing.T) {
	link := cable(nodeA, 2, nodeB, 2)
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		d.scenario.Cut(nodeA, nodeB)
		_, err = d.owner(nodeB).Undo(t.Context(), api.Principal{User: "bob", Node: nodeB}, link)
		is.NoErr(err)
		d.hosts[nodeB].kill()
		d.hosts[nodeB].disk = nil
		d.hosts[nodeB].boot()
		d.scenario.Join(nodeA, nodeB)
		state, _ := d.state(nodeA, link)
		is.Equal(state, api.RDMAChangeActive) // it has not heard of that
		done, err := d.owner(nodeA).Undo(t.Context(), ada, link)
		is.NoErr(err)
		is.Equal(len(done), 1)
		is.Equal(done[0].Node, nodeA)
		is.Equal(len(done[0].Steps), 2)
	})
}

// Of its own end a node knows itself what there is to put back, of the other what that
// said last.
func TestWhichChangeIsPutBack(t *testing.T) {
	is := is.New(t)
	o, link := named(), cable(nodeA, 2, nodeB, 2)
	theirs := api.RDMAChange{Change: "theirs", State: api.RDMAChangeActive}
	o.cfg.Others = func(api.NodeID, api.LinkID) (api.RDMAChange, bool) { return theirs, theirs.Change != "" }
	is.Equal(o.changeAt(link.Low, link), "")
	one := &part{}
	one.record.Link, one.record.Change, one.record.State = link, "ours", api.RDMAChangeActive
	o.parts = []*part{one}
	is.Equal(o.changeAt(link.Low, link), "ours")
	is.Equal(o.changeAt(link.High, link), "theirs")
	theirs.State, one.record.State = api.RDMAChangeUndone, api.RDMAChangeUndone
	is.Equal(o.changeAt(link.Low, link), "")
	is.Equal(o.changeAt(link.High, link), "")
	theirs = api.RDMAChange{}
	is.Equal(o.changeAt(link.High, link), "") // nothing was heard of it
}

// Who waits for a change hears of it when nothing of it is under way any more.
func TestNothingIsUnderWayAnyMore(t *testing.T) {
	for name, c := range map[string]struct {
		queue  []change.Event
		driven bool
		state  api.RDMAChangeState
		after  time.Duration // when it is answered
		err    error
	}{
		"as wanted":                   {nil, false, api.RDMAChangeActive, 0, nil},
		"as wanted, and driven still": {nil, true, api.RDMAChangeActive, time.Second, nil},
		"with more to do":             {[]change.Event{change.Commit{}}, false, api.RDMAChangeActive, time.Second, nil},
		"put back":                    {nil, false, api.RDMAChangeUndone, 0, api.ReasonRDMAChangeFailed},
		"put back in part":            {nil, false, api.RDMAChangePartial, 0, api.ReasonRDMAChangeFailed},
		"not begun":                   {nil, false, api.RDMAChangePlanned, keepWithin, api.ReasonDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, pair, func(t *testing.T, d *table) {
				is := is.New(t)
				o, one := d.owner(nodeA), &part{queue: c.queue, driven: c.driven}
				one.record.State = c.state
				one.record.End = cable(nodeA, 2, nodeB, 2).Low
				time.AfterFunc(time.Second, func() {
					o.mu.Lock()
					defer o.mu.Unlock()
					one.queue, one.driven = nil, false
					o.wakeLocked()
				})
				began := time.Now()
				_, err := o.reach(t.Context(), one, keepWithin, func(s api.RDMAChangeState) bool { return s == api.RDMAChangeActive })
				is.Equal(time.Since(began), c.after)
				is.True(errors.Is(err, c.err))
			})
		})
	}
}

// An end that was asked to plan more than once, and does not answer, is told of once.
func TestToldOnce(t *testing.T) {
	bubble(t, []api.NodeID{nodeA, nodeB, nodeC}, func(t *testing.T, d *table) {
		is := is.New(t)
		_, err := d.owner(nodeC).Enable(t.Context(), api.Principal{User: "carl", Node: nodeC}, cable(nodeB, 1, nodeC, 1), false, nil)
		is.NoErr(err) // it has the network that the next one would have
		d.prove = func(api.LinkID) error {
			d.scenario.Cut(nodeA, nodeB)
			return api.NewError(api.ReasonRDMAProbeFailed, "cable")
		}
		_, err = d.owner(nodeA).Enable(t.Context(), ada, cable(nodeA, 2, nodeB, 2), false, nil)
		is.True(errors.Is(err, api.ReasonRDMAProbeFailed))
		is.Equal(len(api.AsError(err).Data.Causes), 1)
		is.Equal(api.AsError(err).Data.Causes[0].Reason, api.ReasonUnreachable)
	})
}

// What cannot be put back within the time is left, with what kept it.
func TestWhatKeptASettingIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		keep    func(*mac) // the caller holds mu
		states  []api.RDMAStepState
		reports string
	}{
		"somebody else writes": {func(m *mac) { m.stale = 1 << 20 }, []api.RDMAStepState{api.RDMAStepLeft, api.RDMAStepLeft}, "could not put back en2: changed by somebody else meanwhile; waited 15s for the network configuration of en2"},
		"nothing can be read":  {func(m *mac) { m.blind = errors.New("out of order") }, []api.RDMAStepState{api.RDMAStepLeft, api.RDMAStepLeft}, "could not put back en2: out of order"},
		"an address stays": {func(m *mac) {
			time.AfterFunc(100*time.Millisecond, func() {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.services = append(m.services, native.NetworkService{ID: "theirs", Name: "Mine", Interface: "en2", Enabled: true})
			})
		}, []api.RDMAStepState{api.RDMAStepLeft, api.RDMAStepUndone}, "en2 still has the address 169.254.1.2/30"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, pair, func(t *testing.T, d *table) {
				is := is.New(t)
				link := cable(nodeA, 2, nodeB, 2)
				_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
				is.NoErr(err)
				m := d.hosts[nodeB].mac
				m.mu.Lock()
				c.keep(m)
				m.mu.Unlock()
				done, err := d.owner(nodeA).Disable(t.Context(), ada, link)
				is.NoErr(err)
				is.Equal(done[1].State, api.RDMAChangePartial)
				for i, step := range done[1].Steps {
					is.Equal(step.State, c.states[i])
				}
				is.True(strings.Contains(done[1].Message, c.reports))
			})
		})
	}
}
