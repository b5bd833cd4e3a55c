package readiness

import (
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// checkProbe tells of the last test of the cable.
func checkProbe(c *Cable) finding {
	failure, at := lastFailure(c)
	switch tested(c) {
	case api.AnswerNo:
		text := strings.TrimSuffix(failure.Message, ".")
		if text == "" {
			text = "the log of " + at.Name + " has the cause"
		}
		if suspect := c.suspect(); suspect != nil {
			return no(api.RDMANeedsPerson, api.ReasonRDMAPortSuspect, "The last test of RDMA over this cable hung, and may have left the device of %s stuck: %s.", suspect.port(), text).
				do("Replug the cable, or test it again with `fulmen rdma probe`; if that does not help, restart %s. If you know that it works, say so on %s with `fulmen rdma clear`.", suspect.Name, suspect.Name)
		}
		return no(api.RDMAReady, api.ReasonRDMAProbeFailed, "The last test of RDMA over this cable failed: %s.", text).
			do("Replug the cable and test again; if that does not help, restart both Macs.").advised()
	case api.AnswerYes:
		return yes("The last test of RDMA over this cable worked.").advised()
	case api.AnswerUnknown:
	}
	for _, e := range c.ends() {
		if has := e.identity().MLXBackends; has != nil && !slices.Contains(has, api.MLXBackendJACCL) {
			return unknown(api.ReasonJACCLMissing, "RDMA over this cable cannot be tested: the MLX of %s has no JACCL.", e.Name).advised()
		}
	}
	return unknown(api.ReasonNotMeasured, "RDMA over this cable has not been tested yet.").advised()
}

// suspect is the end whose device may be stuck; nil = none.
func (c *Cable) suspect() *End {
	for _, e := range c.ends() {
		if e.IsSuspect {
			return e
		}
	}
	return nil
}

// tested is how the last test of the cable ended; unknown where there was none. A
// test that was only put off has not failed.
func tested(c *Cable) api.Answer {
	var worked api.Time
	for _, e := range c.ends() {
		if p := e.Profile; p != nil && p.MeasuredAt.After(worked.Time) {
			worked = p.MeasuredAt
		}
	}
	failure, _ := lastFailure(c)
	switch {
	case failure != nil && failure.At.After(worked.Time):
		return api.AnswerNo
	case !worked.IsZero():
		return api.AnswerYes
	}
	return api.AnswerUnknown
}

// lastFailure is the last test that failed for RDMA itself, and the end that tells.
func lastFailure(c *Cable) (*api.MeasureFailure, *End) {
	var last *api.MeasureFailure
	var at *End
	for _, e := range c.ends() {
		if e.Profile == nil || e.Profile.Failure == nil || e.Profile.Failure.Reason != api.ReasonRDMAProbeFailed {
			continue
		}
		if f := e.Profile.Failure; last == nil || f.At.After(last.At.Time) {
			last, at = f, e
		}
	}
	return last, at
}
