package rdma

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var ada = api.Principal{User: "ada", Node: nodeA}

// bubble runs a test of Macs on virtual time.
func bubble(t *testing.T, nodes []api.NodeID, f func(*testing.T, *table)) {
	synctest.Test(t, func(t *testing.T) {
		d := newTable(t, nodes...)
		defer d.close()
		f(t, d)
	})
}

var pair = []api.NodeID{nodeA, nodeB}

// settle lets everything happen that is on its way.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestEnableAndDisable(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 3)
		before := [2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}

		planned, err := d.owner(nodeA).Enable(t.Context(), ada, link, true, nil)
		is.NoErr(err)
		is.Equal(planned[0].State, api.RDMAChangePlanned)
		is.Equal(planned[0].Address, netip.MustParsePrefix("169.254.1.1/30"))
		is.Equal(planned[1].Address, netip.MustParsePrefix("169.254.1.2/30"))
		is.Equal(planned[0].Steps[0].Text, "Take en2 out of the Thunderbolt Bridge (bridge0).")
		is.Equal(planned[1].Steps[1].Text, `Give en3 a network service of its own, "Fulmen Thunderbolt 3", with the address 169.254.1.2/30.`)
		is.Equal(d.hosts[nodeA].mac.picture(), before[0])                        // nothing was changed
		is.Equal(len(d.hosts[nodeA].docs), 0)                                    // nor told
		is.Equal([2]int{d.hosts[nodeA].idle, d.hosts[nodeB].idle}, [2]int{1, 1}) // whoever waits for that may go on

		done, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		is.Equal(len(done), 2)
		for i, id := range pair {
			is.Equal(done[i].Node, id)
			is.Equal(done[i].State, api.RDMAChangeActive)
			is.Equal(done[i].By, ada)
			is.Equal(done[i].Steps[0].State, api.RDMAStepDone)
			is.Equal(done[i].Address, planned[i].Address)
			reported, _ := d.hosts[id].reported(link)
			is.Equal(reported.State, api.RDMAChangeActive)
			is.Equal(len(d.owner(id).History(nil)), 1)
		}
		is.Equal(d.hosts[nodeA].mac.picture(), "map[bridge0:[en1 en3]] Fulmen Thunderbolt 2/en2[169.254.1.1/30]")
		is.Equal(d.hosts[nodeB].mac.picture(), "map[bridge0:[en1 en2]] Fulmen Thunderbolt 3/en3[169.254.1.2/30]")
		is.True(d.owner(nodeA).Ours("service 1"))

		again, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		is.Equal(again[0].Change, done[0].Change) // the same change, not another

		second, err := d.owner(nodeB).Enable(t.Context(), api.Principal{User: "bob", Node: nodeB}, cable(nodeA, 3, nodeB, 2), false, nil)
		is.NoErr(err)
		is.Equal(second[0].Address, netip.MustParsePrefix("169.254.1.5/30")) // the first free one at both

		undone, err := d.owner(nodeB).Disable(t.Context(), api.Principal{User: "bob", Node: nodeB}, link)
		is.NoErr(err)
		is.Equal(undone[0].State, api.RDMAChangeUndone)
		is.Equal(undone[0].UndoneBy.User, "bob")
		for _, end := range undone {
			for _, step := range end.Steps {
				is.Equal(step.State, api.RDMAStepUndone)
				is.Equal(step.Found, nil) // as it was left, at the first look
			}
		}
		_, err = d.owner(nodeB).Disable(t.Context(), api.Principal{User: "bob", Node: nodeB}, cable(nodeA, 3, nodeB, 2))
		is.NoErr(err)
		is.Equal([2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}, before)
		_, err = d.owner(nodeB).Disable(t.Context(), api.Principal{User: "bob", Node: nodeB}, link)
		is.True(errors.Is(err, api.ReasonRDMANothingToUndo))
		is.Equal(len(d.owner(nodeA).History(nil)), 2)
		is.Equal(d.owner(nodeA).History(nil)[1].State, api.RDMAChangeUndone) // with its end
	})
}

// A node that has no end of the cable leads as well.
func TestThirdNodeLeads(t *testing.T) {
	bubble(t, []api.NodeID{nodeA, nodeB, nodeC}, func(t *testing.T, d *table) {
		is := is.New(t)
		by := api.Principal{User: "carl", Node: nodeC}
		done, err := d.owner(nodeC).Enable(t.Context(), by, cable(nodeA, 1, nodeB, 1), false, nil)
		is.NoErr(err)
		is.Equal(done[1].By, by)
		// A network that is in use at one end only is passed over at both.
		done, err = d.owner(nodeC).Enable(t.Context(), by, cable(nodeB, 2, nodeC, 1), false, nil)
		is.NoErr(err)
		is.Equal(done[0].Address, netip.MustParsePrefix("169.254.1.5/30"))
		done, err = d.owner(nodeC).Enable(t.Context(), by, cable(nodeA, 2, nodeC, 2), false, nil)
		is.NoErr(err)
		is.Equal(done[0].Address, netip.MustParsePrefix("169.254.1.9/30"))
	})
}

