package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// listed are jobs for commands that are given the beginning of an id.
func (r *rig) listed() {
	r.daemon.Always("job.list", api.JobListResult{Jobs: []api.JobSummary{
		{Job: jobA, Name: "train.py", Principal: api.Principal{User: "ada", Node: studio}, Mine: true, Phase: api.JobRunning, Nodes: []api.NodeID{studio, mini}, Ranks: 2, SubmittedAt: before(0)},
	}})
}

func TestJobCommands(t *testing.T) {
	for _, c := range []struct {
		args, method, params, reports string
	}{
		{"stop j4k", "job.stop", `{"job":"j4k2m9xq7"}`, "j4k2m9xq7 is being stopped.\n"},
		{"stop --kill J4K2M9XQ7", "job.stop", `{"job":"j4k2m9xq7","kill":true}`, "j4k2m9xq7 is being stopped.\n"},
		{"delete j4k", "job.delete", `{"job":"j4k2m9xq7"}`, "j4k2m9xq7 is deleted.\n"},
		{"delete --keep-output j4k", "job.delete", `{"job":"j4k2m9xq7","output":"keep"}`, "j4k2m9xq7 is deleted.\n"},
		{"take-over j4k", "job.take_over", `{"job":"j4k2m9xq7"}`, "This Mac keeps the job j4k2m9xq7 now.\n"},
		{"retry j4k", "job.retry", `{"job":"j4k2m9xq7"}`, "jnewnewn1\n"},
	} {
		t.Run(c.args, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			r.listed()
			for _, m := range []string{"job.stop", "job.delete", "job.take_over"} {
				r.daemon.Always(m, api.Empty{})
			}
			r.daemon.Always("job.retry", map[string]string{"job": "jnewnewn1"})
			is.Equal(r.run(append([]string{"job"}, strings.Fields(c.args)...)...), 0)
			is.Equal(r.called(c.method), []string{c.params})
			is.Equal(r.out.String(), c.reports)
		})
	}
}

func TestJobThatIsNotThere(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.listed()
	is.Equal(r.run("job", "stop", "jx"), 1)
	is.Equal(r.err.String(), "fulmen: There is no job \"jx\".\n  See: fulmen jobs --all\n")
	is.Equal(len(r.called("job.stop")), 0)
	r.daemon.Set("job.delete", func(json.RawMessage) (any, error) { return nil, api.NewError(api.ReasonJobRunning, "") })
	is.Equal(r.run("job", "delete", "j4k"), 1)
	is.True(strings.HasSuffix(r.err.String(), "Stop it first: fulmen job stop j4k2m9xq7\n"))
}

func TestJobsAndJobShow(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.listed()
	f := r.fake()
	f.runs()
	is.Equal(r.run("jobs", "--all", "--label", "a=b"), 0)
	is.True(strings.Contains(r.out.String(), "j4k2m9xq7  train.py  ada@mac-studio *  running  2      mac-studio, mac-mini  just now\n"))
	is.Equal(r.called("job.list"), []string{`{"ended":true,"labels":{"a":"b"}}`})
	is.Equal(r.run("job", "show", "j4k"), 0)
	is.True(strings.Contains(r.out.String(), "plan: 2 nodes over ring, joined as a ring, unencrypted, may not be the best\n"))
	is.Equal(r.run("jobs", "--label", "a"), 2)
}

func TestJobsAreWatched(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.listed()
	stop, done := r.begin("jobs", "--watch")
	r.out.await(t, "train.py")
	r.daemon.Always("job.list", api.JobListResult{Jobs: []api.JobSummary{{Job: jobA, Name: "later.py", Principal: api.Principal{User: "ada", Node: studio}}}})
	doc := api.Document{Node: studio, Kind: api.KindJob, Name: string(jobA), Inc: 1, Seq: 1, At: before(0)}
	is.NoErr(doc.SetValue(api.Job{Home: studio, Phase: api.JobRunning, Principal: api.Principal{User: "ada", Node: studio}, Spec: json.RawMessage(`{}`)}))
	r.daemon.Put(doc)
	r.out.await(t, "later.py")
	stop()
	is.Equal(<-done, 0)
}

