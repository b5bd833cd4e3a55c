package change

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var (
	one  = api.LinkEnd{Node: "axwfk1even66ca3j", PortNumber: 2}
	two  = api.LinkEnd{Node: "csm7nbfrcayqev4e", PortNumber: 3}
	link = api.LinkID{Low: one, High: two}
)

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// bridged is a Mac as it comes.
func bridged() Found {
	return Found{Interface: "en2", Present: true, Bridges: []Membership{{Bridge: "bridge0", Kernel: true, Stored: true}, {Bridge: "bridge1"}}}
}

func asked() Asked {
	return Asked{Record: Record{Change: "c1", Link: link, End: one, By: api.Principal{User: "eve", Node: two.Node}}}
}

func planned(t *testing.T, f Found) Record {
	t.Helper()
	r, err := Plan(f, asked())
	is.New(t).NoErr(err)
	return r
}

// service is what a plan makes of bridged.
func service(id string) Service {
	return Service{ID: id, Name: "Fulmen Thunderbolt 2", Interface: "en2", Enabled: true, IPv4: Manual, Addresses: []netip.Prefix{prefix("169.254.1.1/30")}}
}

func TestStepOutcome(t *testing.T) {
	renamed := service("7")
	renamed.Name = "Mine"
	off := service("7")
	off.Enabled = false
	moved := service("7")
	moved.Addresses = []netip.Prefix{prefix("10.0.0.1/24")}
	for name, c := range map[string]struct {
		at      int    // of the step: 0 the bridge, 1 the service
		id      string // that was noted
		found   Found
		want    Outcome
		reports string
	}{
		"still out":             {0, "", Found{Interface: "en2", Present: true, Bridges: []Membership{{Bridge: "bridge0"}}}, Ours, ""},
		"in again":              {0, "", bridged(), Before, ""},
		"in the kernel alone":   {0, "", Found{Interface: "en2", Present: true, Bridges: []Membership{{Bridge: "bridge0", Kernel: true}}}, Ours, ""},
		"in another bridge":     {0, "", Found{Interface: "en2", Present: true, Bridges: []Membership{{Bridge: "bridge0"}, {Bridge: "bridge1", Stored: true}}}, Changed, "en2 belongs to the bridge bridge1"},
		"no bridge":             {0, "", Found{Interface: "en2", Present: true}, Changed, "there is no bridge bridge0"},
		"no interface":          {0, "", Found{Interface: "en2", Bridges: []Membership{{Bridge: "bridge0"}}}, Changed, "there is no interface en2"},
		"as made":               {1, "7", Found{Services: []Service{service("7")}}, Ours, ""},
		"gone":                  {1, "7", Found{}, Before, ""},
		"gone, another's there": {1, "7", Found{Services: []Service{service("8")}}, Before, ""},
		"renamed":               {1, "7", Found{Services: []Service{renamed}}, Changed, "Mine: manual 169.254.1.1/30"},
		"switched off":          {1, "7", Found{Services: []Service{off}}, Changed, "Fulmen Thunderbolt 2: manual 169.254.1.1/30, switched off"},
		"another address":       {1, "7", Found{Services: []Service{moved}}, Changed, "Fulmen Thunderbolt 2: manual 10.0.0.1/24"},
		"made and not noted":    {1, "", Found{Services: []Service{moved, service("9")}}, Ours, ""},
		"not made":              {1, "", Found{Services: []Service{moved}}, Before, ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			step := planned(t, bridged()).Steps[c.at]
			if step.Service != nil {
				step.Service.ID = c.id
			}
			outcome, reports, own := step.Outcome(c.found)
			is.Equal(outcome, c.want)
			is.Equal(reports, c.reports)
			if outcome == Ours && step.Service != nil {
				is.True(own.ID != "") // which one to delete
			}
		})
	}
}

