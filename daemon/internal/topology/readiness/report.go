package readiness

import (
	"fmt"
	"slices"
	"strings"

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
		{key: api.CheckPortNumber, end: checkPortNumber},
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

// Of makes every check of a cable and sums them up, without its ends. Low must not be nil.
func Of(c Cable) Report {
	r := Report{RDMAReadiness: api.RDMAReadiness{
		Link: c.Link, Verdict: api.RDMAReady, PeerName: c.PeerName, Simulated: c.Simulated,
	}}
	var found []finding
	add := func(key api.RDMACheckKey, end api.LinkEnd, f finding) {
		f.Check, f.End = key, end
		found = append(found, f)
		if f.Answer != api.AnswerYes && !f.Advice {
			r.Verdict = worse(r.Verdict, f.verdict)
		}
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
			add(one.key, api.LinkEnd{}, nonMember(&c))
		}
	}
	if r.Verdict == api.RDMACanEnable {
		r.Verdict = servicesInWay(&c, found)
	}
	for _, f := range found {
		r.Checks = append(r.Checks, f.RDMACheck)
		if f.Answer == api.AnswerYes || f.Advice || f.follows {
			continue
		}
		subject := c.subject()
		if f.End.Valid() {
			subject = f.End.String()
		}
		r.Causes = append(r.Causes, api.Cause{Reason: f.Reason, Subject: subject, Message: within(f.Text), Remedy: f.Remedy})
	}
	for _, e := range c.ends() {
		r.Stale = r.Stale || e.Stale
		if e.RDMA != nil {
			r.ProbesSinceBoot = max(r.ProbesSinceBoot, e.RDMA.ProbesSinceBoot)
		}
	}
	r.Text = sum(&c, r.Verdict, found)
	return r
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

// finding is the answer of one check, and what it means for the cable.
type finding struct {
	api.RDMACheck
	// verdict is the best that a no leaves of the cable.
	verdict api.RDMAVerdict
	// follows says that another check has the cause: it is not named again.
	follows bool
}

func yes(format string, args ...any) finding {
	return finding{RDMACheck: api.RDMACheck{Answer: api.AnswerYes, Text: sentence(format, args...)}, verdict: api.RDMAReady}
}

func unknown(reason api.Reason, format string, args ...any) finding {
	return against(api.AnswerUnknown, api.RDMAUnknown, reason, format, args...)
}

func no(verdict api.RDMAVerdict, reason api.Reason, format string, args ...any) finding {
	return against(api.AnswerNo, verdict, reason, format, args...)
}

func against(answer api.Answer, verdict api.RDMAVerdict, reason api.Reason, format string, args ...any) finding {
	return finding{RDMACheck: api.RDMACheck{Answer: answer, Reason: reason, Text: sentence(format, args...)}, verdict: verdict}
}

// do adds what a person, or Fulmen, can do about it.
func (f finding) do(format string, args ...any) finding {
	f.Remedy = sentence(format, args...)
	return f
}

// after marks what only follows from another check, whose verdict counts.
func (f finding) after() finding {
	f.follows, f.Remedy = true, ""
	if f.Answer == api.AnswerNo {
		f.verdict = api.RDMAUnknown
	}
	return f
}

// advised marks what does not stop RDMA.
func (f finding) advised() finding {
	f.Advice = true
	return f
}

// sentence begins with a capital, unless it begins with a name.
func sentence(format string, args ...any) string {
	return turned(fmt.Sprintf(format, args...), strings.ToUpper)
}

// within is a sentence as a part of another one: without its end, and in lower case
// unless it begins with a name.
func within(text string) string { return turned(strings.TrimSuffix(text, "."), strings.ToLower) }

// turned changes the first letter of a text that begins with a word of ours.
func turned(text string, change func(string) string) string {
	first, _, _ := strings.Cut(text, " ")
	if len(first) > 0 && slices.Contains(openings(), strings.ToLower(first)) {
		return change(text[:1]) + text[1:]
	}
	return text
}

// openings are the words with which sentences begin that do not begin with a name.
func openings() []string {
	return []string{"port", "the", "through", "what", "whether", "which", "two", "both", "no"}
}

// sum is the verdict in one sentence for somebody who has never heard of any of the
// checks.
func sum(c *Cable, verdict api.RDMAVerdict, found []finding) string {
	if text := underWay(c); text != "" {
		return text
	}
	var text string
	switch verdict {
	case api.RDMAReady:
		text = fmt.Sprintf("Jobs on %s can use RDMA over this cable at its full speed.", c.Low.Name+" and "+c.High.Name)
	case api.RDMACanEnable:
		if lost := lostAddress(c, found); lost != "" {
			return lost
		}
		text = "Enabling " + listed(work(found)) + ". It can be put back at any time."
	case api.RDMANeedsPerson:
		text = missing(found)
	case api.RDMACannot:
		text = "RDMA is not possible over this cable: " + within(first(found, verdict).Text) + "."
	case api.RDMAUnknown:
		what, _, _ := strings.Cut(within(first(found, verdict).Text), ";")
		text = "RDMA on this cable cannot be judged now: " + what + "."
	}
	return text + undone(c, verdict)
}

// lostAddress says that RDMA stopped for want of the address that Fulmen gave; empty
// where something else is in the way.
func lostAddress(c *Cable, found []finding) string {
	var one *finding
	for i := range found {
		if f := &found[i]; f.Answer == api.AnswerNo && !f.Advice {
			if f.Reason != api.ReasonRDMANoIPv4GID {
				return ""
			}
			one = f
		}
	}
	for _, e := range c.ends() {
		if one != nil && e.Change != nil && e.Change.State == api.RDMAChangeActive {
			return "RDMA has stopped: " + within(one.Text) + ". " + one.Remedy
		}
	}
	return ""
}

// first is the first check that stands for the verdict by itself.
func first(found []finding, verdict api.RDMAVerdict) finding {
	for _, follows := range []bool{false, true} {
		for _, f := range found {
			if f.Answer != api.AnswerYes && !f.Advice && f.verdict == verdict && f.follows == follows {
				return f
			}
		}
	}
	return finding{}
}

// missing says what a person has to do, or how much and what first.
func missing(found []finding) string {
	count := 0
	for _, f := range found {
		if f.Answer == api.AnswerNo && !f.Advice && !f.follows && f.verdict == api.RDMANeedsPerson {
			count++
		}
	}
	what := within(first(found, api.RDMANeedsPerson).Text)
	if count > 1 {
		return fmt.Sprintf("%d things are missing, and the first is that %s.", count, what)
	}
	return "One thing is missing: " + what + "."
}

// work is what enabling would do.
func work(found []finding) []string {
	repairs := func(reasons ...api.Reason) bool {
		return slices.ContainsFunc(found, func(f finding) bool {
			return f.Answer == api.AnswerNo && !f.Advice && slices.Contains(reasons, f.Reason)
		})
	}
	const addresses = "gives both ends addresses of their own"
	switch {
	case repairs(api.ReasonInBridge, api.ReasonBridgeLoop):
		return []string{"takes the cable out of the Thunderbolt Bridge", addresses}
	case repairs(api.ReasonRDMANoIPv4GID):
		return []string{addresses}
	}
	return nil
}

// underWay says that Fulmen changes the cable just now; empty where it does not.
func underWay(c *Cable) string {
	for _, e := range c.ends() {
		if e.Change == nil {
			continue
		}
		switch e.Change.State {
		case api.RDMAChangePlanned, api.RDMAChangeApplying, api.RDMAChangeProving:
			return "Fulmen is enabling RDMA on this cable just now."
		case api.RDMAChangeUndoing:
			return "Fulmen is putting back what it changed for RDMA on this cable just now."
		case api.RDMAChangeActive, api.RDMAChangeUndone, api.RDMAChangePartial:
		}
	}
	return ""
}

// undone says that the last try to enable RDMA was taken back, and why.
func undone(c *Cable, verdict api.RDMAVerdict) string {
	if verdict == api.RDMAReady {
		return ""
	}
	for _, e := range c.ends() {
		if ch := e.Change; ch != nil && ch.Reason != "" && (ch.State == api.RDMAChangeUndone || ch.State == api.RDMAChangePartial) {
			text := strings.TrimSuffix(ch.Message, ".")
			if text == "" {
				info, _ := api.LookupReason(ch.Reason)
				text = strings.TrimSuffix(info.Text, ".")
			}
			return " The last try was taken back: " + text + "."
		}
	}
	return ""
}

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
	left := slices.DeleteFunc(slices.Clone(report.Causes), func(c api.Cause) bool { return isEnablesOwn(c.Reason) })
	if len(left) == 0 {
		left = report.Causes[:1]
	}
	e := api.Errorf(left[0].Reason, left[0].Subject, "RDMA cannot be enabled: %s.", left[0].Message).WithRemedy(left[0].Remedy)
	e.Data.Causes = left[1:]
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

// Concerns are what a node should warn of about its own ends of cables: of each a
// cause with the end as subject and a few words as message. Where both ends could
// warn of the cable as a whole, the lower one does.
func Concerns(own api.NodeID, cables []Cable, reports []Report) []api.Cause {
	var out []api.Cause
	for i := range min(len(cables), len(reports)) {
		c := &cables[i]
		if c.High == nil || c.Muted || !isTrue(c.Low.hasTB5()) || !isTrue(c.High.hasTB5()) || c.Low.Stale || c.High.Stale {
			continue
		}
		for _, e := range c.ends() {
			if e.End.Node == own {
				out = append(out, concernsOf(c, e, &reports[i])...)
			}
		}
	}
	return out
}

func concernsOf(c *Cable, own *End, r *Report) []api.Cause {
	var out []api.Cause
	add := func(reason api.Reason, format string, args ...any) {
		out = append(out, api.Cause{Reason: reason, Subject: own.End.String(), Message: fmt.Sprintf(format, args...)})
	}
	other := c.other(own)
	answer := func(key api.RDMACheckKey, end api.LinkEnd) api.Answer {
		for _, check := range r.Checks {
			if check.Check == key && check.End == end {
				return check.Answer
			}
		}
		return api.AnswerUnknown
	}
	between := "the cable from " + own.port() + " to " + other.port()
	switch {
	case !other.works() || isTrue(own.isOn()) && own.device() != nil:
	case isFalse(own.isOn()):
		add(api.ReasonRDMAOneSided, "it is on at %s and off here, for %s", other.Name, between)
	case own.isPending():
		add(api.ReasonRDMAOneSided, "it is on at %s and waits here for a restart, for %s", other.Name, between)
	}
	if own == c.Low && answer(api.CheckSameBuild, api.LinkEnd{}) == api.AnswerNo {
		add(api.ReasonRDMABuildsDiffer, "%s has %s, %s has %s", own.Name, withBuild(own), other.Name, withBuild(other))
	}
	if own.Change != nil && own.Change.State == api.RDMAChangeActive && own.device() != nil && answer(api.CheckIPv4GID, own.End) == api.AnswerNo {
		add(api.ReasonRDMANoIPv4GID, "%s", between)
	}
	return out
}
