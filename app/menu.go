package app

// Menu is what the menu bar shows.
type Menu struct {
	// Icon is the picture in the menu bar.
	Icon Icon
	// Title stands beside the icon; may be empty.
	Title string
	// Tooltip says in one line how things are, also for a screen reader.
	Tooltip string
	// Badge counts what waits for the person.
	Badge int
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
	// Admin says that the system's authorisation is asked for first.
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
	// DialogErrand shows the steps that a person does at a Mac, ticking themselves off.
	DialogErrand DialogKind = "errand"
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
	// AppDiagnostics copies daemon.report to the clipboard.
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
