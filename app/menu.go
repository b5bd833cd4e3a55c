package app

import (
	"cmp"
	"slices"
	"strings"
	"time"

	apptext "fulmen/app/text"
	"fulmen/daemon/api"
)

// State is everything that the menu depends on. What is not known yet is empty.
type State struct {
	// Now is the time that ages are counted from.
	Now time.Time
	// Version is the app's own version of Fulmen.
	Version string
	// Setup is how the app is installed.
	Setup Setup
	// Daemon is how the daemon is.
	Daemon Daemon
	// DaemonVersion is its version, where it answered.
	DaemonVersion string
	// Simulated says that the daemon runs on simulated Macs.
	Simulated bool
	// Nodes are the Macs, in any order.
	Nodes []Node
	// Totals are the sums over the Macs that are reached.
	Totals api.Totals
	// Conditions are what is wrong, as node.conditions gives them.
	Conditions []api.NodeCondition
	// Headline is the cluster in one line, as node.conditions gives it.
	Headline api.Headline
	// Copies are the models that are copied to this Mac for the person's account.
	Copies []api.ModelCopying
	// Jobs are those that have not ended, and the caller's own that ended lately.
	Jobs []api.JobSummary
	// Cables are what is plugged.
	Cables []api.Cable
	// RDMA is every cable's readiness, where rdma.list was answered.
	RDMA []api.RDMAReadiness
	// Changes are what Fulmen changed for RDMA, or is changing.
	Changes []api.NodeRDMAChange
	// UserActions are the Macs where a person must flip the switch for RDMA.
	UserActions []api.RDMAUserAction
	// Measuring are the measurements that wait or run.
	Measuring []api.Measurement
	// Code is the one that Add a Mac shows, while it counts.
	Code *api.ClusterPairResult
	// Pending are the Macs that ask to be added.
	Pending []api.Pending
	// Sharing is what this Mac lends; nil = not known.
	Sharing *api.Sharing
	// Preferences are the app's own settings.
	Preferences Preferences
}

// Node is a Mac with what is known of it; the documents are nil where they are not.
type Node struct {
	api.NodeView
	Identity *api.Identity
	Memory   *api.Memory
	System   *api.System
	GPU      *api.GPUProfile
}

// Preferences are the app's own settings, which the daemon does not know.
type Preferences struct {
	// LaunchAtLogin opens the app when the person logs in.
	LaunchAtLogin bool
	// Title is what stands beside the icon.
	Title TitleChoice
	// Notifications are shown.
	Notifications bool
}

// TitleChoice is what stands in the menu bar beside the icon.
type TitleChoice string

const (
	// TitleNothing is the icon alone.
	TitleNothing TitleChoice = "nothing"
	// TitleGPU is this Mac's GPU use.
	TitleGPU TitleChoice = "gpu"
	// TitlePower is the cluster's power.
	TitlePower TitleChoice = "watts"
	// TitleMemory is the cluster's memory in use.
	TitleMemory TitleChoice = "memory"
)

// TitleChoices lists what can stand beside the icon.
func TitleChoices() []TitleChoice {
	return []TitleChoice{TitleNothing, TitleGPU, TitlePower, TitleMemory}
}

// Setup is how the app is installed, as far as it keeps Fulmen from working.
type Setup string

const (
	// SetupGood needs nothing.
	SetupGood Setup = ""
	// SetupOutsideApplications runs from where it was downloaded.
	SetupOutsideApplications Setup = "outside_applications"
	// SetupNotRegistered has not asked the system to run the daemon.
	SetupNotRegistered Setup = "not_registered"
	// SetupNeedsApproval waits for the person's approval in System Settings.
	SetupNeedsApproval Setup = "needs_approval"
	// SetupWithdrawn had the approval and lost it.
	SetupWithdrawn Setup = "withdrawn"
	// SetupPersons is set up, and belongs to a person, so that the daemon starts
	// nothing of it.
	SetupPersons Setup = "belongs_to_person"
	// SetupSystemTooOld runs on a macOS that Fulmen does not support.
	SetupSystemTooOld Setup = "system_too_old"
)

// hasDaemon reports whether the daemon can be there.
func (s Setup) hasDaemon() bool { return s == SetupGood || s == SetupPersons }

// Daemon is how the daemon is, seen from the app.
type Daemon string

