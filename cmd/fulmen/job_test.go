package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"fulmen/daemon/api"
	"fulmen/daemon/client/clienttest"
)

const (
	stubNode = api.NodeID("csm7nbfrcayqev4e")
	stubJob  = api.JobID("j4k2m9xq7")
)

// stub serves a daemon whose jobs run on two nodes: stub STATUS. Each rank prints
// a line, and the job ends with that status; where it is stop, once somebody stops it.
func stub(ts *testscript.TestScript, _ bool, args []string) {
	d, err := clienttest.Start(ts.Getenv("FULMEN_HOME"))
	ts.Check(err)
	ts.Defer(func() { ts.Check(d.Close()) })
	d.Always("node.list", api.NodeListResult{Nodes: []api.NodeView{{Node: stubNode, ShortName: "mac-studio", Self: true}}})
	d.Always("job.submit", api.JobSubmitResult{Job: stubJob})
	d.Always("job.apply", api.JobApplyResult{Outcome: api.ApplyCreated, Job: stubJob})
	d.Always("job.input", api.Empty{})
	stopped := make(chan struct{})
	d.Set("job.stop", func(json.RawMessage) (any, error) {
		close(stopped)
		return api.Empty{}, nil
	})
	end, code := api.JobFailed, 128+15
	ada := api.Principal{User: "ada", Node: stubNode}
	spec, err := json.Marshal(api.JobRequest{Placement: api.Placement{Ranks: 2}}.Spec(stubJob, ada, api.Time{}))
	ts.Check(err)
	doc := func(phase api.JobPhase) api.Document {
		one := 1
		j := api.Job{Home: stubNode, Epoch: 1, Phase: phase, Attempt: 1, Principal: ada, Spec: spec}
		j.Attempts = []api.Attempt{{Attempt: 1, Plan: &api.Plan{Backend: api.BackendRing, Ranks: []api.PlanRank{{Rank: 0, Node: stubNode}, {Rank: 1, Node: stubNode}}}}}
		if phase == api.JobFailed {
			j.Reason, j.Attempts[0].FirstFailed, j.Attempts[0].ExitCode = api.ReasonRankFailed, &one, &code
		}
		d := api.Document{Node: stubNode, Kind: api.KindJob, Name: string(stubJob), Inc: 1, Seq: 1}
		ts.Check(d.SetValue(j))
		return d
	}
	d.Always("job.get", api.JobGetResult{Job: doc(api.JobRunning), Ranks: []api.Document{}})
	if args[0] == "stop" {
		end = api.JobStopped
	} else {
		close(stopped)
		if code, err = strconv.Atoi(args[0]); code == 0 {
			end = api.JobSucceeded
		}
		ts.Check(err)
	}
	d.SetStream("job.watch", func(json.RawMessage) (any, func(func(any) error), error) {
		return api.JobWatchResult{Sub: "s1", JobGetResult: api.JobGetResult{Job: doc(api.JobRunning), Ranks: []api.Document{}}}, func(notify func(any) error) {
			<-stopped
			_ = notify(api.JobChanged{Sub: "s1", N: 1, Put: []api.Document{doc(end)}, Terminal: true, ExitCode: &code}) // the client may be gone
		}, nil
	})
	d.SetStream("job.logs", func(json.RawMessage) (any, func(func(any) error), error) {
		return api.JobLogsResult{Sub: "s2"}, func(notify func(any) error) {
			for i, stream := range []api.OutputStream{api.StreamOut, api.StreamErr} {
				_ = notify(api.JobOutput{N: uint64(i + 1), OutputPiece: api.OutputPiece{Attempt: 1, Rank: i, Stream: stream, Data: []byte("hello\n")}}) // as above
			}
			<-stopped
			_ = notify(api.JobOutput{N: 3, Terminal: true})
		}, nil
	})
}

// status runs a program and holds it to its exit status: status 42 fulmen run ...
func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		got, err = ended.ExitCode(), nil
	}
	ts.Check(err)
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("it ended with %d, not %s", got, args[0])
	}
}

// interrupt runs a program, sends it what Ctrl-C does once it says that the job
// runs, and holds it to its exit status: interrupt 130 fulmen run ...
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	cmd := program(ts, args[1], args[2:]...)
	problems, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	lines := bufio.NewScanner(problems)
	for expectLine := false; !expectLine && lines.Scan(); {
		expectLine = strings.Contains(lines.Text(), "running on")
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	for lines.Scan() { // to its end
	}
	if err := cmd.Wait(); err == nil || strconv.Itoa(cmd.ProcessState.ExitCode()) != args[0] {
		ts.Fatalf("it ended with %v, not %s", err, args[0])
	}
}
