package change

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A record is whole, or what is wrong with it is said.
func TestCheck(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"it has no id": func(r *Record) { r.Change = "" }, "its end is none of its cable": func(r *Record) { r.End.PortNumber = 9 },
		`there is no state "lost"`: func(r *Record) { r.State = "lost" }, "it has no interface": func(r *Record) { r.Interface = "" },
		`step 1: it is about "en3"`:                   func(r *Record) { r.Steps[0].Interface = "en3" },
		`step 2: there is no state "lost"`:            func(r *Record) { r.Steps[1].State = "lost" },
		`step 1: a step "bridge" has something else`:  func(r *Record) { r.Steps[0].Bridge = "" },
		`step 2: a step "service" has something else`: func(r *Record) { r.Steps[1].Service = nil },
		`step 1: a step "paint" has something else`:   func(r *Record) { r.Steps[0].What = "paint" },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := planned(t, bridged())
			is.NoErr(r.Check())
			change(&r)
			err := r.Check()
			is.True(err != nil)
			is.Equal(err.Error(), name)
		})
	}
	for name, change := range map[string]func(*Record){
		"no cable":                       func(r *Record) { r.Link = api.LinkID{}; r.End = api.LinkEnd{} },
		"a bridge step with a service":   func(r *Record) { r.Steps[0].Service = r.Steps[1].Service },
		"a service step with a bridge":   func(r *Record) { r.Steps[1].Bridge = "bridge0" },
		"a service of another interface": func(r *Record) { r.Steps[1].Service.Interface = "en3" },
		"a service without an address":   func(r *Record) { r.Steps[1].Service.Addresses = nil },
		"a service with two addresses":   func(r *Record) { r.Steps[1].Service.Addresses = slices.Repeat(r.Steps[1].Service.Addresses, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := planned(t, bridged())
			change(&r)
			is.True(r.Check() != nil)
		})
	}
	is := is.New(t)
	r := planned(t, bridged())
	r.End = two
	is.NoErr(r.Check()) // the other end
	is.Equal(r.Other(), one)
	r.End = one
	is.Equal(r.Other(), two)
}

// Any events in any order: a record says since when it is as it is, and who put it
// back; what is undone is undone in each step, and what is left is named.
func TestNextKeepsItsRules(t *testing.T) {
	ada, bob := api.Principal{User: "ada", Node: one.Node}, api.Principal{User: "bob", Node: two.Node}
	cause := api.Cause{Reason: api.ReasonRDMAPortDown, Message: "down"}
	events := []Event{Apply{}, Made{Step: 0}, Made{Step: 1, Service: service("7")}, Failed{cause}, Verified{}, Commit{}, Commit{cause}, Rollback{By: ada}, Rollback{Cause: cause},
		PeerChange{State: api.RDMAChangeActive}, PeerChange{State: api.RDMAChangeUndoing, By: bob}, PeerChange{State: api.RDMAChangePartial, Cause: cause}, Overdue{}, Restarted{},
		PutBack{Step: 0, Outcome: Ours}, PutBack{Step: 1, Outcome: Before}, PutBack{Step: 0, Outcome: Changed, Found: "zero"}, PutBack{Step: 1, Outcome: Changed, Found: "one"}, Remade{Step: 1, Service: service("8")}}
	seen := map[string]bool{}
	var walk func(r Record, depth int)
	walk = func(r Record, depth int) {
		key := asText(r)
		if seen[key] || depth > 7 || t.Failed() {
			return
		}
		seen[key] = true
		for i, e := range events {
			at := api.TimeOf(time.Unix(int64(depth)+1, 0))
			next, effects := Next(r, at, e)
			wrong := func(what string) { t.Errorf("%T %d of %s gives %s: %s", e, i, key, asText(next), what) }
			if (next.State == r.State) != (next.Since == r.Since) && r.Since != at {
				wrong("since")
			}
			left := next.Left()
			switch next.State {
			case api.RDMAChangeUndone:
				if len(left) > 0 {
					wrong("steps are left")
				}
			case api.RDMAChangePartial:
				if len(left) == 0 || next.Reason != api.ReasonRDMAUndoPartial {
					wrong("nothing is left")
				}
			}
			for _, effect := range effects {
				switch effect := effect.(type) {
				case Make:
					if next.State != api.RDMAChangeApplying || next.Steps[effect.Step].State != api.RDMAStepPlanned {
						wrong("makes what is made")
					}
				case Undo:
					above := slices.ContainsFunc(next.Steps[effect.Step+1:], func(s Step) bool { return s.State == api.RDMAStepPlanned || s.State == api.RDMAStepDone })
					if next.State != api.RDMAChangeUndoing || next.Steps[effect.Step].State == api.RDMAStepUndone || above {
						wrong("undoes what is undone")
					}
				}
			}
			if len(effects) == 0 && asText(next) != key {
				wrong("changes in silence")
			}
			walk(next, depth+1)
		}
	}
	walk(planned(t, bridged()), 0)
	if len(seen) < 100 {
		t.Errorf("only %d records", len(seen))
	}
}