const (
	// DaemonConnecting has not answered yet.
	DaemonConnecting Daemon = ""
	// DaemonStarting answers and has no documents yet.
	DaemonStarting Daemon = "starting"
	// DaemonRunning answers.
	DaemonRunning Daemon = "running"
	// DaemonStopped was stopped by a person.
	DaemonStopped Daemon = "stopped"
	// DaemonGone does not answer, though nobody stopped it.
	DaemonGone Daemon = "gone"
)

// self is this Mac.
func (s *State) self() *Node {
	for i := range s.Nodes {
		if s.Nodes[i].Self {
			return &s.Nodes[i]
		}
	}
	return nil
}

// sorted are the Macs in the order of the menu: this one, then by name. It does
// not depend on how they are, so that no line changes its place.
func (s *State) sorted() []Node {
	return slices.SortedFunc(slices.Values(s.Nodes), func(a, b Node) int {
		return cmp.Or(first(a.Self, b.Self), cmp.Compare(a.ShortName, b.ShortName), cmp.Compare(a.NodeView.Node, b.NodeView.Node))
	})
}

// first orders what is so before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// name is a Mac's name for people.
func (s *State) name(id api.NodeID) string {
	for _, n := range s.Nodes {
		if n.NodeView.Node == id && n.ShortName != "" {
			return clean(n.ShortName)
		}
	}
	return id.Display()
}