// Each end refuses for itself, whoever asks, and then nothing is changed at either.
func TestRefusals(t *testing.T) {
	refusals := map[string]struct {
		set  func(*host)
		want api.Reason
	}{
		"policy":     {func(h *host) { h.refuses = api.ReasonRDMAChangesRefused }, api.ReasonRDMAChangesRefused},
		"hardware":   {func(h *host) { h.check = api.NewError(api.ReasonNotThunderbolt5, "port") }, api.ReasonNotThunderbolt5},
		"job":        {func(h *host) { h.busy = api.NewError(api.ReasonLinkBusy, "job") }, api.ReasonLinkBusy},
		"disk":       {func(h *host) { h.full = true }, api.ReasonDiskFull},
		"no address": {func(h *host) { h.mac.mute = true }, api.ReasonNoAddress},
		"port down":  {func(h *host) { h.mac.unresponsive = true }, api.ReasonRDMAPortDown},
		"locked":     {func(h *host) { h.mac.stale = 1 << 20 }, api.ReasonDeadline},
	}
	for name, tt := range refusals {
		for _, at := range pair {
			t.Run(name+" at "+string(at), func(t *testing.T) {
				bubble(t, pair, func(t *testing.T, d *table) {
					is := is.New(t)
					before := [2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}
					if name == "policy" && at == nodeA {
						return // its own people may
					}
					tt.set(d.hosts[at])
					link := cable(nodeA, 2, nodeB, 2)
					_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
					is.True(errors.Is(err, tt.want))
					if name == "locked" {
						d.hosts[at].mac.mu.Lock()
						d.hosts[at].mac.stale = 0
						d.hosts[at].mac.mu.Unlock()
					}
					is.Equal([2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}, before)
					for _, id := range pair {
						state, _ := d.state(id, link)
						is.Equal(state, api.RDMAChangeState(""))
					}
				})
			})
		}
	}
}

// The test over the cable decides, and its failure is what is told at both ends.
func TestProbeFails(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		before := d.hosts[nodeB].mac.picture()
		d.prove = func(api.LinkID) error { return api.NewError(api.ReasonRDMAProbeFailed, "cable") }
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.True(errors.Is(err, api.ReasonRDMAProbeFailed))
		is.Equal(d.hosts[nodeB].mac.picture(), before)
		reported, _ := d.hosts[nodeB].reported(link)
		is.Equal(reported.State, api.RDMAChangeUndone)
		is.Equal(reported.Reason, api.ReasonRDMAProbeFailed)
		is.Equal(reported.UndoneBy, api.Principal{}) // nobody wanted it

		d.prove = func(api.LinkID) error { return api.NewError(api.ReasonJACCLMissing, "mlx") }
		done, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err) // that nothing can be tested is no fault of the cable
		is.Equal(done[1].State, api.RDMAChangeActive)
		is.Equal(done[1].Reason, api.ReasonJACCLMissing) // and is said
		again, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		is.Equal(again[0].Change, done[0].Change)
	})
}

// Somebody else who writes the configuration at the same time is waited for.
func TestStale(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		before := d.hosts[nodeA].mac.picture()
		d.hosts[nodeA].mac.stale = 7
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		d.hosts[nodeA].mac.mu.Lock()
		d.hosts[nodeA].mac.stale = 7
		d.hosts[nodeA].mac.mu.Unlock()
		_, err = d.owner(nodeA).Disable(t.Context(), ada, link)
		is.NoErr(err)
		is.Equal(d.hosts[nodeA].mac.picture(), before)
	})
}

// One end disappears: the other goes back, and the error names who did not answer.
func TestEndDisappears(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		before := [2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}
		d.prove = func(api.LinkID) error { d.scenario.Cut(nodeA, nodeB); return nil }
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err) // the lower end keeps it, and the other will hear so
		state, _ := d.state(nodeB, link)
		is.Equal(state, api.RDMAChangeProving)
		settle(4 * time.Minute)
		is.Equal(d.hosts[nodeB].mac.picture(), before[1]) // it heard nothing, and went back
		d.scenario.Join(nodeA, nodeB)
		d.hosts[nodeA].receive(d.hosts[nodeB])
		settle(time.Minute)
		is.Equal(d.hosts[nodeA].mac.picture(), before[0]) // and the first with it
		d.prove = nil

		d.scenario.Cut(nodeA, nodeB)
		_, err = d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.True(errors.Is(err, api.ReasonUnreachable))
		is.Equal(api.AsError(err).Data.WaitingFor, string(nodeB[:4])) // on whom it waited
		settle(time.Minute)
		is.Equal(d.hosts[nodeA].mac.picture(), before[0])
		_, err = d.owner(nodeA).Disable(t.Context(), ada, link)
		is.True(err != nil)
		d.scenario.Join(nodeA, nodeB)
	})
}