// TestOthersJobsAreWatched: their documents are not told, and that they changed is.
func TestOthersJobsAreWatched(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.listed()
	begins := make(chan struct{})
	r.daemon.SetStream("event.watch", func(json.RawMessage) (any, func(func(any) error), error) {
		return api.EventWatchResult{Sub: "s1"}, func(notify func(any) error) {
			<-begins
			_ = notify(api.EventHappened{Sub: "s1", N: 1, Events: []api.Event{{Seq: 1, At: before(0), Kind: api.EventJobChanged, Job: jobA, Phase: api.JobRunning}}})
		}, nil
	})
	stop, done := r.begin("jobs", "--watch")
	r.out.await(t, "train.py")
	r.daemon.Always("job.list", api.JobListResult{Jobs: []api.JobSummary{{Job: jobA, Name: "theirs.py", Principal: api.Principal{User: "eve", Node: studio}}}})
	close(begins)
	r.out.await(t, "theirs.py")
	stop()
	is.Equal(<-done, 0)
}

func TestJobLogs(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.listed()
	f := r.fake()
	f.runs()
	f.prints(0, api.StreamOut, "a\nb")
	f.prints(1, api.StreamErr, "c\n")
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(r.run("job", "logs", "j4k"), 0)
	is.Equal(r.out.String(), "[0] a\n[0] b")
	is.Equal(r.err.String(), "[1] c\n")
	is.Equal(r.run("job", "logs", "j4k", "--rank", "1", "--attempt", "2", "--tail", "4KiB", "--follow"), 0)
	is.Equal(r.called("job.logs")[1], `{"job":"j4k2m9xq7","attempt":2,"ranks":[1],"follow":true,"tail_bytes":4096}`)
	is.Equal(r.run("job", "logs", "j4k", "--tail", "lots"), 2)
}

// What a terminal would obey reaches none, unless the job was given a terminal and
// this one is it; a file gets every byte.
func TestOutputOnATerminal(t *testing.T) {
	const printed, harmless = "\x1b]52;c;x\x07\n", "\\x1b]52;c;x\\x07\n"
	for name, c := range map[string]struct {
		args        []string
		screen, tty bool
		out         string
	}{
		"logs on a terminal":              {[]string{"job", "logs", "j4k"}, true, false, harmless},
		"logs of a job with a terminal":   {[]string{"job", "logs", "j4k"}, true, true, harmless},
		"logs in a file":                  {[]string{"job", "logs", "j4k"}, false, false, printed},
		"attached on a terminal":          {[]string{"job", "attach", "j4k", "--quiet"}, true, false, harmless},
		"attached to look on":             {[]string{"job", "attach", "j4k", "--quiet"}, true, true, harmless},
		"attached with input":             {[]string{"job", "attach", "j4k", "--quiet", "--input"}, true, true, printed},
		"attached with input, no job tty": {[]string{"job", "attach", "j4k", "--quiet", "--input"}, true, false, harmless},
		"attached in a file":              {[]string{"job", "attach", "j4k", "--quiet"}, false, true, printed},
		"run on a terminal":               {[]string{"run", "--quiet", "--tty=false", "--", "x"}, true, false, harmless},
		"run with a terminal":             {[]string{"run", "--quiet", "--tty", "--", "x"}, true, true, printed},
		"run in a file":                   {[]string{"run", "--quiet", "--", "x"}, false, false, printed},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			r.listed()
			r.app.Screen = c.screen
			f := r.fake()
			request := api.JobRequest{Placement: api.Placement{Ranks: 1}, Program: api.Program{Terminal: c.tty}}
			f.job.Spec, _ = json.Marshal(request.Spec(jobA, f.job.Principal, before(0)))
			f.runs()
			f.prints(0, api.StreamOut, printed)
			f.ends(api.JobSucceeded, 0, nil)
			is.Equal(r.run(c.args...), 0)
			is.Equal(r.out.String(), c.out)
		})
	}
}