// Due is when the menu of this state has other lines though nothing happens: a
// job that ended is no longer shown, a code no longer counts. The zero time
// where that is never so. That ages grow is not meant: nobody sees them in a
// menu that is closed.
func (s State) Due() time.Time {
	var due time.Time
	sooner := func(t time.Time) {
		if t.After(s.Now) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	for _, j := range s.Jobs {
		if j.Mine && j.Phase.Ended() {
			sooner(j.EndedAt.Add(lately))
		}
	}
	if s.Code != nil && !s.Code.ExpiresAt.IsZero() {
		sooner(s.Code.ExpiresAt.Time)
	}
	return due
}

// Menu is what the menu bar shows.
type Menu struct {
	// Icon is the picture in the menu bar.
	Icon Icon
	// Title stands beside the icon; may be empty.
	Title string
	// Tooltip says in one line how things are, also for a screen reader.
	Tooltip string
	// Items are the lines, from the top.
	Items []Item
}

// Find finds the line of an id, also in submenus.
func (m Menu) Find(id string) (Item, bool) { return find(m.Items, id) }

func find(items []Item, id string) (Item, bool) {
	for _, i := range items {
		if i.ID == id {
			return i, true
		}
		if below, found := find(i.Items, id); found {
			return below, true
		}
	}
	return Item{}, false
}

// Icon is a state of the picture in the menu bar. The pictures differ in shape,
// not by colour alone.
type Icon string

const (
	// IconNormal is everything well and nothing running.
	IconNormal Icon = "normal"
	// IconWorking is a job running.
	IconWorking Icon = "working"
	// IconWarning is something to be looked at.
	IconWarning Icon = "warning"
	// IconOff is Fulmen not working on this Mac.
	IconOff Icon = "off"
)

// Icons lists the states of the picture.
func Icons() []Icon { return []Icon{IconNormal, IconWorking, IconWarning, IconOff} }

// Item is a line of the menu, a line between lines, or a submenu.
type Item struct {
	// ID is the same for the same thing in every menu, such as node:<id>.
	ID string
	// Title is what it says; empty for a line between lines.
	Title string
	// Tooltip says more; may be empty.
	Tooltip string
	// Disabled lines are only read.
	Disabled bool
	// Checked lines have a mark.
	Checked bool
	// Items are the lines of its submenu.
	Items []Item
	// Do is what a click does; nil where it does nothing.
	Do *Do
}

// Separator is a line between lines. Its ID says before what it stands.
func separator(before string) Item { return Item{ID: "line:" + before} }

// IsSeparator reports whether the item is a line between lines.
func (i Item) IsSeparator() bool { return i.Title == "" }

// info is a line that is only read.
func info(id, title string) Item { return Item{ID: id, Title: title, Disabled: true} }

// Do is what a click does. One of Call, Dialog, Open and App is set.
type Do struct {
	// Call is a method of the API.
	Call *Call
	// Dialog asks the person something first.
	Dialog *Dialog
	// Open is an address: of a page, a settings pane, or a page of the dashboard (dashboard:/...).
	Open string
	// Copy is a text for the clipboard, such as a command to type.
	Copy string
	// App is something that the app does by itself.
	App AppDo
	// Value is what AppDo is done with, where it takes something.
	Value string
	// Confirm is asked before.
	Confirm *Confirm
}

// Call is a call of the API.
type Call struct {
	// Method is its name.
	Method string
	// Params are its parameters, a struct of package api; nil for none.
	Params any
	// Admin says that only an administrator may: the system's authorisation is asked for
	// once the daemon has refused without it.
	Admin bool
}

// Confirm is a question before something that cannot be taken back lightly.
type Confirm struct {
	// Title is the question.
	Title string
	// Text says what will happen.
	Text string
	// Button is the answer that goes on.
	Button string
}

// Dialog is a question whose answer becomes part of a call.
type Dialog struct {
	// Kind is what is asked.
	Kind DialogKind
	// Title is the question.
	Title string
	// Text explains it.
	Text string
	// Node is whom it is about, where it is about one.
	Node string
}

// DialogKind is what a dialog asks for.
type DialogKind string

const (
	// DialogEnterCode asks for the code that another Mac shows, for cluster.answer or, without a node, cluster.join.
	DialogEnterCode DialogKind = "enter_code"
	// DialogShowCode shows this Mac's code in large letters while it counts.
	DialogShowCode DialogKind = "show_code"
	// DialogUserAction shows the steps that a person does at a Mac, ticking themselves off.
	DialogUserAction DialogKind = "errand"
)

// AppDo is what the app does by itself.
type AppDo string

const (
	// AppQuit ends the app; the daemon goes on.
	AppQuit AppDo = "quit"
	// AppMove moves the app to /Applications and opens it there.
	AppMove AppDo = "move_to_applications"
	// AppRegister asks the system to run the daemon.
	AppRegister AppDo = "register_daemon"
	// AppOwn makes the app the system's, as an administrator.
	AppOwn AppDo = "make_systems"
	// AppStart starts the daemon.
	AppStart AppDo = "start_daemon"
	// AppLaunchAtLogin turns opening at login on or off.
	AppLaunchAtLogin AppDo = "launch_at_login"
	// AppNotifications turns notifications on or off.
	AppNotifications AppDo = "notifications"
	// AppTitle chooses what stands beside the icon: Value is a TitleChoice.
	AppTitle AppDo = "title"
	// AppDiagnostics copies what `fulmen report` would save to the clipboard.
	AppDiagnostics AppDo = "copy_diagnostics"
	// AppInstallCLI links the command line tool to where the shell finds it.
	AppInstallCLI AppDo = "install_cli"
)

// call is a click that calls the API.
func call(method string, params any) *Do { return &Do{Call: &Call{Method: method, Params: params}} }

// adminCall is a click that calls the API after an authorisation.
func adminCall(method string, params any) *Do {
	return &Do{Call: &Call{Method: method, Params: params, Admin: true}}
}

// Overview is what a window says where the menu cannot be reached: macOS hides
// pictures for which the menu bar has no room, and people hide them.
type Overview struct {
	// Title is its headline.
	Title string
	// Text is how things are, a line each.
	Text string
	// Choices are its buttons, the first one by the Return key.
	Choices []Item
}

// mostOverview is how many lines an overview has at most.
const mostOverview = 14

// Overview is the window of a menu: what is wrong, what runs and how the Macs
// fare, with the next step.
func (m Menu) Overview() Overview {
	o := Overview{Title: "Fulmen"}
	var lines []string
	left := 0
	for _, i := range m.Items {
		kind, _, _ := strings.Cut(i.ID, ":")
		switch {
		case i.ID == "obstacle:next":
			o.Choices = append(o.Choices, i)
		case i.IsSeparator():
		case kind == "obstacle" || kind == "headline" || kind == "summary" || kind == "code" || kind == "pending" || kind == "condition" || kind == "trouble" ||
			kind == "job" || kind == "node" || kind == "cables":
			if len(lines) == mostOverview {
				left++
				continue
			}
			lines = append(lines, i.Title)
		}
	}
	if left > 0 {
		lines = append(lines, apptext.Count(left, "more line")+" in the menu")
	}
	o.Text = strings.Join(lines, "\n")
	for _, i := range m.Items {
		if i.ID == "dashboard" || i.ID == "diagnostics" || i.ID == "quit" {
			o.Choices = append(o.Choices, i)
		}
	}
	return o
}
