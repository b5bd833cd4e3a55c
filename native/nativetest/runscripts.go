package nativetest

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

// scriptTimeout is how long one step may take, on a busy machine or in virtual
// time. What holds is seen at once; only a failure takes as long.
const scriptTimeout = time.Minute

// RunScripts gives each shipped script to play, in a subtest of its own, and
// returns the names of those that were skipped. Whoever calls it holds the
// answer against what it should be, so that no script is skipped unnoticed.
func RunScripts(t *testing.T, play func(*testing.T, Script)) (skipped []string) {
	scripts, err := Scripts()
	is.New(t).NoErr(err)
	var played []string
	for _, script := range scripts {
		t.Run(script.Name, func(t *testing.T) {
			defer func() {
				if t.Skipped() {
					skipped = append(skipped, script.Name)
				} else {
					played = append(played, script.Name)
				}
			}()
			play(t, script)
		})
	}
	t.Logf("played %d of %d scripts: %v", len(played), len(scripts), played)
	return skipped
}

// Want skips the test when the script needs what is not among met. backend is
// who has no more, in words.
func (s Script) Want(t *testing.T, backend string, met ...Need) {
	t.Helper()
	if unmet := Unmet(s.Needs, met...); len(unmet) > 0 {
		t.Skipf("%s has no %v", backend, unmet)
	}
}

// Run plays the script on a stage and fails the test where it does not hold.
func (s Script) Run(t *testing.T, stage Stage) {
	t.Helper()
	is.New(t).NoErr(s.Play(t.Context(), stage, scriptTimeout))
}
