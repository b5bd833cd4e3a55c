package command

import (
	"encoding/json"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestRunShowsWhatRanksPrint(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "hello\n")
	f := r.fake()
	_, done := r.begin("run", "-n", "2", "--", "python", "train.py")
	r.daemon.Await("job.watch")
	f.change(func(j *api.Job) { j.Phase, j.WaitingFor = api.JobPlacing, "the GPU of mac-mini" })
	r.err.await(t, "fulmen: j4k2m9xq7: waiting for the GPU of mac-mini\n")
	f.runs()
	r.err.await(t, "fulmen: j4k2m9xq7: running on mac-studio, mac-mini over ring, unencrypted\n")
	is.Equal(f.awaitInput(), "hello\n")
	f.prints(0, api.StreamOut, "a\nb")
	f.prints(1, api.StreamErr, "oh\n")
	f.prints(0, api.StreamOut, "c\n")
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
	is.Equal(r.out.String(), "[0] a\n[0] bc\n")
	is.True(strings.Contains(r.err.String(), "[1] oh\n"))
	is.True(!strings.Contains(r.err.String(), "ended"))
}

// TestRunSaysWhereItsPortsAreOpen: once they are, which may be a moment after the
// job runs, and once.
func TestRunSaysWhereItsPortsAreOpen(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	_, done := r.begin("run", "-n", "2", "--publish", "8080", "--", "python", "serve.py")
	r.daemon.Await("job.watch")
	f.runs()
	r.err.await(t, "fulmen: j4k2m9xq7: running on")
	f.mu.Lock()
	f.ports = []api.PublishedPort{{Port: 8080, Addresses: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080")}}}
	f.mu.Unlock()
	f.change(func(j *api.Job) { j.Message = "something else" })
	const line = "fulmen: j4k2m9xq7: port 8080 is open at 127.0.0.1:8080\n"
	r.err.await(t, line)
	f.change(func(j *api.Job) { j.Message = "and more" })
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
	is.Equal(strings.Count(r.err.String(), line), 1)
}

func TestRunEndsWithTheStatusOfTheJob(t *testing.T) {
	for name, c := range map[string]struct {
		phase   api.JobPhase
		code    int
		change  func(*api.Job)
		status  int
		reports string
	}{
		"a rank fails": {api.JobFailed, 42, failed, 42, "fulmen: Rank 1 on mac-mini ended with exit code 42.\n  See: fulmen job logs j4k2m9xq7 --rank 1\n"},
		"a rank is killed": {api.JobFailed, 137, func(j *api.Job) {
			failed(j)
			j.Reason, j.Message = api.ReasonRankOutOfMemory, "mac-mini had no memory left."
		}, 137, "fulmen: Rank 1 on mac-mini: mac-mini had no memory left.\n  Ask for more memory a rank, or use more nodes. See: fulmen job logs j4k2m9xq7 --rank 1\n"},
		"it could not be started": {api.JobFailed, 127, func(j *api.Job) {
			j.Reason, j.Message, j.Attempts = api.ReasonProgramMissing, "train.py is not on mac-mini.", nil
		}, 127, "fulmen: train.py is not on mac-mini.\n  Copy it there, or pass --sync (program.sync in a file). See: fulmen job show j4k2m9xq7\n"},
		"it was lost": {api.JobFailed, 125, func(j *api.Job) {
			j.Reason, j.Message = api.ReasonNodeLost, "mac-mini was lost."
		}, 125, "fulmen: mac-mini was lost.\n  See: fulmen nodes\n"},
		"somebody stopped it": {api.JobStopped, 143, func(j *api.Job) { j.Reason = api.ReasonStoppedByPerson }, 143, ""},
		"it succeeded":        {api.JobSucceeded, 0, nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			f := r.fake()
			_, done := r.begin("run", "-q", "-n", "2", "--", "x")
			r.daemon.Await("job.watch")
			f.runs()
			f.ends(c.phase, c.code, c.change)
			is.Equal(<-done, c.status)
			is.Equal(r.err.String(), c.reports)
		})
	}
}

func TestRunOfOneRankIsLikeTheProgramItself(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	_, done := r.begin("run", "--quiet", "x", "--flag", "-n") // flags after the command are the command's
	r.daemon.Await("job.watch")
	f.prints(0, api.StreamOut, "50 %\r")
	r.out.await(t, "50 %\r") // at once, without a line's end
	f.prints(0, api.StreamOut, "\xff\x00 no newline")
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
	is.Equal(r.out.String(), "50 %\r\xff\x00 no newline")
	is.Equal(r.err.String(), "")
	is.Equal(f.spec.Program.Command, []string{"x", "--flag", "-n"})
	is.Equal(f.spec.Placement.Ranks, 1)
}

func TestCtrlC(t *testing.T) {
	stops := func(r *rig) []bool {
		var out []bool
		for _, raw := range r.called("job.stop") {
			var p api.JobStopParams
			is.New(r.t).NoErr(json.Unmarshal([]byte(raw), &p))
			out = append(out, p.Kill)
		}
		return out
	}
	begun := func(t *testing.T) (*rig, *fakeJob, <-chan int) {
		r := newRig(t, "")
		f := r.fake()
		_, done := r.begin("run", "-n", "2", "--stdin", "none", "--", "x")
		f.runs()
		r.err.await(t, "running on")
		return r, f, done
	}
	t.Run("once stops it, and the job's end is awaited", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t)
		f.interrupt()
		r.daemon.Await("job.stop")
		f.ends(api.JobStopped, 143, func(j *api.Job) { j.Reason = api.ReasonStoppedByPerson })
		is.Equal(<-done, 130)
		is.Equal(stops(r), []bool{false})
		is.True(strings.HasSuffix(r.err.String(), "stopping the job; Ctrl-C again kills it\n"))
	})
	t.Run("SIGTERM is not Ctrl-C", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t)
		f.signals <- syscall.SIGTERM
		r.daemon.Await("job.stop")
		f.ends(api.JobStopped, 143, func(j *api.Job) { j.Reason = api.ReasonStoppedByPerson })
		is.Equal(<-done, 143)
	})
	t.Run("a rank that ends with a status of its own", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t)
		f.interrupt()
		r.daemon.Await("job.stop")
		f.ends(api.JobStopped, 3, func(j *api.Job) { j.Reason = api.ReasonStoppedByPerson })
		is.Equal(<-done, 130)
	})
	t.Run("is no success, whatever the ranks say", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t)
		f.interrupt()
		r.daemon.Await("job.stop")
		f.ends(api.JobStopped, 0, func(j *api.Job) { j.Reason = api.ReasonStoppedByPerson })
		is.Equal(<-done, 130)
	})
	t.Run("twice kills it, three times leaves it", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t)
		f.interrupt()
		r.err.await(t, "Ctrl-C again kills it")
		r.daemon.Await("job.stop")
		f.interrupt()
		r.err.await(t, "Ctrl-C again detaches from it")
		r.daemon.AwaitTimes("job.stop", 2)
		f.interrupt()
		is.Equal(<-done, 130)
		is.Equal(stops(r), []bool{false, true})
		is.True(strings.HasSuffix(r.err.String(), "detached from the job; see: fulmen job show j4k2m9xq7\n"))
	})
	t.Run("the terminal is closed", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t)
		f.signals <- syscall.SIGHUP
		is.Equal(<-done, 129)
		is.Equal(stops(r), []bool{false})
	})
}

