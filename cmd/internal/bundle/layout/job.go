package layout

import (
	"errors"
	"maps"
	"path"

	"fulmen/daemon/api"
	"fulmen/native/plist"
)

// Job changes the daemon's launchd job, which is given and returned as a
// property list.
type Job map[string]any

// ReadJob reads the job.
func ReadJob(text []byte) (Job, error) {
	v, err := plist.Parse(text)
	if err != nil {
		return nil, err
	}
	job, ok := v.(map[string]any)
	if !ok || job["Label"] == nil {
		return nil, errors.New("it is not a job of launchd")
	}
	return job, nil
}

// Constrained is the job of which launchd starts only the daemon as its maker
// signed it. The team is the ten letters and digits of a Developer ID.
func (j Job) Constrained(team string) Job {
	out := maps.Clone(j)
	out["SpawnConstraint"] = map[string]any{"team-identifier": team, "signing-identifier": api.DaemonLabel}
	return out
}

// Standalone is the job as it lies outside of the bundle, in /Library/LaunchDaemons:
// with the program by its whole path.
func (j Job) Standalone(bundle string) Job {
	out := maps.Clone(j)
	out["Program"] = path.Join(bundle, out["BundleProgram"].(string))
	delete(out, "BundleProgram")
	return out
}

// Text is the job as launchd reads it.
func (j Job) Text() ([]byte, error) { return plist.Write(map[string]any(j)) }
