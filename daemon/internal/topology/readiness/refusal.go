package readiness

import (
	"slices"

	"fulmen/daemon/api"
)

// Refusal is why RDMA is not enabled on a cable; nil where it is, or can be. That
// both ports are Thunderbolt 5 and what they negotiated is fast enough has to be
// known, whatever else is.
func Refusal(report Report) *api.Error {
	isSound := (report.Verdict == api.RDMAReady || report.Verdict == api.RDMACanEnable) &&
		!slices.ContainsFunc(report.Checks, func(c api.RDMACheck) bool {
			return (c.Check == api.CheckPortTB5 || c.Check == api.CheckSpeed) && c.Answer != api.AnswerYes
		})
	if isSound {
		return nil
	}
	if len(report.Causes) == 0 {
		return api.Errorf(api.ReasonRDMANotReady, report.Link.String(), "%s", report.Text)
	}
	first := report.Causes[0]
	e := api.Errorf(first.Reason, first.Subject, "RDMA cannot be enabled: %s.", first.Message)
	e.Data.Remedy = first.Remedy
	for _, cause := range report.Causes[1:] {
		if !isEnablesOwn(cause.Reason) {
			e.Data.Causes = append(e.Data.Causes, cause)
		}
	}
	return e
}

// isEnablesOwn reports whether to enable RDMA is what mends it.
func isEnablesOwn(why api.Reason) bool {
	switch why {
	case api.ReasonInBridge, api.ReasonBridgeLoop, api.ReasonRDMANoIPv4GID, api.ReasonNoAddress:
		return true
	}
	return false
}

// IsAdvised reports whether a cable that is ready is so for now only: its port is in
// the bridge by the stored settings.
func IsAdvised(report Report) bool {
	return slices.ContainsFunc(report.Checks, func(c api.RDMACheck) bool { return c.Check == api.CheckNoBridge && c.Answer == api.AnswerNo })
}
