package live

import (
	"fmt"
	"strings"

	"fulmen/app"
	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Words are what a dialog shows beside its own text: the code, or the steps at a
// Mac, those that are done with a mark.
func (f *Follower) Words(d app.Dialog) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch d.Kind {
	case app.DialogShowCode:
		if f.state.Code != nil {
			return f.state.Code.Code
		}
		return "The code has expired. Choose Add a Mac again."
	case app.DialogErrand:
		for _, e := range f.state.Errands {
			if e.Node == api.NodeID(d.Node) {
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
	case app.DialogEnterCode:
	}
	return ""
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
