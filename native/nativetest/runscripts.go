package nativetest

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

// scriptPatience is how long one step may take on a busy machine. What holds is
// seen at once; only a failure takes as long.
const scriptPatience = 20 * time.Second

// RunScripts plays every shipped script as a subtest and returns the names of
// those that were played, in order. skip says why the backend cannot play a
// script, or ""; open builds the stage, whose end it leaves to the test's
// clean-up. Whoever calls it holds the answer against what it should be, so
// that a script is never skipped unnoticed.
func RunScripts(t *testing.T, skip func(Script) string, open func(*testing.T, Script) Stage) (played []string) {
	scripts, err := Scripts()
	is.New(t).NoErr(err)
	for _, script := range scripts {
		t.Run(script.Name, func(t *testing.T) {
			if why := skip(script); why != "" {
				t.Skip(why)
			}
			played = append(played, script.Name)
			if err := script.Play(t.Context(), open(t, script), scriptPatience); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Logf("played: %v", played)
	return played
}
