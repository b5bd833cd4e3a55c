package health

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// Seen is what one node knows of all, of which it derives what is wrong.
type Seen struct {
	// Nodes are all, this one too, and Cables those of the graph.
	Nodes  []api.NodeView
	Cables []api.Cable
	// NotMacs says that some of the nodes are no Macs.
	NotMacs bool
	// Reported are the conditions of the nodes that are reached, as they say them.
	Reported []api.NodeCondition
}

// Derived is what is wrong in the cluster, the most severe first, then the newest: what the nodes say
// of themselves, what both ends say of a cable once, and who does not answer, which
// nobody can say of itself. It is stored nowhere; every node derives it alike.
func Derived(s Seen) []api.NodeCondition {
	all := []api.NodeCondition{}
	for _, n := range s.Nodes {
		if c, is := s.silent(n); is {
			all = append(all, c)
		}
	}
	type reported struct {
		code api.Reason
		of   string
	}
	first := map[reported]int{}
	for _, c := range slices.SortedStableFunc(slices.Values(s.Reported), func(a, b api.NodeCondition) int { return a.Since.Compare(b.Since.Time) }) {
		if of := s.shared(c); of != "" {
			same := reported{c.Code, of}
			if i, is := first[same]; is {
				all[i].Others = append(all[i].Others, c.Node)
				continue
			}
			first[same] = len(all)
		}
		all = append(all, c)
	}
	for i := range all {
		info, _ := api.LookupReason(all[i].Code)
		all[i].Brief = info.Brief
	}
	slices.SortStableFunc(all, func(a, b api.NodeCondition) int {
		return cmp.Or(bySeverity(a.Condition, b.Condition), b.Since.Compare(a.Since.Time))
	})
	return all
}

// shared is what several nodes say a condition of together: the cable, where it is plugged, else
// the text, which names both its ends; empty where it is of one node alone.
func (s Seen) shared(c api.NodeCondition) string {
	if link, err := api.ParseLinkID(c.Subject); err == nil {
		return link.String()
	}
	end, err := api.ParseLinkEnd(c.Subject)
	if err != nil && c.Code != api.ReasonBridgeLoop {
		return ""
	}
	for _, cable := range s.Cables {
		if len(cable.Ends) == 2 && (cable.Ends[0].End == end || cable.Ends[1].End == end) {
			return cable.Link.String()
		}
	}
	return c.Text
}

// silent is the condition of a node that does not answer; false for one that does,
// that sleeps, or that went for good.
func (s Seen) silent(n api.NodeView) (api.NodeCondition, bool) {
	c := api.NodeCondition{Node: n.Node, Condition: api.Condition{Code: n.Reason, Severity: api.SeverityWarning, Text: about(n), Since: n.Since}}
	info, _ := api.LookupReason(n.Reason)
	switch {
	case n.Liveness == api.LivenessRestarting:
		c.Severity = api.SeverityInfo
	case n.Liveness != api.LivenessSuspect && n.Liveness != api.LivenessUnreachable:
		return c, false
	case n.Reason == api.ReasonShuttingDown, n.Reason == api.ReasonStopped: // somebody there wanted it so
		c.Severity, c.Remedy = api.SeverityInfo, info.Remedy
	default:
		c.Remedy, c.Action = s.remedy(n), command("Show the paths", "fulmen peers")
	}
	return c, true
}

// about is what is said of a node, with its name.
func about(n api.NodeView) string {
	text := cmp.Or(n.Message, "It does not answer.")
	for _, lead := range []string{"It ", "The node "} {
		if rest, is := strings.CutPrefix(text, lead); is {
			return n.ShortName + " " + rest
		}
	}
	return n.ShortName + ": " + text
}

// remedy is the next step for a node that does not answer, by what is known: whether
// others answer, and whether those that do see it at the end of a cable.
func (s Seen) remedy(n api.NodeView) string {
	reached := map[api.NodeID]string{}
	others, silent := 0, 0
	for _, one := range s.Nodes {
		switch {
		case one.Liveness.Reached():
			reached[one.Node] = one.ShortName
		case one.Liveness == api.LivenessSuspect, one.Liveness == api.LivenessUnreachable:
			silent++
		}
		if !one.Self && one.Liveness != api.LivenessRemoved && one.Liveness != api.LivenessLeft {
			others++
		}
	}
	hasCable, seenBy := false, ""
	for _, cable := range s.Cables {
		if len(cable.Ends) != 2 {
			continue
		}
		for i, end := range cable.Ends {
			name, answers := reached[cable.Ends[1-i].End.Node]
			if end.End.Node != n.Node || !answers {
				continue
			}
			hasCable = true
			if !slices.Contains(cable.Reasons, api.ReasonLinkDown) {
				seenBy = cmp.Or(seenBy, name)
			}
		}
	}
	switch {
	case n.Reason == api.ReasonNoPath:
		return "Other Macs reach it: check the network and the cables between it and this Mac."
	case seenBy != "":
		return seenBy + " sees it over a cable, so it is not switched off: wake it, or start Fulmen there with `fulmen start`; `fulmen status` there says more."
	case silent == others && others > 1:
		return "No other Mac answers: check this Mac's own network and cables first."
	case hasCable:
		return "Nothing is at the other end of its cables: switch it on or wake it, or plug its cables in."
	}
	return "Check that it is on and awake, and in the same network as before."
}

// Clocks are the conditions of this node about clocks that differ from its own, each
// with its detail; empty is a condition that does not hold. ahead is by how much those
// of other nodes are ahead, and name what people call a node.
func Clocks(ahead map[api.NodeID]time.Duration, name func(api.NodeID) string) map[api.Reason]string {
	var near, far []string
	for _, node := range slices.Sorted(maps.Keys(ahead)) {
		by := ahead[node]
		text := name(node) + " is " + by.Abs().Round(time.Second).String()
		switch {
		case by > api.ClockTolerance:
			far = append(far, text+" ahead, and none of its jobs starts on this Mac")
		case by < -api.ClockTolerance:
			far = append(far, text+" behind, and no job of this Mac starts there")
		case by > 0:
			near = append(near, text+" ahead")
		default:
			near = append(near, text+" behind")
		}
	}
	return map[api.Reason]string{api.ReasonClockSkew: strings.Join(near, "; "), api.ReasonClockFarOff: strings.Join(far, "; ")}
}
