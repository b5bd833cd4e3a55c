package rdma

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
)

func serviceOf(iface string) change.Service {
	return change.Service{ID: "theirs", Name: "Theirs", Interface: iface, Enabled: true, IPv4: change.Manual}
}

// deaths are ways for a daemon to be away in the midst of a change.
var deaths = map[string]func(*table, *host){
	"killed, back after a second": func(d *table, h *host) {
		h.currentLife().die()
		time.AfterFunc(time.Second, func() { h.again() })
	},
	"killed, back after ten minutes": func(d *table, h *host) {
		h.currentLife().die()
		time.AfterFunc(10*time.Minute, func() { h.again() })
	},
	"cut off for half a minute": func(d *table, h *host) {
		d.scenario.Cut(nodeA, nodeB)
		time.AfterFunc(30*time.Second, d.join)
	},
	"cut off for ten minutes": func(d *table, h *host) {
		d.scenario.Cut(nodeA, nodeB)
		time.AfterFunc(10*time.Minute, d.join)
	},
}

func (d *table) join() {
	d.scenario.Join(nodeA, nodeB)
	d.hosts[nodeA].receive(d.hosts[nodeB])
	d.hosts[nodeB].receive(d.hosts[nodeA])
}

func (h *host) currentLife() *life {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.life
}

func (h *host) again() {
	h.kill()
	h.boot()
}

// Whoever dies at whatever moment of a change, and whichever end leads: in the end
// both Macs are changed, or both are as they were, with nothing left of it.
func TestDeathAtEveryStep(t *testing.T) {
	link := cable(nodeA, 2, nodeB, 2)
	runs, apart := 0, 1
	if testing.Short() {
		apart = 5
	}
	for way, death := range deaths {
		for _, victim := range pair {
			if strings.HasPrefix(way, "cut off") && victim == nodeB {
				continue // to be cut off is mutual
			}
			for _, leader := range pair {
				if leader == nodeB && way != "killed, back after a second" {
					continue // who leads matters to who lives
				}
				for _, undo := range []bool{false, true} {
					for at := 1; ; at += apart {
						touched, outcome := oneDeath(t, newTable, link, leader, victim, undo, at, death)
						if outcome != "" {
							t.Fatalf("%s %s at touch %d, %s leading, undo %v: %s", victim, way, at, leader, undo, outcome)
						}
						runs++
						if touched < at {
							break
						}
					}
				}
			}
		}
	}
	t.Logf("%d deaths", runs)
	if runs*apart < 300 {
		t.Fatalf("only %d deaths: a change touches more than that", runs)
	}
}

// oneDeath has somebody die at one touch, and says what is wrong in the end.
func oneDeath(t *testing.T, lay func(testing.TB, ...api.NodeID) *table, link api.LinkID, leader, victim api.NodeID, undo bool, at int, death func(*table, *host)) (touched int, wrong string) {
	synctest.Test(t, func(t *testing.T) {
		d := lay(t, pair...)
		defer d.close()
		before := [2]string{d.hosts[nodeA].machine.picture(), d.hosts[nodeB].machine.picture()}
		by := api.Principal{User: "ada", Node: leader}
		if undo {
			if _, err := d.owner(leader).Enable(t.Context(), by, link, false, nil); err != nil {
				t.Fatal(err)
			}
		}
		d.mu.Lock()
		d.ticks, d.fatal, d.dies, d.death = 0, at, victim, func(h *host) { death(d, h) }
		d.mu.Unlock()
		first := d.owner(leader)
		go func() {
			if undo {
				first.Disable(t.Context(), by, link)
			} else {
				first.Enable(t.Context(), by, link, false, nil)
			}
		}()
		settle(20 * time.Minute)
		d.mu.Lock()
		touched = d.ticks
		d.fatal = 0
		d.mu.Unlock()
		if wrong = d.halfDone(link, before); wrong != "" {
			return
		}
		// And nothing is stuck: what was wanted works now, and back again.
		if _, err := d.owner(leader).Enable(t.Context(), by, link, false, nil); err != nil {
			wrong = "it cannot be enabled afterwards: " + err.Error()
			return
		}
		if _, err := d.owner(leader).Disable(t.Context(), by, link); err != nil {
			wrong = "it cannot be disabled afterwards: " + err.Error()
			return
		}
		now := [2]string{d.hosts[nodeA].machine.picture(), d.hosts[nodeB].machine.picture()}
		if now != before {
			wrong = fmt.Sprintf("not as it was: %v", now)
		}
	})
	return touched, wrong
}

// halfDone says what is neither all nor nothing; empty where it is one of the two.
func (d *table) halfDone(link api.LinkID, before [2]string) string {
	stateA, changeA := d.state(nodeA, link)
	stateB, changeB := d.state(nodeB, link)
	now := [2]string{d.hosts[nodeA].machine.picture(), d.hosts[nodeB].machine.picture()}
	switch {
	case stateA == "" && stateB == "" && now == before:
		return ""
	case stateA == api.RDMAChangeActive && stateB == api.RDMAChangeActive && changeA == changeB && now[0] != before[0] && now[1] != before[1]:
		return ""
	}
	return fmt.Sprintf("%s is %q and %s is %q; %v", nodeA, stateA, nodeB, stateB, now)
}
