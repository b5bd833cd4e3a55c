package readiness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// What user actions take, in seconds: a start in Recovery with a command typed there; a
// switch in System Settings with a restart; a restart alone.
const (
	recoveryS = 240
	settingsS = 120
	restartS  = 90
)

// need is a Mac that a person must go to.
type need struct {
	end   *End // one of its ends: what is the Mac's is alike in all
	kind  api.RDMAUserActionKind
	links []api.LinkID
}

// needs lists the Macs with their switch off, or on and not yet in effect, that have
// a cable to another member on which RDMA could run.
func needs(cables []Cable) map[api.NodeID]*need {
	out := map[api.NodeID]*need{}
	for i := range cables {
		c := &cables[i]
		if c.High == nil || isFalse(c.Low.hasTB5()) || isFalse(c.High.hasTB5()) {
			continue
		}
		for _, e := range c.ends() {
			kind := kindOf(e)
			if kind == "" {
				continue
			}
			n := out[e.End.Node]
			if n == nil {
				n = &need{end: e, kind: kind}
				out[e.End.Node] = n
			}
			n.links = append(n.links, c.Link)
		}
	}
	return out
}

// kindOf is what has to be done at the Mac of an end; empty = nothing.
func kindOf(e *End) api.RDMAUserActionKind {
	switch {
	case isFalse(e.hasOS()) || !e.isMac():
		return ""
	case isFalse(e.isOn()) && e.hasSettings():
		return api.UserActionSettings
	case isFalse(e.isOn()):
		return api.UserActionRecovery
	case e.isPending():
		return api.UserActionRestart
	}
	return ""
}

// UserActions are the user actions that somebody must make, and those that were just made,
// each ordered by the names of the Macs. user actions is what was seen of them so far.
func UserActions(cables []Cable, progress ActionsProgress) []api.RDMAUserAction {
	var out []api.RDMAUserAction
	names := map[api.NodeID]string{}
	for node, n := range needs(cables) {
		action := progress[node]
		if action.Done {
			action = ActionProgress{}
		}
		names[node] = n.end.Name
		e := api.RDMAUserAction{Node: node, Kind: n.kind, Links: n.links, Note: note(n, action)}
		e.Steps, e.EstimateS = steps(n, action)
		if n.kind == api.UserActionRestart && action.Kind == api.UserActionSettings {
			e.Kind = action.Kind
		}
		out = append(out, e)
	}
	byName := func(a, b api.RDMAUserAction) int {
		return cmp.Or(strings.Compare(names[a.Node], names[b.Node]), cmp.Compare(a.Node, b.Node))
	}
	slices.SortFunc(out, byName)
	left := len(out)
	for node, action := range progress {
		if _, still := names[node]; !action.Done || still {
			continue
		}
		names[node] = action.Name
		e := api.RDMAUserAction{Node: node, Kind: action.Kind, Links: action.Links, Done: true, Note: "Done: RDMA is on at " + action.Name + "."}
		e.Steps, _ = stepsOf(action.Kind, action.Name)
		for i := range e.Steps {
			e.Steps[i].Done = true
		}
		out = append(out, e)
	}
	slices.SortFunc(out[left:], byName)
	return out
}

// steps are those of a user action with what has been seen of it, and how long it takes.
func steps(n *need, action ActionProgress) ([]api.UserActionStep, float64) {
	kind := n.kind
	if kind == api.UserActionRestart && action.Kind == api.UserActionSettings {
		kind = api.UserActionSettings // the same user action, farther on
	}
	all, takes := stepsOf(kind, n.end.Name)
	switch {
	case kind == api.UserActionRecovery:
		all[0].Done = action.Left
	case n.kind == api.UserActionRestart: // the switch is on already
		for i := range all[:len(all)-1] {
			all[i].Done = true
		}
		takes = restartS
	}
	return all, takes
}

// stepsOf are the steps of a kind of user action. In Recovery nobody sees Fulmen, so that
// they are shown on the other Macs.
func stepsOf(kind api.RDMAUserActionKind, name string) ([]api.UserActionStep, float64) {
	var texts []string
	takes := 0.0
	switch kind {
	case api.UserActionRecovery:
		takes = recoveryS
		texts = []string{
			"Shut " + name + " down: Apple menu, Shut Down.",
			"Press and hold its power button until the startup options appear. Choose Options, then Continue; sign in if asked.",
			"In the menu bar choose Utilities, Terminal. Type rdma_ctl enable and press Return.",
			"Choose Apple menu, Restart, and log in again.",
		}
	case api.UserActionSettings:
		takes = settingsS
		texts = []string{
			"On " + name + " open System Settings, Privacy & Security, Developer Tools.",
			"Turn on RDMA over Thunderbolt. Where that is not there, start in Recovery and type in Utilities, Terminal: rdma_ctl enable",
			"Restart " + name + ": Apple menu, Restart.",
		}
	case api.UserActionRestart:
		takes = restartS
		texts = []string{
			"Turn RDMA on at " + name + ".",
			"Restart " + name + ": Apple menu, Restart.",
		}
	}
	out := make([]api.UserActionStep, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out, takes
}

// note is how a user action stands; empty where nothing has happened.
func note(n *need, action ActionProgress) string {
	name := n.end.Name
	switch {
	case action.Left:
		return name + " is away. Fulmen cannot see what happens in Recovery or at the start; it goes on here when " + name + " is back."
	case action.Returns > 0 && n.kind == api.UserActionRestart:
		return name + " was restarted and shows no RDMA device yet. Restart it once more; if that does not help, run in Recovery: rdma_ctl disable, then rdma_ctl enable"
	case action.Returns > 0:
		return name + " is back and its switch is still off: begin again with step 1."
	}
	return ""
}

// Price is what all user actions that are still to be made cost, as one line; empty where
// there are none.
func Price(userActions []api.RDMAUserAction) string {
	var parts []string
	for _, kind := range []api.RDMAUserActionKind{api.UserActionRecovery, api.UserActionSettings, api.UserActionRestart} {
		count, takes := 0, 0.0
		for _, e := range userActions {
			if e.Kind == kind && !e.Done {
				count++
				takes = max(takes, e.EstimateS)
			}
		}
		if count == 0 {
			continue
		}
		what := map[api.RDMAUserActionKind]string{
			api.UserActionRecovery: "one trip to Recovery", api.UserActionSettings: "a switch in System Settings and a restart", api.UserActionRestart: "a restart",
		}[kind]
		minutes := "a minute"
		if n := int(takes+59) / 60; n > 1 {
			minutes = fmt.Sprintf("%d minutes", n)
		}
		if count == 1 {
			parts = append(parts, fmt.Sprintf("1 Mac needs %s, about %s.", what, minutes))
		} else {
			parts = append(parts, fmt.Sprintf("%d Macs need %s, about %s each.", count, what, minutes))
		}
	}
	return strings.Join(parts, " ")
}
