package live

import (
	"fmt"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Code is the one that Add a Mac shows, and until when it counts; empty where
// none does.
func (f *Follower) Code() (code string, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state.Code == nil {
		return "", time.Time{}
	}
	return f.state.Code.Code, f.state.Code.ExpiresAt.Time
}

// Steps are what a person does at a Mac, those that are done with a mark.
func (f *Follower) Steps(node api.NodeID) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.state.Errands {
		if e.Node == node {
			var out strings.Builder
			for n, step := range e.Steps {
				mark := ""
				if step.Done {
					mark = "  (done)"
				}
				fmt.Fprintf(&out, "%d. %s%s\n", n+1, text.Clean(step.Text), mark)
			}
			return out.String()
		}
	}
	return "Nothing is left to be done there."
}

// Summary is what is known, for whoever looks for a fault: states and counts, no
// names and no addresses.
func (f *Follower) Summary() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out strings.Builder
	fmt.Fprintf(&out, "daemon %q version %q simulated %t\nmembers %d reached %d jobs %d cables %d\n", f.state.Daemon, f.state.DaemonVersion,
		f.state.Simulated, f.state.Totals.Members, f.state.Totals.Nodes, len(f.state.Jobs), len(f.state.Cables))
	for _, c := range f.state.Conditions {
		fmt.Fprintf(&out, "condition %s %s\n", c.Severity, c.Code)
	}
	return out.String()
}
