package job

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// soakJobs is how many jobs are run one after the other.
func soakJobs() int {
	switch {
	case os.Getenv("FULMEN_SOAK") != "":
		return 1000
	case testing.Short():
		return 50
	}
	return 200
}

// tombstones is at most what stays of a deleted job, on both Macs together: the
// deletions of its documents, which are kept so that nobody brings them back, and
// what the rig notes of it.
const tombstones = 8 << 10

// used is what memory holds once it was collected.
func used() (bytes, goroutines int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), runtime.NumGoroutine()
}

// keeping starts all daemons again, which then keep so many ended jobs.
func (w *world) keeping(n int) {
	w.keep = n
	for _, m := range w.nodes {
		m.kill()
		m.start()
	}
	pass(3 * time.Second)
}

// Many jobs, each submitted when the one before has ended, take the same time
// to the millisecond, and leave no more behind than the mark that they were deleted.
func TestManyJobsOneAfterTheOther(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		w.keeping(20)
		all := soakJobs()
		var first time.Duration
		var before, routines int
		for i := range all {
			began := time.Now()
			id := a.submits(program(words("sleep", "10ms"), a, b))
			a.until(id, api.JobSucceeded, 5*time.Second)
			took := time.Since(began)
			pass(100 * time.Millisecond)
			if i == all/2 {
				first = took
				before, routines = used()
			} else if i > all/2 {
				is.Equal(took, first)
			}
		}
		after, now := used()
		t.Logf("a job took %v; %d KiB and %d goroutines after half of them, then %d and %d", first, before>>10, routines, after>>10, now)
		is.True((after-before)/(all/2) < tombstones)
		is.True(now <= routines+2)
	})
}

// Many jobs that wait for the same GPUs are worked off one after the other, and
// nothing is left of the line.
func TestManyJobsInLine(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		all := soakJobs()
		w.keeping(2 * all)
		_, routines := used()
		began := time.Now()
		var ids []api.JobID
		for range all {
			ids = append(ids, a.submits(program(words("sleep", "50ms"), a, b)))
		}
		pass(time.Second)
		list, err := b.List(t.Context(), b.person(), api.JobListParams{})
		is.NoErr(err)
		is.True(len(list.Jobs) > all/2) // most of them are in line, and known elsewhere
		for _, id := range ids {
			a.until(id, api.JobSucceeded, time.Hour)
		}
		// Each is started once, and the next begins within one look of the rig's arbiter.
		is.Equal(w.starts, 2*all)
		took := time.Since(began)
		t.Logf("%d jobs took %v", all, took)
		is.True(took < time.Duration(all)*300*time.Millisecond)
		pass(time.Minute)
		_, now := used()
		is.True(now <= routines+2)
		is.Equal(len(a.actors()), 0)
	})
}
