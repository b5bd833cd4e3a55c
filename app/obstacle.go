package app

import "fulmen/daemon/api"

// obstacle are the lines about what keeps Fulmen from working on this Mac.
// stops says that there is no cluster to be shown below them.
func (s *State) obstacle() (lines []Item, stops bool) {
	say := func(title, next string, do *Do, text ...string) []Item {
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
		return say("Fulmen needs macOS 26", "Open Software Update",
			&Do{Open: "x-apple.systempreferences:com.apple.Software-Update-Settings.extension"},
			"RDMA over Thunderbolt 5 needs macOS 26.2."), true
	case SetupOutsideApplications:
		return say("Fulmen is not in the Applications folder", "Move to Applications and Reopen", &Do{App: AppMove},
			"macOS runs its background part from there only."), true
	case SetupNotRegistered:
		return say("Fulmen is not set up on this Mac", "Set Up Fulmen", &Do{App: AppRegister},
			"It asks once for your approval."), true
	case SetupNeedsApproval:
		return say("Fulmen needs your approval", "Open Login Items", &Do{Open: loginItems},
			"Turn Fulmen on under Allow in the Background."), true
	case SetupWithdrawn:
		return say("Fulmen was turned off in System Settings", "Open Login Items", &Do{Open: loginItems},
			"Turn it on again under Allow in the Background.", "Jobs on this Mac have ended."), true
	case SetupGood, SetupPersons:
	}
	switch s.Daemon {
	case DaemonConnecting:
		return say("Connecting to Fulmen...", "", nil), true
	case DaemonStopped:
		return say("Fulmen is stopped", "Start Fulmen", adminCall("daemon.start", api.Empty{}),
			"This Mac is not part of the cluster now."), true
	case DaemonGone:
		return say("Fulmen does not answer", "Start Fulmen", &Do{App: AppStart},
			"macOS starts it again by itself within a minute."), true
	case DaemonStarting:
		return say("Fulmen is starting...", "", nil), true
	case DaemonRunning:
	}
	if s.Setup == SetupPersons {
		question := OwnerQuestion()
		return say("Fulmen.app belongs to you, not to the system", "Mend...", &Do{App: AppOwn, Confirm: &question},
			"No job and no measurement runs on this Mac until it is the system's."), false
	}
	if s.DaemonVersion != "" && s.Version != "" && s.DaemonVersion != s.Version {
		return say("Fulmen "+clean(s.DaemonVersion)+" still runs, "+clean(s.Version)+" is installed", "Restart Fulmen",
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
		{ID: "quit", Title: "Quit", Do: &Do{App: AppQuit}},
	}
}