// TestRunTellsWhichOutputIsMissing: who is told that a job failed is not kept, and of
// one that succeeded the rest is waited for.
func TestRunTellsWhichOutputIsMissing(t *testing.T) {
	begun := func(t *testing.T, timeout time.Duration) (*rig, *fakeJob, <-chan int) {
		r := newRig(t, "")
		f := r.fake()
		f.away, r.app.timeout = true, timeout
		_, done := r.begin("run", "-n", "2", "--stdin", "none", "--", "x")
		r.daemon.Await("job.logs")
		f.runs()
		f.prints(0, api.StreamOut, "all\n")
		f.gives(api.JobOutput{OutputPiece: api.OutputPiece{Rank: 0, Complete: true}})
		r.out.await(t, "all\n")
		r.err.await(t, "running on")
		return r, f, done
	}
	const missing = "rank 1 on mac-mini printed arrived."
	t.Run("a job that failed", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t, time.Hour)
		ended := time.Now()
		f.ends(api.JobFailed, 125, func(j *api.Job) { j.Reason, j.Message = api.ReasonNodeLost, "mac-mini was not heard for 2.1s." })
		is.Equal(<-done, 125)
		is.True(time.Since(ended) < time.Minute) // and not for the hour that a job which runs is waited for
		is.True(lastOutput < time.Second)
		is.True(strings.HasSuffix(r.err.String(), "fulmen: mac-mini was not heard for 2.1s.\n  Not everything that "+missing+"\n  See: fulmen nodes\n"))
	})
	t.Run("a job that was stopped", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t, time.Hour)
		f.ends(api.JobStopped, 143, func(j *api.Job) { j.Reason = api.ReasonStoppedByPerson })
		is.Equal(<-done, 143)
		is.True(strings.Contains(r.err.String(), "Not everything that "+missing+" To see everything that is kept: fulmen job logs j4k2m9xq7\n"))
	})
	t.Run("a job that succeeded", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t, 10*time.Millisecond)
		f.ends(api.JobSucceeded, 0, nil)
		is.Equal(<-done, 125)
		r.err.await(t, "succeeded; waiting for the rest of what rank 1 on mac-mini printed; Ctrl-C stops waiting\n")
		is.True(strings.HasSuffix(r.err.String(), "fulmen: The job succeeded, but not everything that "+missing+"\n  To see everything that is kept: fulmen job logs j4k2m9xq7\n"))
	})
	t.Run("and the rest comes", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t, time.Hour)
		f.gives(api.JobOutput{OutputPiece: api.OutputPiece{Rank: 1, Notice: &api.Cause{Reason: api.ReasonOutputWaits, Message: "mac-mini does not answer."}}})
		f.ends(api.JobSucceeded, 0, nil)
		r.err.await(t, "waiting for the rest")
		f.prints(1, api.StreamOut, "the rest\n")
		f.gives(api.JobOutput{OutputPiece: api.OutputPiece{Rank: 1, Complete: true}})
		f.gives(api.JobOutput{Terminal: true})
		is.Equal(<-done, 0)
		is.Equal(r.out.String(), "[0] all\n[1] the rest\n")
	})
	t.Run("the daemon gives up", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t, time.Hour)
		f.away = false
		f.gives(api.JobOutput{OutputPiece: api.OutputPiece{Rank: 1, Notice: &api.Cause{Reason: api.ReasonOutputUnreachable, Message: "mac-mini does not answer."}}})
		f.ends(api.JobSucceeded, 0, nil)
		is.Equal(<-done, 125)
		is.True(strings.HasSuffix(r.err.String(), missing+"\n  mac-mini does not answer.\n  To see everything that is kept: fulmen job logs j4k2m9xq7\n"))
	})
	t.Run("a full disk", func(t *testing.T) {
		is := is.New(t)
		r, f, done := begun(t, time.Hour)
		f.away = false
		f.gives(api.JobOutput{OutputPiece: api.OutputPiece{Rank: 1, Notice: &api.Cause{Reason: api.ReasonOutputLost, Message: "mac-mini: No space.", Remedy: "Free some."}}})
		f.ends(api.JobSucceeded, 0, nil)
		is.Equal(<-done, 125)
		is.True(strings.HasSuffix(r.err.String(), missing+"\n  mac-mini: No space.\n  Free some.\n"))
		r.listed()
		is.Equal(r.run("job", "logs", "j4k"), 1)
		is.True(strings.HasSuffix(r.err.String(), "fulmen: Not everything that "+missing+"\n  mac-mini: No space.\n  Free some.\n"))
	})
}

