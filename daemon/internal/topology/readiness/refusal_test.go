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
}
