package liveness

import (
	"fulmen/daemon/api"
)

// judge finds whether another member is reached, and if not why, from what is
// seen of it and what it said. last is by which paths it was reached last, in
// words, empty where that is not known.
func judge(n *api.NodeView, seen Seen, started api.Time, f *facts, last string) {
	said := api.NodeState{State: api.SelfAwake}
	if f.state != nil {
		said = *f.state
	}
	answers := seen.Liveness == api.LivenessAlive
	switch {
	case said.State == api.SelfLeft:
		say(n, api.LivenessLeft, said.Since, api.ReasonLeft, "It said that it leaves the cluster.")
	case said.State == api.SelfAsleep && said.Reason == api.ReasonLidClosed:
		say(n, api.LivenessAsleep, said.Since, said.Reason, "It said that it sleeps, because its lid was closed.")
	case said.State == api.SelfAsleep:
		say(n, api.LivenessAsleep, said.Since, api.ReasonAsleep, "It said that it sleeps.")
	case said.State == api.SelfRestarting && said.Reason == api.ReasonShuttingDown:
		liveness := api.LivenessUnreachable
		if answers {
			liveness = api.LivenessRestarting // no more work for it, and it is not gone yet
		}
		say(n, liveness, said.Since, said.Reason, "It said that it shuts down.")
	case said.State == api.SelfRestarting && f.identity != nil && f.identity.Platform != api.PlatformDarwin:
		say(n, api.LivenessRestarting, said.Since, api.ReasonRestarting, "It said that it restarts.")
	case said.State == api.SelfRestarting:
		say(n, api.LivenessRestarting, said.Since, api.ReasonRestarting, "It said that it restarts. It may be waiting at FileVault for a password.")
	case said.State == api.SelfStopping && !answers:
		say(n, api.LivenessUnreachable, said.Since, api.ReasonStopped, "It said that Fulmen is stopped there.")
	case answers:
		say(n, api.LivenessAlive, or(seen.Since, started), "", "")
	case seen.Liveness == api.LivenessSuspect:
		say(n, api.LivenessSuspect, or(seen.Since, started), api.ReasonSuspect, "It has just stopped answering.")
	case seen.Liveness == "" && last == "":
		say(n, api.LivenessUnreachable, started, api.ReasonNeverHeardOf, "It has not been heard from since this daemon started.")
	default:
		reason := seen.Reason
		info, found := api.LookupReason(reason)
		if !found {
			reason = api.ReasonUnreachable
			info.Text = "It does not answer on any path."
		}
		text := info.Text
		if last != "" {
			text += " It was reached last by " + last + "."
		}
		say(n, api.LivenessUnreachable, or(seen.Since, started), reason, text)
	}
}

func say(n *api.NodeView, l api.Liveness, since api.Time, reason api.Reason, message string) {
	n.Liveness, n.Since, n.Reason, n.Message = l, since, reason, message
}

func or(t, other api.Time) api.Time {
	if t.IsZero() {
		return other
	}
	return t
}