// TestRunEndsWithTheLastLinesOfTheFailedRank: those that others have pushed away.
func TestRunEndsWithTheLastLinesOfTheFailedRank(t *testing.T) {
	for name, c := range map[string]struct {
		last int
		want string
	}{
		"others printed since":   {0, "[0] x\nfulmen: the last lines of rank 1 on mac-mini:\n[1] ValueError\nfulmen: Rank 1 on mac-mini ended with exit code 42.\n"},
		"they are on the screen": {1, "[1] ValueError\n[1] x\nfulmen: Rank 1 on mac-mini ended with exit code 42.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			f := r.fake()
			_, done := r.begin("run", "-q", "-n", "2", "--stdin", "none", "--", "x")
			r.daemon.Await("job.logs")
			f.runs()
			f.prints(1, api.StreamErr, "ValueError\n")
			f.prints(c.last, api.StreamErr, "x\n")
			f.ends(api.JobFailed, 42, failed)
			is.Equal(<-done, 42)
			is.True(strings.Contains(r.err.String(), c.want))
		})
	}
}

// TestRunTellsThatARankEndedAlone: as a fact, after a while.
func TestRunTellsThatARankEndedAlone(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	_, done := r.begin("run", "-n", "2", "--stdin", "none", "--", "x")
	f.runs()
	r.err.await(t, "running on mac-studio, mac-mini over ring, unencrypted\n")
	code := 0
	f.rank(api.Rank{Job: jobA, Attempt: 1, Rank: 0, Phase: api.RankRunning})
	f.rank(api.Rank{Job: jobA, Attempt: 1, Rank: 1, Phase: api.RankExited, Exit: &api.Exit{Code: &code}, EndedAt: before(11 * time.Second)})
	r.err.await(t, "unencrypted; rank 1 on mac-mini has ended with exit code 0, the other rank goes on\n")
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
	is.Equal(strings.Count(r.err.String(), "running on"), 2)
}

