package app

import (
	"cmp"

	apptext "fulmen/app/text"
	"fulmen/daemon/api"
)

// foot is the end of the menu, always in the same order.
func (s *State) foot() []Item {
	items := []Item{s.add()}
	if s.Sharing != nil {
		items = append(items, s.sharing(*s.Sharing))
	}
	measure := Item{ID: "measure", Title: "Measure Now", Do: call("measure.link", api.MeasureLinkParams{All: true})}
	for _, m := range s.Measuring {
		if m.State == api.MeasureRunning || m.State == api.MeasureWaiting {
			measure.Title, measure.Disabled, measure.Do = "Measuring…", true, nil
			for _, i := range m.Items {
				if i.WaitingFor != "" {
					measure.Tooltip = "Waiting for " + clean(i.WaitingFor)
				}
			}
		}
	}
	return append(items, measure,
		Item{ID: "diagnostics", Title: "Copy Diagnostics", Do: &Do{App: AppDiagnostics}},
		s.settings(), s.about(), quit())
}

// quit ends the menu; the daemon goes on.
func quit() Item { return Item{ID: "quit", Title: "Quit Fulmen Menu", Do: &Do{App: AppQuit}} }

// about is which versions there are.
func (s *State) about() Item {
	item := Item{ID: "about", Title: "About Fulmen", Items: []Item{info("about:version", "Fulmen "+cmp.Or(clean(s.Version), "of an unknown version"))}}
	if s.DaemonVersion != "" && s.DaemonVersion != s.Version {
		item.Items = append(item.Items, info("about:daemon", "Its service is of version "+clean(s.DaemonVersion)))
	}
	return item
}

// add is how another Mac comes in, or this one into another's cluster.
func (s *State) add() Item {
	item := Item{ID: "add", Title: "Add a Mac", Items: []Item{
		{ID: "add:show", Title: "Show a Code on This Mac", Do: adminCall("cluster.pair", api.ClusterPairParams{})},
	}}
	if s.Totals.Members <= 1 {
		item.Items = append(item.Items, Item{ID: "add:join", Title: "Enter a Code from Another Mac…", Do: &Do{Dialog: &Dialog{
			Kind: DialogEnterCode, Title: "Join another Mac's cluster",
			Text: "On the other Mac choose Add a Mac, then type the code that it shows."}}})
	}
	return item
}

// sharing is what this Mac lends to the others.
func (s *State) sharing(l api.Sharing) Item {
	set := func(p api.ClusterSetSharingParams) *Do { return adminCall("cluster.set_sharing", p) }
	who := "from me only"
	switch l.Jobs {
	case api.JobsMapped:
		who = "from everybody with an account here"
	case api.JobsList:
		who = "from " + apptext.Count(len(l.JobsFrom), "person")
		if len(l.JobsFrom) != 1 {
			who = "from some people"
		}
	case api.JobsNobody:
	}
	title := "Jobs on this Mac: " + who
	if l.OnlyOnPower {
		title += ", on power"
	}
	if l.OnlyWhenIdle {
		title += ", when idle"
	}
	not := func(v bool) *bool { v = !v; return &v }
	isPublic, models, public := l.Models == api.ModelsMembers, api.ModelsMapped, api.ModelsMembers
	shares := isPublic || l.Models == api.ModelsMapped
	if shares {
		models = api.ModelsNobody
	}
	if isPublic {
		public = api.ModelsMapped
	}
	return Item{ID: "sharing", Title: title, Items: []Item{
		{ID: "sharing:nobody", Title: "From Me Only", Checked: l.Jobs == api.JobsNobody, Do: set(api.ClusterSetSharingParams{Jobs: api.JobsNobody})},
		{ID: "sharing:mapped", Title: "From Everybody with an Account Here", Checked: l.Jobs == api.JobsMapped,
			Do: set(api.ClusterSetSharingParams{Jobs: api.JobsMapped})},
		{ID: "sharing:list", Title: "From Some People…", Checked: l.Jobs == api.JobsList, Do: &Do{Open: "dashboard:/sharing"}},
		separator("sharing:power"),
		{ID: "sharing:power", Title: "Only on Power", Checked: l.OnlyOnPower, Do: set(api.ClusterSetSharingParams{OnlyOnPower: not(l.OnlyOnPower)})},
		{ID: "sharing:idle", Title: "Only When Nobody Uses It", Checked: l.OnlyWhenIdle, Do: set(api.ClusterSetSharingParams{OnlyWhenIdle: not(l.OnlyWhenIdle)})},
		{ID: "sharing:models", Title: "Share Models with Them", Checked: shares, Do: set(api.ClusterSetSharingParams{Models: models})},
		{ID: "sharing:public", Title: "Share Public Models with All Members", Checked: isPublic, Do: set(api.ClusterSetSharingParams{Models: public})},
		{ID: "sharing:awake", Title: "Keep This Mac Awake", Checked: l.KeepAwake, Do: set(api.ClusterSetSharingParams{KeepAwake: not(l.KeepAwake)})},
	}}
}

// settings are the app's own.
func (s *State) settings() Item {
	p := s.Preferences
	titles := map[TitleChoice]string{TitleNothing: "Nothing", TitleGPU: "GPU Use of This Mac", TitlePower: "Power of All Macs", TitleMemory: "Memory Used"}
	choice := Item{ID: "settings:title", Title: "Beside the Icon"}
	for _, c := range TitleChoices() {
		choice.Items = append(choice.Items, Item{ID: "settings:title:" + string(c), Title: titles[c],
			Checked: c == p.Title || c == TitleNothing && p.Title == "", Do: &Do{App: AppTitle, Value: string(c)}})
	}
	return Item{ID: "settings", Title: "Settings", Items: []Item{
		{ID: "settings:login", Title: "Open at Login", Checked: p.LaunchAtLogin, Do: &Do{App: AppLaunchAtLogin}},
		{ID: "settings:notifications", Title: "Notifications", Checked: p.Notifications, Do: &Do{App: AppNotifications}},
		choice,
		{ID: "settings:cli", Title: "Install the Command Line Tool…", Do: &Do{App: AppInstallCLI}},
	}}
}
