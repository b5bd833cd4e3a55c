package readiness

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// consistent holds a report to what is promised of any: its verdict is what its
// checks say.
func consistent(t *testing.T, r Report) {
	t.Helper()
	count := map[api.Answer]int{} // of checks that are no advice
	hardware, byFulmen, byPerson := 0, 0, 0
	order := -1
	for _, c := range r.Checks {
		place := slices.Index(api.RDMACheckKey("").Values(), string(c.Check))
		if place < order {
			t.Errorf("%s is out of order", c.Check)
		}
		order = place
		if c.Text == "" || !strings.HasSuffix(c.Text, ".") {
			t.Errorf("%s: %q is no sentence", c.Check, c.Text)
		}
		if (c.Answer == api.AnswerYes) != (c.Reason == "") {
			t.Errorf("%s: %s with reason %q", c.Check, c.Answer, c.Reason)
		}
		if c.Answer == api.AnswerYes && c.Remedy != "" {
			t.Errorf("%s: yes, and still %q", c.Check, c.Remedy)
		}
		if c.Advice {
			continue
		}
		count[c.Answer]++
		if c.Answer != api.AnswerNo {
			continue
		}
		switch {
		case c.Reason != api.ReasonRDMAServiceInWay && slices.Contains([]api.RDMACheckKey{api.CheckNoBridge, api.CheckNoLoop, api.CheckIPv4GID}, c.Check):
			if c.Remedy != "" {
				byFulmen++
			}
		default:
			if c.Reason == api.ReasonNotThunderbolt5 || c.Reason == api.ReasonNotSupportedByPlatform {
				hardware++
			} else if c.Remedy != "" {
				byPerson++
			}
		}
	}
	nos, unknowns := count[api.AnswerNo], count[api.AnswerUnknown]
	fine := map[api.RDMAVerdict]bool{
		api.RDMAReady:       nos == 0 && unknowns == 0,
		api.RDMACanEnable:   byFulmen > 0 && nos == byFulmen && unknowns == 0,
		api.RDMANeedsPerson: byPerson > 0 && hardware == 0,
		api.RDMACannot:      hardware > 0,
		api.RDMAUnknown:     unknowns > 0 && byPerson == 0 && hardware == 0,
	}[r.Verdict]
	if !fine {
		t.Errorf("%s with %d no (%d hardware, %d for a person, %d for Fulmen) and %d unknown:\n%+v", r.Verdict, nos, hardware, byPerson, byFulmen, unknowns, r.Checks)
	}
	if (r.Verdict == api.RDMAReady) != (len(r.Causes) == 0) {
		t.Errorf("%s with causes %v", r.Verdict, r.Causes)
	}
	for _, c := range r.Causes {
		if c.Message == "" || c.Subject == "" || c.Reason == "" || strings.HasSuffix(c.Message, ".") {
			t.Errorf("cause %+v", c)
		}
	}
	if !strings.HasSuffix(r.Text, ".") || strings.Contains(r.Text, "..") || strings.Contains(r.Text, ": .") {
		t.Errorf("%q is no sentence", r.Text)
	}
}

// random makes any documents of a cable, by chance alone.
func random(r *rand.Rand) Cable {
	c := Cable{Link: api.LinkID{}, Low: randomEnd(r, studio1, "studio-1"), Down: r.IntN(9) == 0, Simulated: r.IntN(2) == 0}
	c.SpeedUnknown = choose(r, "", api.ReasonReadFailed)
	speeds := []int64{0, 40e9, 80e9, 80e9, 120e9, -1}
	c.ForwardBitsPerS, c.BackwardBitsPerS = choose(r, speeds...), choose(r, speeds...)
	if r.IntN(3) == 0 {
		c.Hubs = []string{"Hub"}
	}
	if r.IntN(5) == 0 {
		c.NonMember, c.PeerName = choose(r, api.ReasonPeerUnknown, api.ReasonSourcesDisagree, ""), choose(r, "", "Guest")
		return c
	}
	c.High = randomEnd(r, studio2, "studio-2")
	c.Link = api.LinkID{Low: c.Low.End, High: c.High.End}
	c.Loop = [][]string{nil, nil, nil, {"studio-1"}, {"studio-1", "studio-2"}, {"a", "b", "c"}}[r.IntN(6)]
	return c
}

