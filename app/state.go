package app

import (
	"cmp"
	"slices"
	"time"

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
	// Jobs are those that have not ended, and the caller's own that ended lately.
	Jobs []api.JobSummary
	// Cables are what is plugged.
	Cables []api.Cable
	// RDMA is every cable's readiness, where rdma.list was answered.
	RDMA []api.RDMAReadiness
	// Changes are what Fulmen changed for RDMA, or is changing.
	Changes []api.NodeRDMAChange
	// Errands are the Macs where a person must flip the switch for RDMA.
	Errands []api.RDMAErrand
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
		if a.Self != b.Self {
			if a.Self {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.ShortName, b.ShortName), cmp.Compare(a.NodeView.Node, b.NodeView.Node))
	})
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
