package readiness

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestRefusal: RDMA is enabled where it is or can be, and both ports and the speed are
// known; else the first cause is told, with those that enabling does not mend.
func TestRefusal(t *testing.T) {
	known := []api.RDMACheck{{Check: api.CheckPortTB5, Answer: api.AnswerYes}, {Check: api.CheckSpeed, Answer: api.AnswerYes}}
	for _, verdict := range []api.RDMAVerdict{api.RDMAReady, api.RDMACanEnable, api.RDMANeedsPerson, api.RDMACannot, api.RDMAUnknown} {
		is := is.New(t)
		report := Report{RDMAReadiness: api.RDMAReadiness{Verdict: verdict, Text: "No.", Checks: known}}
		refused := Refusal(report)
		if verdict == api.RDMAReady || verdict == api.RDMACanEnable {
			is.True(refused == nil)
		} else {
			is.True(refused.Is(api.ReasonRDMANotReady))
			is.Equal(refused.Message, "No.")
		}
		for i := range known {
			checks := append([]api.RDMACheck(nil), known...)
			checks[i].Answer = api.AnswerUnknown
			report.Checks = checks
			is.True(Refusal(report).Is(api.ReasonRDMANotReady))
		}
	}
	is := is.New(t)
	refused := Refusal(Report{
		RDMAReadiness: api.RDMAReadiness{Verdict: api.RDMACannot, Checks: known},
		Causes: []api.Cause{
			{Reason: api.ReasonRDMASwitchOff, Subject: "port 1", Message: "port 1 is Thunderbolt 4", Remedy: "Use another port."},
			{Reason: api.ReasonNoAddress}, {Reason: api.ReasonRDMABuildsDiffer},
		},
	})
	is.True(refused.Is(api.ReasonRDMASwitchOff))
	is.Equal(refused.Message, "RDMA cannot be enabled: port 1 is Thunderbolt 4.")
	is.Equal(refused.Data.Remedy, "Use another port.")
	is.Equal(len(refused.Data.Causes), 1)
	is.Equal(refused.Data.Causes[0].Reason, api.ReasonRDMABuildsDiffer)

	inWay := pair() // what a change would refuse is refused before, whatever enabling mends
	bridged(inWay.Low)
	inWay.High.Network.Interfaces[1].Service = &api.NetworkService{Name: "By hand", Active: true}
	is.True(Refusal(Of(inWay)).Is(api.ReasonRDMAServiceInWay))
}

func TestConcernsAreOfOwnEnds(t *testing.T) {
	for _, s := range []struct {
		name      string
		change    func(c *Cable)
		low, high []api.Reason
	}{
		{"ready", func(*Cable) {}, nil, nil},
		{"on at one side", func(c *Cable) { off(c, c.High) }, nil, []api.Reason{api.ReasonRDMAOneSided}},
		{"off at both", func(c *Cable) { off(c, c.Low); off(c, c.High) }, nil, nil},
		{"not restarted", func(c *Cable) { off(c, c.Low); notRestarted(c.Low) }, []api.Reason{api.ReasonRDMAOneSided}, nil},
		{"a device that is not told", func(c *Cable) {
			c.Low.RDMA.Device, c.Low.RDMAUnknown = nil, map[string]api.Reason{"device": api.ReasonReadFailed}
		}, nil, nil},
		{"builds differ", func(c *Cable) { c.High.Identity.OSBuild = "25C61" }, []api.Reason{api.ReasonRDMABuildsDiffer}, nil},
		{"builds differ on Thunderbolt 4", func(c *Cable) { tb4(c, c.High); c.High.Identity.OSBuild = "25C61" }, nil, nil},
		{"muted", func(c *Cable) { off(c, c.High); c.Muted = true }, nil, nil},
		{"an end is away", func(c *Cable) { off(c, c.High); c.Low.Stale = true }, nil, nil},
		{"no address, and nobody gave one", func(c *Cable) { bridged(c.High) }, nil, nil},
		{"our address is lost", func(c *Cable) { bridged(c.High); c.High.Change = &api.RDMAChange{State: api.RDMAChangeActive} }, nil, []api.Reason{api.ReasonRDMANoIPv4GID}},
		{"without Fulmen", func(c *Cable) { alone(c, "Guest") }, nil, nil},
	} {
		t.Run(s.name, func(t *testing.T) {
			is := is.New(t)
			c := pair()
			s.change(&c)
			for node, want := range map[api.NodeID][]api.Reason{studio1: s.low, studio2: s.high} {
				var got []api.Reason
				for _, cause := range Concerns(node, []Cable{c}, []Report{Of(c)}) {
					is.True(cause.Message != "")
					end, err := api.ParseLinkEnd(cause.Subject)
					is.NoErr(err)
					is.Equal(end.Node, node)
					got = append(got, cause.Reason)
				}
				is.Equal(got, want)
			}
		})
	}
}