func TestJobAttach(t *testing.T) {
	attached := func(t *testing.T, detached bool) (*rig, *fakeJob, <-chan int) {
		r := newRig(t, "no input of the job's")
		r.listed()
		f := r.fake()
		f.job.Spec, _ = json.Marshal(api.JobRequest{Detached: detached, Placement: api.Placement{Ranks: 2}}.Spec(jobA, f.job.Principal, before(0)))
		f.runs()
		_, done := r.begin("job", "attach", "j4k")
		r.err.await(t, "running on mac-studio, mac-mini")
		return r, f, done
	}
	t.Run("ends as the job does", func(t *testing.T) {
		is := is.New(t)
		r, f, done := attached(t, true)
		f.prints(1, api.StreamOut, "x\n")
		f.ends(api.JobFailed, 42, failed)
		is.Equal(<-done, 42)
		is.Equal(r.out.String(), "[1] x\n")
		is.Equal(len(r.called("job.input")), 0)
	})
	t.Run("gives input after that of others", func(t *testing.T) {
		is := is.New(t)
		r := newRig(t, "more")
		r.listed()
		f := r.fake()
		f.job.Spec, _ = json.Marshal(api.JobRequest{Placement: api.Placement{Ranks: 2}}.Spec(jobA, f.job.Principal, before(0)))
		f.input = []byte("some and ")
		f.runs()
		_, done := r.begin("job", "attach", "--input", "j4k")
		is.Equal(f.awaitInput(), "some and more")
		f.ends(api.JobSucceeded, 0, nil)
		is.Equal(<-done, 0)
	})
	t.Run("Ctrl-C leaves a detached job", func(t *testing.T) {
		is := is.New(t)
		r, f, done := attached(t, true)
		f.interrupt()
		is.Equal(<-done, 130)
		is.Equal(len(r.called("job.stop")), 0)
		is.True(strings.HasSuffix(r.err.String(), "detached; the job goes on\n"))
	})
	t.Run("Ctrl-C stops one that a terminal follows", func(t *testing.T) {
		is := is.New(t)
		r, f, done := attached(t, false)
		f.interrupt()
		r.daemon.Await("job.stop")
		f.ends(api.JobStopped, 143, func(j *api.Job) { j.Reason = api.ReasonStoppedByPerson })
		is.Equal(<-done, 130)
	})
	t.Run("a job that has ended", func(t *testing.T) {
		is := is.New(t)
		r := newRig(t, "")
		r.listed()
		f := r.fake()
		f.runs()
		f.ends(api.JobFailed, 42, failed)
		is.Equal(r.run("job", "attach", "j4k"), 42)
	})
}

func TestPlanAndEnv(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.fake()
	r.daemon.Always("job.plan", api.JobPlanResult{Rejections: []api.PlanRejection{{Nodes: []api.NodeID{mini}, Backend: api.BackendRing, Cause: api.Cause{Reason: api.ReasonNotEnoughMemory}}}})
	is.Equal(r.run("plan", "-n", "2", "--rank0", "mac-mini", "--", "x"), 1)
	is.True(strings.Contains(r.called("job.plan")[0], `"rank0":"`+string(mini)+`"`))
	is.True(strings.Contains(r.out.String(), "mac-mini  ring     The node's GPU has too little memory, or too little of it is free\n"))
	is.Equal(r.err.String(), "")
	r.daemon.Always("job.plan", api.JobPlanResult{Plan: &api.Plan{Ranks: []api.PlanRank{{Node: studio}}}})
	is.Equal(r.run("plan", "x"), 0)

	r.daemon.Always("job.preflight", api.JobPreflightResult{Nodes: []api.Preflight{{Node: studio}}})
	is.Equal(r.run("env", "--nodes", "mac-studio", "--python", "python3"), 0)
	is.Equal(r.called("job.preflight")[0], `{"program":{"command":["python3"],"directory":"/home/ada/work","home":"/home/ada","interpreter":"python3","stdin":"none"},"nodes":["mac-studio"]}`)
	r.daemon.Always("job.preflight", api.JobPreflightResult{Nodes: []api.Preflight{{Node: studio, Problems: []api.Cause{{Reason: api.ReasonDirectoryMissing}}}}})
	is.Equal(r.run("env"), 1)
}