// Undo is at this end alone where the other cannot be reached, which follows once
// it hears of it.
func TestUndoAlone(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		before := [2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		d.scenario.Cut(nodeA, nodeB)
		_, err = d.owner(nodeA).Disable(t.Context(), ada, link)
		is.True(errors.Is(err, api.ReasonUnreachable)) // not at one end
		state, _ := d.state(nodeA, link)
		is.Equal(state, api.RDMAChangeActive)
		done, err := d.owner(nodeA).Undo(t.Context(), ada, link)
		is.NoErr(err)
		is.Equal(len(done), 1)
		is.Equal(d.hosts[nodeA].mac.picture(), before[0])
		d.scenario.Join(nodeA, nodeB)
		d.hosts[nodeB].receive(d.hosts[nodeA])
		settle(time.Minute)
		is.Equal(d.hosts[nodeB].mac.picture(), before[1])
	})
}

// Who has begun to put a change back does so to the end, whoever goes away meanwhile.
func TestUndoIsNotCalledOff(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		before := [2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}
		for _, undo := range []func(context.Context, api.Principal, api.LinkID) ([]api.NodeRDMAChange, error){d.owner(nodeA).Disable, d.owner(nodeA).Undo} {
			_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
			is.NoErr(err)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			done, err := undo(ctx, ada, link)
			is.NoErr(err)
			is.Equal(len(done), 2)
			is.Equal([2]string{d.hosts[nodeA].mac.picture(), d.hosts[nodeB].mac.picture()}, before)
		}
	})
}

// A moment without a path, as while a change takes the network that the calls go over,
// ends nothing; so long without one does.
func TestAMomentWithoutAPath(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		lead := d.hosts[nodeA]
		for _, do := range []func(context.Context, api.Principal, api.LinkID) ([]api.NodeRDMAChange, error){
			func(ctx context.Context, by api.Principal, link api.LinkID) ([]api.NodeRDMAChange, error) {
				return d.owner(nodeA).Enable(ctx, by, link, false, nil)
			},
			d.owner(nodeA).Disable,
		} {
			lead.mu.Lock()
			lead.pathless = 10
			lead.mu.Unlock()
			done, err := do(t.Context(), ada, link)
			is.NoErr(err)
			is.Equal(len(done), 2)
		}
		lead.mu.Lock()
		lead.pathless = 1000
		lead.mu.Unlock()
		began := time.Now()
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, true, nil)
		is.True(errors.Is(err, api.ReasonUnreachable))
		is.Equal(time.Since(began), reachWithin)
	})
}

// What somebody changed since is left and told; the rest goes back.
func TestThreeWay(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		link := cable(nodeA, 2, nodeB, 2)
		before := d.hosts[nodeA].mac.picture()
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		m := d.hosts[nodeB].mac
		m.mu.Lock()
		m.services[0].Name = "Mine"
		m.mu.Unlock()
		began := time.Now()
		done, err := d.owner(nodeA).Disable(t.Context(), ada, link)
		is.NoErr(err)
		is.True(time.Since(began) < stepWithin) // nobody waits for the address to go, which the service keeps
		is.Equal(done[0].State, api.RDMAChangeUndone)
		is.Equal(done[1].State, api.RDMAChangePartial)
		is.Equal(done[1].Reason, api.ReasonRDMAUndoPartial)
		is.True(strings.Contains(done[1].Message, "Mine: manual 169.254.1.2/30"))
		is.Equal(d.hosts[nodeA].mac.picture(), before)
		_, raised := d.hosts[nodeB].condition(api.ReasonRDMAUndoPartial)
		is.True(raised)

		m.mu.Lock()
		m.services = nil // the person removes it
		delete(m.address, "en2")
		m.mu.Unlock()
		done, err = d.owner(nodeA).Undo(t.Context(), ada, link)
		is.NoErr(err)
		is.Equal(len(done), 1)
		is.Equal(done[0].State, api.RDMAChangeUndone)
		is.Equal(m.picture(), before) // now the bridge too
		_, raised = d.hosts[nodeB].condition(api.ReasonRDMAUndoPartial)
		is.True(!raised)
	})
}

// A service of somebody's is in the way, and is not touched.
func TestServiceInWay(t *testing.T) {
	bubble(t, pair, func(t *testing.T, d *table) {
		is := is.New(t)
		m := d.hosts[nodeB].mac
		m.members["bridge0"] = []string{"en1", "en3"}
		link := cable(nodeA, 2, nodeB, 2)
		_, err := d.owner(nodeA).Enable(t.Context(), ada, link, false, nil)
		is.NoErr(err)
		_, err = d.owner(nodeA).Undo(t.Context(), ada, link)
		is.NoErr(err)
		m.mu.Lock()
		m.services = append(m.services, serviceTo(serviceOf("en2")))
		m.mu.Unlock()
		before := m.picture()
		_, err = d.owner(nodeA).Enable(context.Background(), ada, link, false, nil)
		is.True(errors.Is(err, api.ReasonRDMAServiceInWay))
		is.Equal(m.picture(), before)
	})
}
