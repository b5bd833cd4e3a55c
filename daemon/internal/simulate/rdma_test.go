package simulate

import (
	"encoding/json"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
)

// TestShippedScenariosShowRDMA holds the simulated Macs to the situations that
// they stand for.
func TestShippedScenariosShowRDMA(t *testing.T) {
	type cable struct {
		verdict api.RDMAVerdict
		cause   api.Reason // the first
	}
	for scenario, want := range map[string]map[string]cable{
		"two-studios": {"studio-1:4 studio-2:4": {verdict: api.RDMAReady}},
		"tb4-pair":    {"mini-1:1 mini-2:1": {api.RDMACannot, api.ReasonNotThunderbolt5}},
		"hub-3": {
			"macbook-1:1 macbook-2:1": {verdict: api.RDMAReady}, "macbook-1:2 macbook-3:1": {verdict: api.RDMAReady},
			"macbook-2:2 macbook-3:2": {verdict: api.RDMAReady},
		},
		"mixed": {
			"mini-pro:1 studio:4": {api.RDMANeedsPerson, api.ReasonOSTooOld},
			"mini:1 studio:5":     {api.RDMACannot, api.ReasonNotThunderbolt5},
			"macbook:1 studio:6":  {api.RDMANeedsPerson, api.ReasonRDMANoDevice},
		},
		"unready": {
			"studio-1:4 studio-2:4": {api.RDMACanEnable, api.ReasonInBridge},
			"studio-1:1 studio-2:1": {api.RDMACanEnable, api.ReasonInBridge},
			"studio-1:5 studio-3:5": {api.RDMANeedsPerson, api.ReasonRDMASwitchOff},
			"macbook:1 studio-1:6":  {api.RDMANeedsPerson, api.ReasonRDMASwitchOff},
			"mini-pro:1 studio-1:3": {api.RDMANeedsPerson, api.ReasonLinkTooSlow},
		},
	} {
		t.Run(scenario, func(t *testing.T) {
			is := is.New(t)
			drawing := drawn(t, scenario)
			names := map[api.NodeID]string{}
			for name, node := range drawing.names {
				names[node] = name
			}
			got := map[string]cable{}
			for _, report := range drawing.graph.Readiness() {
				is.True(report.Simulated)
				is.Equal(len(report.Ends), 2)
				a, b := report.Ends[0].End, report.Ends[1].End
				if names[a.Node] > names[b.Node] {
					a, b = b, a
				}
				one := cable{verdict: report.Verdict}
				if len(report.Causes) > 0 {
					one.cause = report.Causes[0].Reason
				}
				got[names[a.Node]+":"+a.PortNumber.String()+" "+names[b.Node]+":"+b.PortNumber.String()] = one
			}
			is.Equal(got, want)
		})
	}
}

// TestUserActionsOfAScenario has the price of a desk, and nothing of a Mac that needs none.
func TestUserActionsOfAScenario(t *testing.T) {
	is := is.New(t)
	drawing := drawn(t, "unready")
	userActions := readiness.UserActions(drawing.graph.RDMACables(), nil)
	is.Equal(readiness.Price(userActions), "1 Mac needs one trip to Recovery, about 4 minutes. 1 Mac needs a switch in System Settings and a restart, about 2 minutes.")
	is.Equal(len(userActions), 2)
	is.Equal([]api.NodeID{userActions[0].Node, userActions[1].Node}, []api.NodeID{drawing.names["macbook"], drawing.names["studio-3"]})
}

// TestListOfSixteenFitsAMessage has the largest desk that plans are proven for.
func TestListOfSixteenFitsAMessage(t *testing.T) {
	is := is.New(t)
	drawing := drawn(t, "sixteen")
	var list api.RDMAListResult
	for _, report := range drawing.graph.Readiness() {
		list.Links = append(list.Links, report.RDMAReadiness)
	}
	is.True(len(list.Links) >= 40)
	text, err := json.Marshal(list)
	is.NoErr(err)
	if len(text) > api.MaxMessageBytes/2 {
		t.Errorf("%d cables take %d bytes", len(list.Links), len(text))
	}
}
