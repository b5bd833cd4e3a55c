package profile

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/proc"
)

// A worker that hangs is a fact with its reason, is tried again ever more seldom,
// and holds nothing up: paths are measured as before.
func TestHungWorker(t *testing.T) {
	launches := 0
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		d.set(func() { d.paths = []Path{cable(1)} })
		d.watch(api.KindLinkProfile, api.KindGPUProfile)
		d.wait(time.Hour)
		d.mu.Lock()
		count := launches
		d.mu.Unlock()
		is.True(count >= 7 && count <= 9) // 15 s, 30 s, 1 min, ... 32 min after the last
		failure := d.doc().Failure
		is.Equal(failure.Reason, api.ReasonWorkerHung)
		is.Equal(failure.Retries, count)
		is.Equal(d.codes(), []api.Reason{api.ReasonWorkerHung})
		paths, _ := d.took()
		is.True(len(paths) >= 11)
	}, func(d *scenario, c *Config) {
		c.Launch = func(context.Context, proc.Command) proc.Record {
			d.mu.Lock()
			launches++
			d.mu.Unlock()
			<-time.After(10 * time.Second) // the bubble's time
			return proc.Record{Outcome: proc.Hung, Sentence: who + " did not answer."}
		}
	})
}