func TestRunGoesOnOverAnotherConnection(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	_, done := r.begin("run", "-n", "2", "--stdin", "none", "--", "x")
	f.runs()
	f.prints(0, api.StreamOut, "before\n")
	r.out.await(t, "[0] before\n")
	r.err.await(t, "running on") // both connections are there
	r.daemon.Drop()
	r.err.await(t, "interrupted: ")
	f.prints(0, api.StreamOut, "after\n")
	r.out.await(t, "after\n")
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
	is.Equal(r.out.String(), "[0] before\n[0] after\n") // nothing twice
}

func TestRunWithoutADaemonAnyMore(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	r.app.timeout = time.Millisecond
	_, done := r.begin("run", "-n", "2", "--stdin", "none", "--", "x")
	f.runs()
	r.err.await(t, "running on")
	is.NoErr(r.daemon.Close())
	r.daemon.Drop()
	is.Equal(<-done, 125)
	is.True(strings.HasSuffix(r.err.String(), "fulmen: The connection to the daemon was lost. The job j4k2m9xq7 may go on.\n  Once the daemon runs: fulmen job attach j4k2m9xq7\n"))
}

func TestRunIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		status  int
		reports string
	}{
		"a conflict":  {api.NewError(api.ReasonSpecConflict, ""), 125, "exclude each other"},
		"no program":  {api.Errorf(api.ReasonProgramMissing, "", "x is nowhere."), 127, "x is nowhere."},
		"no right to": {api.Errorf(api.ReasonProgramNotExecutable, "", "x is a text."), 126, "x is a text."},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			r.fake()
			r.daemon.Set("job.submit", func(json.RawMessage) (any, error) { return nil, c.err })
			is.Equal(r.run("run", "x"), c.status)
			is.True(strings.Contains(r.err.String(), c.reports))
		})
	}
	t.Run("an unknown node", func(t *testing.T) {
		is := is.New(t)
		r := newRig(t, "")
		r.fake()
		is.Equal(r.run("run", "--nodes", "mac-stdio", "x"), 125)
		is.Equal(r.err.String(), "fulmen: There is no node called \"mac-stdio\".\n  See: fulmen nodes\n")
	})
}

func TestRunDetached(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "input")
	f := r.fake()
	is.Equal(r.run("run", "-d", "-n", "2", "x"), 0)
	is.Equal(r.out.String(), "j4k2m9xq7\n")
	is.True(f.spec.Detached)
	is.Equal(f.spec.Program.Stdin, api.StdinNone)
	is.Equal(len(r.called("job.watch")), 0)
}

func TestRunForPrograms(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	_, done := r.begin("run", "--json", "-n", "2", "x")
	r.daemon.Await("job.logs")
	f.runs()
	f.prints(1, api.StreamOut, "a")
	r.out.await(t, `"output"`)
	f.ends(api.JobFailed, 42, failed)
	is.Equal(<-done, 42)
	var kinds []string
	for line := range strings.Lines(r.out.String()) {
		var e map[string]json.RawMessage
		is.NoErr(json.Unmarshal([]byte(line), &e))
		is.Equal(len(e), 1)
		for kind := range e {
			kinds = append(kinds, kind)
		}
	}
	is.Equal(kinds[0], "submitted")
	is.Equal(kinds[len(kinds)-1], "changed")
	is.True(strings.Contains(r.out.String(), `"terminal":true,"exit_code":42`))
	var problem map[string]api.Error
	is.NoErr(json.Unmarshal([]byte(r.err.String()), &problem))
	is.Equal(problem["error"].Data.Reason, api.ReasonRankFailed)
}
