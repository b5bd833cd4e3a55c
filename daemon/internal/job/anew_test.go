package job

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// alone is the cluster of a Mac that has not joined any other one.
const alone = api.ClusterID("ffffffffffffffffffffffffffffffff")

// A job that runs goes on while its Mac joins another cluster, where the other members
// take its document, and that of one that ended before, and later their deletions.
func TestJobGoesOnInAnotherCluster(t *testing.T) {
	for name, restarts := range map[string]bool{"at once": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			in(t, 2, func(t *testing.T, w *world) {
				is := is.New(t)
				a, b := w.nodes[0], w.nodes[1]
				a.moves(alone)
				before := a.submits(program(words("sleep", "1s"), a))
				a.until(before, api.JobSucceeded, 10*time.Second)
				id := a.submits(program(words("sleep", "3m"), a))
				ran := a.until(id, api.JobRunning, 5*time.Second)
				next := a.submits(program(words("sleep", "1m"), a, b)) // waits for the other Mac
				if _, known := b.Known(id); known {
					t.Fatal("a stranger's job is known")
				}
				if restarts {
					a.kill()
					a.adopts(cluster)
					a.start()
					a.rejoins()
				} else {
					a.moves(cluster)
				}
				pass(time.Minute) // twice a lease
				signed := a.sees(id)
				if signed.Phase != api.JobRunning {
					t.Fatalf("the job is %s: %s, %s", signed.Phase, signed.Reason, signed.Message)
				}
				is.Equal(signed.Attempt, ran.Attempt)
				is.True(signed.SpecSHA256 != ran.SpecSHA256)
				is.Equal(signed.Attempts[0].Plan.SpecSHA256, signed.SpecSHA256)
				for _, job := range []api.JobID{before, id, next} {
					known, found := b.Known(job)
					is.True(found)
					is.Equal(known.Job.SpecSHA256, a.sees(job).SpecSHA256)
					is.Equal(known.Spec.Principal, a.person().Principal)
				}
				a.until(id, api.JobSucceeded, 3*time.Minute)
				a.until(next, api.JobSucceeded, 2*time.Minute)
				is.Equal(a.sees(id).Attempt, ran.Attempt)
				for _, job := range []api.JobID{before, id, next} {
					is.NoErr(a.Delete(t.Context(), a.person(), api.JobDeleteParams{Job: job}))
					pass(time.Second)
					known, found := b.Known(job)
					is.True(found && known.Gone)
				}
			})
		})
	}
}

// What is under way when the cluster changes is done again by the new spec, or taken
// over into it.
func TestClusterChangesAtAnyMoment(t *testing.T) {
	in(t, 1, func(t *testing.T, w *world) {
		a := w.nodes[0]
		w.slow, w.slowStart = 30*time.Millisecond, 10*time.Millisecond
		clusters := []api.ClusterID{alone, cluster}
		for i := 0; i < 60; i += moments() {
			id := a.submits(program(words("sleep", "40s"), a))
			pass(time.Duration(i) * time.Millisecond)
			a.moves(clusters[i%2])
			a.succeedsAnew(id)
		}
	})
}

// moments is how far apart the moments are that are tried: in short, all kinds of
// them, and of each some. It is odd, so that each is in another cluster than the last.
func moments() int {
	if testing.Short() {
		return 5
	}
	return 1
}

// A call is refused that is made just before the home signs its job again.
func TestClusterChangesBetweenTwoSteps(t *testing.T) {
	in(t, 1, func(t *testing.T, w *world) {
		a := w.nodes[0]
		clusters := []api.ClusterID{alone, cluster}
		for i := 0; i < 60; i += moments() {
			a.next = clusters[i%2]
			a.reads.Store(int64(i) + 1)
			a.succeedsAnew(a.submits(program(words("sleep", "12s"), a)))
			if a.isIn() != a.next {
				a.moves(a.next)
			}
		}
	})
}

// succeedsAnew lets a job succeed at its first attempt, and be one of the cluster of now.
func (m *machine) succeedsAnew(id api.JobID) {
	m.w.t.Helper()
	m.until(id, api.JobSucceeded, 2*time.Minute)
	m.reads.Store(0) // looking at it changes nothing
	job := m.sees(id)
	if _, err := job.OpenSpec(id, m.cfg.Electors); err != nil || job.Attempt != 1 || m.w.broken != "" {
		m.w.t.Fatalf("at attempt %d: %v; broken: %s", job.Attempt, err, m.w.broken)
	}
}

// A home above the first epoch proves by the new spec that it is the home.
func TestLaterEpochInAnotherCluster(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		a.moves(alone)
		id := a.submits(program(words("sleep", "3m"), a))
		a.until(id, api.JobRunning, 5*time.Second)
		a.moves(cluster)
		job := a.sees(id)
		job.Epoch = 7
		signed, spec, isOwn := a.signedAnew(job, a.jobs[id].spec)
		is.True(isOwn)
		is.NoErr(signed.VerifyHomes(spec, b.cfg.Electors, nil))
		_, _, isOwn = b.signedAnew(job, spec)
		is.True(!isOwn) // neither its person nor its home
	})
}

// A job of another node's person, which only that node can sign, ends with the cluster.
func TestJobsOfOthersEndWithTheCluster(t *testing.T) {
	in(t, 2, func(t *testing.T, w *world) {
		is := is.New(t)
		a, b := w.nodes[0], w.nodes[1]
		theirs := b.submits(program(words("sleep", "1h"), a))
		a.until(theirs, api.JobRunning, 10*time.Second)
		is.Equal(a.sees(theirs).Home, a.id)
		a.moves(alone)
		a.until(theirs, api.JobStopped, time.Minute)
		is.Equal(a.sees(theirs).Reason, api.ReasonRemoved)
		is.Equal(w.living(theirs), 0)
	})
}
