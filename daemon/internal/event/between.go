package event

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// Entry is an event with what only some may read.
type Entry struct {
	api.Event
	// Principal is whose job it is about; empty where everybody may read all of it.
	Principal api.Principal
	// Private is the text for whoever may act for Principal; empty where it is the
	// event's own.
	Private string
}

// For is the event as somebody may read it.
func (e Entry) For(may func(api.Principal) bool) api.Event {
	if e.Private != "" && may(e.Principal) {
		e.Text = e.Private
	} else if e.Private != "" {
		e.Reason = ""
	}
	return e.Event
}

// Between gives what happened between two moments, without number and time: nodes,
// then cables, conditions and jobs. The second is as [Moment.After] gives it.
func Between(before, after Moment) []Entry {
	return slices.Concat(nodes(before, after), cables(before, after), conditions(before, after), jobs(before, after))
}

func nodes(before, after Moment) []Entry {
	var out []Entry
	keyOf := func(n api.NodeView) key { return key{string(n.Node)} }
	was, is := index(before.Nodes, keyOf), index(after.Nodes, keyOf)
	report := func(n api.NodeView, kind api.EventKind, severity api.Severity, text string) {
		out = append(out, Entry{Event: api.Event{Kind: kind, Severity: severity, Node: n.Node, Reason: n.Reason, Text: n.ShortName + " " + text}})
	}
	for _, n := range after.Nodes {
		old, known := was[keyOf(n)]
		switch isRemoved := n.Liveness == api.LivenessRemoved; {
		case !known && !isRemoved:
			report(n, api.EventNodeJoined, api.SeverityInfo, "has joined the cluster.")
		case known && isRemoved && old.Liveness != api.LivenessRemoved:
			report(n, api.EventNodeLeft, api.SeverityWarning, "was removed from the cluster.")
		case known && n.Liveness.Reached() && !old.Liveness.Reached():
			report(n, api.EventNodeReached, api.SeverityInfo, "is connected.")
		case known && !n.Liveness.Reached() && old.Liveness.Reached():
			severity := api.SeverityError
			if n.Liveness != api.LivenessSuspect && n.Liveness != api.LivenessUnreachable {
				severity = api.SeverityWarning // it said so
			}
			report(n, api.EventNodeLost, severity, lostWords(n.Liveness))
		}
	}
	for _, n := range missing(was, is) {
		if n.Liveness != api.LivenessRemoved {
			report(n, api.EventNodeLeft, api.SeverityWarning, "is no longer a member.")
		}
	}
	return out
}

func lostWords(l api.Liveness) string {
	switch l {
	case api.LivenessRestarting:
		return "is restarting."
	case api.LivenessAsleep:
		return "went to sleep."
	case api.LivenessLeft:
		return "has stopped Fulmen."
	}
	return "no longer answers."
}

func conditions(before, after Moment) []Entry {
	keyOf := func(c api.NodeCondition) key { return key{string(c.Node), string(c.Code), c.Subject} }
	was, is := index(before.Conditions, keyOf), index(after.Conditions, keyOf)
	var out []Entry
	// Both ends of a cable say the same of it: it is one event, that ends with the last.
	wasReported, isReported := texts(before.Conditions), texts(after.Conditions)
	reported := map[string]bool{}
	report := func(c api.NodeCondition, kind api.EventKind, severity api.Severity, text string) {
		if c.Muted || wasReported[c.Text] && isReported[c.Text] || reported[text] {
			return
		}
		reported[text] = true
		e := api.Event{Kind: kind, Severity: severity, Node: c.Node, Reason: c.Code, Text: text}
		if link, err := api.ParseLinkID(c.Subject); err == nil {
			e.Link = link
		}
		out = append(out, Entry{Event: e})
	}
	for _, c := range missing(is, was) {
		report(c, api.EventConditionRaised, c.Severity, c.Text)
	}
	for _, c := range missing(was, is) {
		report(c, api.EventConditionCleared, api.SeverityInfo, "Resolved: "+c.Text)
	}
	return out
}

// texts are what conditions say that are not muted.
func texts(all []api.NodeCondition) map[string]bool {
	found := map[string]bool{}
	for _, c := range all {
		if !c.Muted {
			found[c.Text] = true
		}
	}
	return found
}

func jobs(before, after Moment) []Entry {
	was := index(before.Jobs, jobKey)
	var out []Entry
	for _, j := range after.Jobs {
		old, known := was[jobKey(j)]
		if known && old.Phase == j.Phase || !known && j.Phase.Ended() { // of another cluster's past, or of a node that was away
			continue
		}
		severity := api.SeverityInfo
		switch j.Phase {
		case api.JobFailed, api.JobHomeLost:
			severity = api.SeverityError
		case api.JobBackoff:
			severity = api.SeverityWarning
		}
		became := jobWords(j.Phase)
		if !known {
			became = cmp.Or(became, jobWords(api.JobQueued))
		}
		if became == "" {
			continue // on its way
		}
		what := " (" + string(j.Job) + ") " + became // of several with one name
		e := Entry{Principal: j.Principal, Private: j.Name + what,
			Event: api.Event{Kind: api.EventJobChanged, Severity: severity, Job: j.Job, Phase: j.Phase, Reason: j.Reason, Text: j.PublicName + what}}
		if j.Message != "" {
			e.Private += " " + j.Message
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Compare(a.Job, b.Job) })
	return out
}

// jobWords says what has become of a job; empty for what it only passes through.
func jobWords(phase api.JobPhase) string {
	switch phase {
	case api.JobQueued:
		return "was submitted."
	case api.JobRunning:
		return "runs."
	case api.JobBackoff:
		return "did not run, and is tried again."
	case api.JobHomeLost:
		return "is in doubt: the Mac that leads it does not answer."
	case api.JobSucceeded:
		return "succeeded."
	case api.JobFailed:
		return "failed."
	case api.JobStopped:
		return "was stopped."
	case api.JobPlacing, api.JobStarting, api.JobHandshake, api.JobEnding:
	}
	return ""
}