func TestInForce(t *testing.T) {
	is := is.New(t)
	r := planned(t, bridged())
	r.Steps[1].Service.ID = "7"
	f := Found{Interface: "en2", Present: true, Bridges: []Membership{{Bridge: "bridge0"}}, Services: []Service{service("7")}}
	in, _ := r.InForce(f)
	is.True(in)
	for _, change := range []func(*Found){
		func(f *Found) { f.Bridges = []Membership{{Bridge: "bridge0", Stored: true}} },
		func(f *Found) { f.Bridges = []Membership{{Bridge: "bridge0", Stored: true, Kernel: true}} },
		func(f *Found) { f.Bridges = []Membership{{Bridge: "bridge0"}, {Bridge: "bridge1", Kernel: true}} },
		func(f *Found) { f.Services = nil },
		func(f *Found) { f.Services[0].Name = "Mine" },
	} {
		other := f
		other.Services = []Service{service("7")}
		change(&other)
		in, reports := r.InForce(other)
		is.True(!in)
		is.True(reports != "")
	}
	in, _ = r.InForce(Found{Interface: "en2", Present: true, Services: f.Services}) // that the bridge is gone does no harm
	is.True(in)
}

func TestPlan(t *testing.T) {
	is := is.New(t)
	r := planned(t, bridged())
	is.Equal(len(r.Steps), 2)
	is.Equal(r.Steps[0].Bridge, "bridge0")
	is.Equal(*r.Steps[1].Service, service(""))
	is.Equal(r.Address, prefix("169.254.1.1/30"))
	is.NoErr(r.Check())

	free := bridged()
	free.Bridges = nil
	is.Equal(len(planned(t, free).Steps), 1)

	// What an earlier change could not put back is inherited.
	a := asked()
	before := r
	before.Steps = []Step{r.Steps[0]}
	before.Steps[0].State, before.Steps[0].Found = api.RDMAStepLeft, "an address"
	a.Before = &before
	again, err := Plan(free, a)
	is.NoErr(err)
	is.Equal(again.Steps[0].Bridge, "bridge0")
	is.Equal(again.Steps[0].State, api.RDMAStepDone)

	busy := bridged()
	busy.Services = []Service{{ID: "1", Name: "Mine", Interface: "en2", Enabled: true, IPv4: "dhcp"}}
	_, err = Plan(busy, asked())
	is.True(errors.Is(err, api.ReasonRDMAServiceInWay))
	busy.Services[0].Enabled = false
	_, err = Plan(busy, asked())
	is.NoErr(err)
	gone := bridged()
	gone.Present = false
	_, err = Plan(gone, asked())
	is.True(err != nil)
	full := asked()
	full.Taken = []netip.Prefix{prefix("169.254.0.0/17"), prefix("169.254.128.0/17")}
	_, err = Plan(bridged(), full)
	is.True(errors.Is(err, api.ReasonRDMANoFreeNetwork))
}

func TestFirstFree(t *testing.T) {
	for _, c := range []struct {
		wanted string
		low    bool
		taken  []string
		want   string
	}{
		{"", true, nil, "169.254.1.1/30"},
		{"", false, nil, "169.254.1.2/30"},
		{"", true, []string{"169.254.1.2/30"}, "169.254.1.5/30"},
		{"", true, []string{"169.254.1.0/24"}, "169.254.2.1/30"},
		{"", true, []string{"169.254.1.200/16"}, "169.254.1.1/30"}, // self-assigned: that address alone
		{"", true, []string{"169.254.1.2/16"}, "169.254.1.5/30"},
		{"", true, []string{"10.0.0.0/8", "0.0.0.0/0"}, ""}, // an odd route to everywhere takes all
		{"169.254.9.1/30", true, nil, "169.254.9.1/30"},
		{"169.254.9.1/30", true, []string{"169.254.9.1/30"}, "169.254.9.5/30"},
		{"169.254.9.2/30", true, nil, "169.254.1.1/30"}, // not an address of this end
		{"192.168.1.1/30", true, nil, "169.254.1.1/30"},
		{"169.254.254.253/30", true, nil, "169.254.254.253/30"},
		{"169.254.254.253/30", true, []string{"169.254.254.252/30"}, ""},
	} {
		is := is.New(t)
		var wanted netip.Prefix
		if c.wanted != "" {
			wanted = prefix(c.wanted)
		}
		var taken []netip.Prefix
		for _, s := range c.taken {
			taken = append(taken, prefix(s))
		}
		got, ok := FirstFree(wanted, c.low, taken)
		is.Equal(ok, c.want != "")
		if ok {
			is.Equal(got, prefix(c.want))
			is.Equal(Mate(Mate(got)), got)
			is.True(IsCable(Mate(got), !c.low))
		}
	}
}
