package shimproto

import "slices"

// Phase is how far a rank is, as its shim sees it. The words are those of the
// rank's document.
type Phase string

// The phases of a shim.
const (
	PhaseStarting Phase = "starting" // the program does not run yet
	PhaseRunning  Phase = "running"
	PhaseEnding   Phase = "ending" // signalled, and its group is not empty yet
	PhaseExited   Phase = "exited" // exit.json is written
)

// Check returns a [FieldError] for a word that is none of the phases.
func (p Phase) Check() error {
	if !slices.Contains([]Phase{PhaseStarting, PhaseRunning, PhaseEnding, PhaseExited}, p) {
		return badField("phase", "%.40q is not a phase of a shim", string(p))
	}
	return nil
}