func choose[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func randomEnd(r *rand.Rand, node api.NodeID, name string) *End {
	e := end(node, name, api.PortNumber(1+r.IntN(4)), choose(r, "", "back-left"), choose(r, "169.254.1.1/30", "169.254.1.2/30", "169.254.9.9/16"))
	maybe := func() *bool {
		switch r.IntN(12) {
		case 0:
			return nil
		case 1:
			return new(false)
		}
		return new(true)
	}
	rarely := func() bool { return r.IntN(12) == 0 }
	e.BesideEthernet, e.Sees = maybe(), maybe()
	e.Capability = choose(r, "", api.Thunderbolt5, api.Thunderbolt5, api.Thunderbolt5, api.Thunderbolt5, api.Thunderbolt5, api.Thunderbolt4, "tb9")
	e.Stale = rarely()
	if rarely() {
		e.State = &api.NodeState{State: choose(r, api.SelfAsleep, api.SelfRestarting, api.SelfStopping, api.SelfAwake, "new")}
	}
	e.RDMA.HardwareCapable, e.RDMA.OSCapable, e.RDMA.SwitchedOn = maybe(), maybe(), maybe()
	d := e.RDMA.Device
	d.PortState = choose(r, api.RDMAPortActive, api.RDMAPortActive, api.RDMAPortActive, api.RDMAPortActive, api.RDMAPortDown, api.RDMAPortInit, "", "new")
	switch r.IntN(12) {
	case 0:
		d.GIDs = nil
	case 1:
		d.GIDs = d.GIDs[:1]
	case 2:
		d.GIDs = []api.GID{{}}
	}
	if r.IntN(8) == 0 {
		e.RDMA.Device = nil
		e.RDMAUnknown = choose(r, nil, map[string]api.Reason{"device": api.ReasonRDMANoDevice}, map[string]api.Reason{"device": api.ReasonReadFailed})
	}
	i := &e.Network.Interfaces[1]
	i.Bridge, i.BridgeConfigured = choose(r, "", "", "bridge0"), choose(r, "", "", "bridge0")
	if rarely() {
		i.Addresses = []api.InterfaceAddress{{}, {Address: netip.MustParsePrefix("fe80::1/64")}}
	}
	e.Identity.Platform = choose(r, api.PlatformDarwin, api.PlatformDarwin, api.PlatformDarwin, api.PlatformLinux, "")
	e.Identity.OSVersion, e.Identity.OSBuild = choose(r, "26.2", "26.1", "27.0", "", "x"), choose(r, "", "25C56", "26A1")
	e.Identity.BootedAt = at(time.Duration(r.IntN(3)) * time.Hour)
	if rarely() {
		e.Interface = ""
	}
	if rarely() {
		e.Identity = nil
	}
	if rarely() {
		e.Network = nil
	}
	if rarely() {
		e.RDMA = nil
	}
	if rarely() {
		e.Change = &api.RDMAChange{State: choose(r, api.RDMAChangePlanned, api.RDMAChangeActive, api.RDMAChangeUndone, api.RDMAChangeUndoing), Reason: choose(r, "", api.ReasonRDMAChangeFailed)}
	}
	if rarely() {
		e.Profile = &api.LinkProfile{MeasuredAt: choose(r, api.Time{}, at(0))}
		if r.IntN(2) == 0 {
			e.Profile.Failure = &api.MeasureFailure{At: at(time.Duration(r.IntN(3)-1) * time.Hour), Reason: choose(r, api.ReasonRDMAProbeFailed, api.ReasonJobHasNode)}
		}
	}
	return e
}

func TestVerdictIsWhatTheChecksSay(t *testing.T) {
	r := testkit.Fixed(t, 1).Source(1)
	seen := map[api.RDMAVerdict]int{}
	for range 4000 {
		report := Of(random(r))
		seen[report.Verdict]++
		if consistent(t, report); t.Failed() {
			return
		}
	}
	is.New(t).Equal(len(seen), len(api.RDMAVerdict("").Values())) // none is out of reach
}

func TestUserActionsAreOfMacsWhoseSwitchIsInTheWay(t *testing.T) {
	is := is.New(t)
	r := testkit.Fixed(t, 2).Source(1)
	progress, now := ActionsProgress(nil), time.Duration(0)
	for range 2000 {
		c := random(r)
		progress = progress.Next([]Cable{c}, now)
		now += time.Minute
		for _, e := range UserActions([]Cable{c}, progress) {
			is.True(len(e.Steps) > 1 && len(e.Links) == 1)
			if e.Done {
				continue
			}
			own := c.Low
			if e.Node == c.High.End.Node {
				own = c.High
			}
			is.True(isFalse(own.isOn()) || own.device() == nil) // else there is nothing to do
			is.True(slices.ContainsFunc(e.Steps, func(s api.UserActionStep) bool { return !s.Done }))
			is.True(e.EstimateS > 0)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range situations() {
		c := pair()
		s.change(&c)
		text, err := json.Marshal(c)
		if err != nil {
			continue // a cable without an id has no form on the wire
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c Cable
		if json.Unmarshal(text, &c) != nil || c.Low == nil {
			return
		}
		report := Of(c)
		progress := ActionsProgress(nil).Next([]Cable{c}, 0)
		UserActions([]Cable{c}, progress.Next([]Cable{c}, time.Minute))
		if c.High != nil {
			Concerns(c.High.End.Node, []Cable{c}, []Report{report})
		}
	})
}
