package app

import (
	"cmp"
	"slices"
	"strings"

	apptext "fulmen/app/text"
	"fulmen/daemon/api"
)

// mostTrouble is how many problems stand in the menu itself; the rest is one
// submenu further, so that the Macs stay in sight.
const mostTrouble = 4

// trouble are the Macs that ask, and what is wrong, the worst first.
func (s *State) trouble() []Item {
	var items []Item
	if s.Code != nil && s.Code.Code != "" {
		show := CodeDialog()
		items = append(items, Item{ID: "code", Title: "Code for the other Mac: " + s.Code.Code, Items: []Item{
			{ID: "code:show", Title: "Show in Large Type", Do: &Do{Dialog: &show}},
			{ID: "code:close", Title: "Stop Adding", Do: adminCall("cluster.pair", api.ClusterPairParams{Close: true})},
		}})
	}
	for _, p := range s.asking() {
		items = append(items, s.asks(p))
	}
	var problems []Item
	for _, c := range s.shown() {
		if !s.Headline.IsAbout(c) {
			problems = append(problems, s.problem(conditionID(c), "! "+clean(s.where(c)+c.Text), c))
		}
	}
	if len(problems) > mostTrouble+1 {
		rest := slices.Clone(problems[mostTrouble:])
		problems = append(problems[:mostTrouble], Item{ID: "trouble:more", Title: apptext.Count(len(rest), "more problem"), Items: rest})
	}
	return append(items, problems...)
}

// asking are the Macs that wait for an answer of this person, the first first.
func (s *State) asking() []api.Pending {
	var asking []api.Pending
	for _, p := range s.Pending {
		if p.State == api.PendingAsking || p.State == api.PendingProving {
			asking = append(asking, p)
		}
	}
	slices.SortFunc(asking, func(a, b api.Pending) int {
		return cmp.Or(a.Since.Compare(b.Since.Time), cmp.Compare(a.Peer, b.Peer))
	})
	return asking
}

// asks is the line of a Mac that asks. Its name is what it claims.
func (s *State) asks(p api.Pending) Item {
	id, name := "pending:"+string(p.Peer), clean(p.Name)
	answer := func(state api.PendingState) *Do {
		return adminCall("cluster.answer", api.ClusterAnswerParams{Node: p.Peer, State: state})
	}
	item := Item{ID: id, Title: "“" + name + "” wants to join", Items: []Item{
		info(id+":from", cmp.Or(clean(p.ModelName), "A Mac")+", over "+clean(p.Interface)),
		info(id+":id", "Its id: "+p.Peer.Display()), // names can be made up
		{ID: id + ":code", Title: "Enter Its Code…", Disabled: p.State == api.PendingProving, Do: &Do{Dialog: enterCode(p)}},
		{ID: id + ":later", Title: "Later", Do: answer(api.PendingLater)},
		{ID: id + ":ignore", Title: "Ignore", Do: answer(api.PendingIgnored)},
	}}
	if p.State == api.PendingProving {
		item.Title = "Checking the code of “" + name + "”"
	}
	return item
}

// CodeDialog shows this Mac's code, which follows where a code was asked for.
func CodeDialog() Dialog {
	return Dialog{Kind: DialogShowCode, Title: "Add a Mac", Text: "Type this code on the other Mac, within five minutes. " +
		"Its people can run programs here only as an account that you choose; until you choose one, they cannot."}
}

// enterCode asks for the code of a Mac that asks.
func enterCode(p api.Pending) *Dialog {
	return &Dialog{Kind: DialogEnterCode, Title: "Add “" + clean(p.Name) + "”?", Node: string(p.Peer),
		Text: "Type the code that it shows (" + strings.Join(nonEmpty(clean(p.ModelName), p.Peer.Display()), ", ") + ")."}
}

// shown are the problems that a person should see, in the daemon's order.
func (s *State) shown() []api.NodeCondition {
	return slices.DeleteFunc(slices.Clone(s.Conditions), func(c api.NodeCondition) bool { return !c.IsProblem() })
}

// conditionID is the same for the same problem in every menu.
func conditionID(c api.NodeCondition) string {
	return "condition:" + string(c.Node) + ":" + string(c.Code) + ":" + c.Subject
}

// hasWarning reports whether the icon should say that something is wrong.
func (s *State) hasWarning() bool { return s.Headline.Problems > 0 || len(s.asking()) > 0 }

// problem is the line of a problem, with its remedy and the one thing to do.
func (s *State) problem(id, title string, c api.NodeCondition) Item {
	item := Item{ID: id, Title: title, Tooltip: both(c.Text, c.Remedy)}
	if c.Remedy != "" {
		item.Items = append(item.Items, info(id+":remedy", clean(c.Remedy)))
	}
	if do := s.action(c); do != nil {
		item.Items = append(item.Items, Item{ID: id + ":action", Title: clean(c.Action.Label), Do: do})
	}
	if link, isLink := cableOf(c.Subject); isLink {
		below := cableItems(id, link, false, false)
		if c.Action != nil && c.Action.Target == "measure.link" {
			below = slices.DeleteFunc(below, func(i Item) bool { return i.ID == id+":measure" })
		}
		item.Items = append(item.Items, below...)
	}
	if len(item.Items) == 0 {
		item.Do = &Do{Open: "dashboard:/conditions"}
	}
	return item
}