// What stays noted at the end of each way.
func TestWhatIsNoted(t *testing.T) {
	ada := api.Principal{User: "ada", Node: one.Node}
	cause := api.Cause{Reason: api.ReasonRDMAPortDown, Message: "down"}
	restarted := api.Cause{Reason: api.ReasonRDMAChangeFailed, Message: "the daemon was restarted while it was made"}
	doubt := api.Cause{Reason: api.ReasonRDMAChangeFailed, Message: "nobody said within 3m0s that the other end is changed too"}
	unused := api.Cause{Reason: api.ReasonRDMAChangeFailed, Message: "nobody began what was planned"}
	made := []Event{Apply{}, Made{Step: 0}, Made{Step: 1, Service: service("7")}}
	proving := append(slices.Clone(made), Verified{})
	back := []Event{PutBack{Step: 1, Outcome: Ours}, PutBack{Step: 0, Outcome: Ours}}
	for name, c := range map[string]struct {
		events []Event
		state  api.RDMAChangeState
		by     api.Principal
		cause  api.Cause
		steps  string
	}{
		"nobody began it":                   {[]Event{Overdue{}}, api.RDMAChangeUndone, api.Principal{}, unused, "undone undone"},
		"restarted before it began":         {[]Event{Restarted{}}, api.RDMAChangeUndone, api.Principal{}, unused, "undone undone"},
		"taken back before":                 {[]Event{Rollback{By: ada}}, api.RDMAChangeUndone, ada, api.Cause{}, "undone undone"},
		"the other end took it back before": {[]Event{PeerChange{State: api.RDMAChangeUndone, By: ada, Cause: cause}}, api.RDMAChangeUndone, ada, cause, "undone undone"},
		"failed before":                     {[]Event{Failed{cause}}, api.RDMAChangeUndone, api.Principal{}, cause, "undone undone"},
		"made":                              {made, api.RDMAChangeApplying, api.Principal{}, api.Cause{}, "done done"},
		"kept":                              {append(slices.Clone(proving), Commit{}), api.RDMAChangeActive, api.Principal{}, api.Cause{}, "done done"},
		"kept, untested":                    {append(slices.Clone(proving), Commit{cause}), api.RDMAChangeActive, api.Principal{}, cause, "done done"},
		"kept by the other end":             {append(slices.Clone(proving), PeerChange{State: api.RDMAChangeActive}), api.RDMAChangeActive, api.Principal{}, api.Cause{}, "done done"},
		"restarted while it was made":       {slices.Concat([]Event{Apply{}, Made{Step: 0}, Restarted{}}, back), api.RDMAChangeUndone, api.Principal{}, restarted, "undone undone"},
		"in doubt":                          {slices.Concat(proving, []Event{Restarted{}, Overdue{}}, back), api.RDMAChangeUndone, api.Principal{}, doubt, "undone undone"},
		"put back there":                    {slices.Concat(proving, []Event{PeerChange{State: api.RDMAChangePartial, By: ada}}, back), api.RDMAChangeUndone, ada, api.Cause{}, "undone undone"},
		"two are left": {slices.Concat(proving, []Event{Rollback{By: ada}, PutBack{Step: 1, Outcome: Changed, Found: "one"}, PutBack{Step: 0, Outcome: Changed, Found: "zero"}}),
			api.RDMAChangePartial, ada, api.Cause{Reason: api.ReasonRDMAUndoPartial, Message: "zero; one"}, "left left"},
		"failed, and one is left": {slices.Concat(made, []Event{Failed{cause}, PutBack{Step: 1, Outcome: Ours}, PutBack{Step: 0, Outcome: Changed, Found: "zero"}}),
			api.RDMAChangePartial, api.Principal{}, api.Cause{Reason: api.ReasonRDMAUndoPartial, Message: "zero"}, "left undone"},
		"one is left, and then put back": {slices.Concat(proving, []Event{Rollback{By: ada}, PutBack{Step: 1, Outcome: Changed, Found: "one"}, PutBack{Step: 0, Outcome: Before}, Rollback{By: ada}, PutBack{Step: 1, Outcome: Ours}}),
			api.RDMAChangeUndone, ada, api.Cause{}, "undone undone"},
		"restarted while it was put back": {slices.Concat(proving, []Event{Rollback{By: ada}, PutBack{Step: 1, Outcome: Ours}, Restarted{}, PutBack{Step: 0, Outcome: Ours}}),
			api.RDMAChangeUndone, ada, api.Cause{}, "undone undone"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := planned(t, bridged())
			for _, e := range c.events {
				r, _ = Next(r, api.Time{}, e)
			}
			is.Equal(r.State, c.state)
			is.Equal(r.UndoneBy, c.by)
			is.Equal(api.Cause{Reason: r.Reason, Message: r.Message}, c.cause)
			is.Equal(fmt.Sprintf("%s %s", r.Steps[0].State, r.Steps[1].State), c.steps)
			view := r.View()
			is.Equal(view.Reason, c.cause.Reason)
			for i, s := range r.Steps {
				is.Equal(view.Steps[i].Found != nil, s.Found != "")
			}
			if r.State == api.RDMAChangeActive {
				is.Equal(r.Steps[1].Service.ID, "7")
			}
		})
	}
	is := is.New(t)
	r := planned(t, bridged())
	r.State = api.RDMAChangeUndoing
	for i := range r.Steps {
		r.Steps[i].State = api.RDMAStepUndone
	}
	r, effects := Next(r, api.Time{}, Restarted{}) // nothing was left to be put back
	is.Equal(r.State, api.RDMAChangeUndone)
	is.Equal(fmt.Sprint(effects), "[{}]")
}

