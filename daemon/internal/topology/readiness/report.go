package readiness

import (
	"slices"

	"fulmen/daemon/api"
)

// Report is a cable's readiness with what only Fulmen itself needs.
type Report struct {
	api.RDMAReadiness
	// Causes are the checks that stand against RDMA, in order, each with its end or the
	// cable as subject. What only follows from another one is left out, and advice.
	Causes []api.Cause
}

// rule is how one check is made: of the cable, or of each end.
type rule struct {
	key   api.RDMACheckKey
	cable func(*Cable) finding
	end   func(c *Cable, own *End) finding
}

// rules are all checks, in the order in which a person goes through them.
func rules() []rule {
	return []rule{
		{key: api.CheckFulmen, end: checkFulmen},
		{key: api.CheckPortTB5, end: checkPortTB5},
		{key: api.CheckSpeed, cable: checkSpeed},
		{key: api.CheckOS, end: checkOS},
		{key: api.CheckSameBuild, cable: checkSameBuild},
		{key: api.CheckReceptacle, end: checkReceptacle},
		{key: api.CheckSwitch, end: checkSwitch},
		{key: api.CheckDevice, end: checkDevice},
		{key: api.CheckPeerOffers, end: checkPeerOffers},
		{key: api.CheckPortActive, end: checkPortActive},
		{key: api.CheckNoBridge, end: checkNoBridge},
		{key: api.CheckNoLoop, cable: checkNoLoop},
		{key: api.CheckIPv4GID, end: checkIPv4GID},
		{key: api.CheckProbe, cable: checkProbe},
	}
}

// Of makes every check of a cable and sums them up. Low must not be nil.
func Of(c Cable) Report {
	r := Report{RDMAReadiness: api.RDMAReadiness{
		Link: c.Link, Verdict: api.RDMAReady, PeerName: c.PeerName, Simulated: c.Simulated,
	}}
	var found []finding
	add := func(key api.RDMACheckKey, end api.LinkEnd, f finding) {
		found = append(found, f)
		r.Checks = append(r.Checks, api.RDMACheck{
			Check: key, End: end, Answer: f.answer, Advice: f.advice, Reason: f.reason, Text: f.text, Remedy: f.remedy,
		})
		if f.answer == api.AnswerYes || f.advice {
			return
		}
		r.Verdict = worse(r.Verdict, f.verdict)
		if f.follows {
			return
		}
		subject := c.subject()
		if end.Valid() {
			subject = end.String()
		}
		r.Causes = append(r.Causes, api.Cause{Reason: f.reason, Subject: subject, Message: within(f.text), Remedy: f.remedy})
	}
	for _, one := range rules() {
		if one.cable != nil {
			add(one.key, api.LinkEnd{}, one.cable(&c))
			continue
		}
		for _, e := range c.ends() {
			add(one.key, e.End, one.end(&c, e))
		}
		if c.High == nil && one.key == api.CheckFulmen {
			add(one.key, api.LinkEnd{}, stranger(&c))
		}
	}
	for _, e := range c.ends() {
		r.Ends = append(r.Ends, cableEnd(e))
		r.Stale = r.Stale || e.Stale
		if e.RDMA != nil {
			r.ProbesSinceBoot = max(r.ProbesSinceBoot, e.RDMA.ProbesSinceBoot)
		}
	}
	r.Text = sum(&c, r.Verdict, found)
	return r
}

func cableEnd(e *End) api.CableEnd {
	out := api.CableEnd{End: e.End, Place: e.Place, Interface: e.Interface}
	if d := e.device(); d != nil {
		out.Device = d.Name
		if d.Limits != nil {
			out.Limits = *d.Limits
		}
	}
	return out
}

// worse is the verdict that settles more: what never can settles everything, and
// what a person must do is worth saying before the rest is known.
func worse(a, b api.RDMAVerdict) api.RDMAVerdict {
	if Rank(b) > Rank(a) {
		return b
	}
	return a
}

// Rank orders verdicts by how much they settle, from ready.
func Rank(v api.RDMAVerdict) int {
	return slices.Index([]api.RDMAVerdict{api.RDMAReady, api.RDMACanEnable, api.RDMAUnknown, api.RDMANeedsPerson, api.RDMACannot}, v)
}