// where names the Mac of a problem, unless it is this one or the text does.
func (s *State) where(c api.NodeCondition) string {
	if n := s.self(); n != nil && n.NodeView.Node == c.Node {
		return ""
	}
	if name := s.name(c.Node); !strings.Contains(c.Text, name) {
		return name + ": "
	}
	return ""
}

// both joins a sentence and its remedy.
func both(sentence, remedy string) string { return strings.TrimSpace(sentence + " " + remedy) }

// action is what the button of a problem does. Parameters of a method are text,
// which the API takes as it takes what a person types. What takes an
// administrator is asked about first, as it is elsewhere in the menu.
func (s *State) action(c api.NodeCondition) *Do {
	a := c.Action
	switch {
	case a == nil:
		return nil
	case a.Kind == api.ActionMethod:
		do := call(a.Target, nil)
		switch {
		case len(a.Params) > 0:
			do.Call.Params = a.Params
		case a.Target == "measure.gpu":
			do.Call.Params = api.MeasureGPUParams{Nodes: []api.NodeRef{api.NodeRef(c.Node)}}
		}
		info, known := api.LookupMethod(a.Target)
		if do.Call.Admin = known && info.Class == api.ClassAdmin; do.Call.Admin {
			do.Confirm = &Confirm{Title: clean(a.Label) + "?", Button: "Continue", Text: apptext.Clean(both(c.Text, c.Remedy))}
		}
		return do
	case a.Kind == api.ActionCommand:
		return &Do{Copy: a.Target}
	}
	return &Do{Open: a.Target} // a pane of the settings, or a page
}

// cableOf reads the cable that a problem is about.
func cableOf(subject string) (api.LinkRef, bool) {
	var link api.LinkID
	if link.UnmarshalText([]byte(subject)) == nil && link.Valid() {
		return api.LinkRef(link.String()), true
	}
	if end, err := api.ParseLinkEnd(subject); err == nil && end.Valid() {
		return api.LinkRef(end.String()), true
	}
	return "", false
}

// obstacle are the lines about what keeps Fulmen from working on this Mac.
// stops says that there is no cluster to be shown below them.
func (s *State) obstacle() (lines []Item, stops bool) {
	report := func(title, next string, do *Do, text ...string) []Item {
		lines := []Item{info("obstacle", title)}
		for i, t := range text {
			lines = append(lines, info("obstacle:"+string(rune('a'+i)), t))
		}
		if do != nil {
			lines = append(lines, Item{ID: "obstacle:next", Title: next, Do: do})
		}
		return lines
	}
	const loginItems = "x-apple.systempreferences:com.apple.LoginItems-Settings.extension"
	switch s.Setup {
	case SetupSystemTooOld:
		return report("Fulmen needs macOS 26", "Open Software Update",
			&Do{Open: "x-apple.systempreferences:com.apple.Software-Update-Settings.extension"},
			"RDMA over Thunderbolt 5 needs macOS 26.2."), true
	case SetupOutsideApplications:
		return report("Fulmen is not in the Applications folder", "Move to Applications and Reopen", &Do{App: AppMove},
			"macOS runs its background service only from there."), true
	case SetupNotRegistered:
		return report("Fulmen is not set up on this Mac", "Set Up Fulmen", &Do{App: AppRegister},
			"macOS asks for your approval once."), true
	case SetupNeedsApproval:
		return report("Fulmen needs your approval", "Open Login Items", &Do{Open: loginItems},
			"Turn Fulmen on under Allow in the Background."), true
	case SetupWithdrawn:
		return report("Fulmen was turned off in System Settings", "Open Login Items", &Do{Open: loginItems},
			"Turn it on again under Allow in the Background.", "Jobs on this Mac have ended."), true
	case SetupGood, SetupPersons:
	}
	switch s.Daemon {
	case DaemonConnecting:
		return report("Connecting to Fulmen…", "", nil), true
	case DaemonStopped:
		return report("Fulmen is stopped", "Start Fulmen", adminCall("daemon.start", api.Empty{}),
			"This Mac is not part of the cluster now."), true
	case DaemonGone:
		return report("Fulmen does not answer", "Start Fulmen", &Do{App: AppStart},
			"macOS starts it again by itself within a minute."), true
	case DaemonStarting:
		return report("Fulmen is starting…", "", nil), true
	case DaemonRunning:
	}
	if s.Setup == SetupPersons {
		question := OwnerQuestion()
		return report("Fulmen.app belongs to you, not to the system", "Fix…", &Do{App: AppOwn, Confirm: &question},
			"No job and no measurement runs on this Mac until it belongs to the system."), false
	}
	if s.DaemonVersion != "" && s.Version != "" && s.DaemonVersion != s.Version {
		return report("Fulmen "+clean(s.DaemonVersion)+" still runs, "+clean(s.Version)+" is installed", "Restart Fulmen",
			adminCall("daemon.restart", api.Empty{}), "Jobs go on during the restart."), false
	}
	return nil, false
}

// footWithoutDaemon is the end of a menu that has no cluster.
func (s *State) footWithoutDaemon() []Item {
	return []Item{
		separator("diagnostics"),
		{ID: "diagnostics", Title: "Copy Diagnostics", Do: &Do{App: AppDiagnostics}},
		s.settings(),
		s.about(),
		quit(),
	}
}