// What is inherited from an earlier change is made already, and stays to be put back.
func TestInherited(t *testing.T) {
	is := is.New(t)
	earlier := planned(t, bridged())
	earlier.Steps[0].State, earlier.Steps[0].Found = api.RDMAStepLeft, "an address"
	earlier.Steps[1].State = api.RDMAStepLeft
	elsewhere := earlier.Steps[0]
	elsewhere.Interface = "en9"
	over := earlier.Steps[0]
	over.Bridge, over.State = "bridge1", api.RDMAStepUndone
	earlier.Steps = append(earlier.Steps, elsewhere, over)
	free := bridged()
	free.Bridges = nil
	a := asked()
	a.Before = &earlier
	r, err := Plan(free, a)
	is.NoErr(err)
	is.Equal(len(r.Steps), 2) // neither the service, nor another interface's, nor what was put back
	is.Equal(r.Steps[0].Found, "")
	next, effects := Next(r, api.Time{}, Apply{})
	is.Equal(fmt.Sprint(effects), "[{} {1}]") // the bridge is left already
	is.Equal(next.Steps[0].State, api.RDMAStepDone)
	dropped, _ := Next(r, api.Time{}, Overdue{})
	is.Equal(dropped.State, api.RDMAChangePartial)
	is.Equal(dropped.Reason, api.ReasonRDMAUndoPartial)
	is.Equal([]api.RDMAStepState{dropped.Steps[0].State, dropped.Steps[1].State}, []api.RDMAStepState{api.RDMAStepLeft, api.RDMAStepUndone})
	again, err := Plan(bridged(), a) // it is in the bridge again
	is.NoErr(err)
	is.Equal(again.Steps[0].State, api.RDMAStepPlanned)
	is.Equal(len(again.Steps), 2)
}

// Whether a change is in force, and what stands against it.
func TestWhatIsNotInForce(t *testing.T) {
	r := planned(t, bridged())
	r.Steps[1].Service.ID = "7"
	renamed := service("7")
	renamed.Name = "Mine"
	out := []Membership{{Bridge: "bridge0"}}
	for _, c := range []struct {
		found Found
		want  string
	}{
		{Found{Interface: "en2", Present: true, Bridges: out, Services: []Service{service("7")}}, ""},
		{Found{Interface: "en2", Bridges: out, Services: []Service{service("7")}}, ""},
		{Found{Interface: "en2", Present: true, Bridges: []Membership{{Bridge: "bridge0", Kernel: true}}, Services: []Service{service("7")}}, "en2 is partly in the bridge bridge0"},
		{Found{Interface: "en2", Present: true, Bridges: []Membership{{Bridge: "bridge0", Kernel: true, Stored: true}}, Services: []Service{service("7")}}, "en2 is in the bridge bridge0 again"},
		{Found{Interface: "en2", Present: true, Bridges: []Membership{{Bridge: "bridge1", Stored: true}}, Services: []Service{service("7")}}, "en2 belongs to the bridge bridge1"},
		{Found{Interface: "en2", Present: true, Bridges: out}, `the network service "Fulmen Thunderbolt 2" is gone`},
		{Found{Interface: "en2", Present: true, Bridges: out, Services: []Service{renamed}}, "Mine: manual 169.254.1.1/30"},
	} {
		is := is.New(t)
		in, reports := r.InForce(c.found)
		is.Equal(reports, c.want)
		is.Equal(in, c.want == "")
	}
}

// The addresses of cables, from the first network to the last.
func TestCableAddresses(t *testing.T) {
	is := is.New(t)
	for address, low := range map[string][2]bool{
		"169.254.1.1/30": {true, false}, "169.254.1.2/30": {false, true}, "169.254.254.253/30": {true, false}, "169.254.254.254/30": {false, true},
		"169.254.1.3/30": {}, "169.254.1.0/30": {}, "169.254.0.253/30": {}, "169.254.255.1/30": {}, "169.254.1.1/29": {}, "10.0.0.1/30": {}, "fe80::1/30": {},
	} {
		is.Equal(IsCable(netip.MustParsePrefix(address), true), low[0])
		is.Equal(IsCable(netip.MustParsePrefix(address), false), low[1])
	}
	is.True(!IsCable(netip.Prefix{}, true))
	is.Equal(Mate(prefix("169.254.1.1/30")), prefix("169.254.1.2/30"))
	is.Equal(Mate(prefix("169.254.1.6/30")), prefix("169.254.1.5/30"))
	own, free := FirstFree(netip.Prefix{}, true, []netip.Prefix{prefix("169.254.1.1/15")}) // an address in a wide network takes itself alone
	is.True(free)
	is.Equal(own, prefix("169.254.1.5/30"))
	own, free = FirstFree(netip.Prefix{}, true, []netip.Prefix{prefix("169.254.1.9/17")})
	is.True(free)
	is.Equal(own, prefix("169.254.128.1/30"))
}

// A service, and a step, as people read them.
func TestStepsInWords(t *testing.T) {
	is := is.New(t)
	s := service("7")
	s.Addresses, s.Enabled = append(s.Addresses, prefix("10.0.0.1/8")), false
	is.Equal(s.String(), "Fulmen Thunderbolt 2: manual 169.254.1.1/30 10.0.0.1/8, switched off")
	r := planned(t, Found{Interface: "en2", Present: true, Bridges: []Membership{{Bridge: "bridge7", Stored: true}, {Bridge: "bridge0", Kernel: true}, {Bridge: "bridge1"}}})
	is.Equal(len(r.Steps), 3)
	is.Equal(r.Steps[0].view().Text, "Take en2 out of the bridge bridge7.")
	is.Equal(r.Steps[1].view().Text, "Take en2 out of the Thunderbolt Bridge (bridge0).")
	is.Equal(*r.Steps[0].view().Before, "member")
	is.Equal(*r.Steps[2].view().After, "Fulmen Thunderbolt 2: manual 169.254.1.1/30")
	is.True(r.Steps[0].view().After == nil && r.Steps[2].view().Before == nil)
	for _, state := range api.RDMAChangeState("").Values() {
		r.State = api.RDMAChangeState(state)
		is.Equal(r.Running(), slices.Contains([]string{"planned", "applying", "proving", "undoing"}, state))
	}
	for _, other := range []func(*Service){
		func(s *Service) { s.Name = "x" }, func(s *Service) { s.Interface = "en9" }, func(s *Service) { s.Enabled = false }, func(s *Service) { s.IPv4 = "dhcp" }, func(s *Service) { s.Addresses = nil },
	} {
		o := service("9")
		is.True(service("7").same(o)) // whatever they are called
		other(&o)
		is.True(!service("7").same(o))
	}
}
