package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
)

// reports is a message of the worker, as it prints it.
func reports(t *testing.T, m worker.Message, value any) string {
	t.Helper()
	is := is.New(t)
	if value != nil {
		raw, err := json.Marshal(value)
		is.NoErr(err)
		m.Value = raw
	}
	raw, err := json.Marshal(m)
	is.NoErr(err)
	return string(raw) + "\n"
}

func reportHow(t *testing.T, stage string, done float64) string {
	return reports(t, worker.Message{Type: worker.TypeProgress, Progress: &worker.Progress{Stage: stage, DoneRatio: done}}, nil)
}

// summed is what the worker found.
func summed() worker.AllReduce {
	return worker.AllReduce{Backend: "any", Size: 2, DType: "float32", Rows: []worker.AllReduceRow{
		{MessageBytes: 1024, Runs: 200, TimeUS: 250, AlgBytesPerS: 4.096e6, BusBytesPerS: 4.096e6},
		{MessageBytes: 1 << 20, Runs: 40, TimeUS: 2500, AlgBytesPerS: 4.2e8, BusBytesPerS: 6.3e8},
	}}
}

func TestBenchShowsABarAndATable(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	_, done := r.begin("bench", "allreduce", "--sizes", "1KiB-1MiB", "--per-size", "50ms")
	r.daemon.Await("job.watch")
	f.runs()
	r.err.await(t, "  0 %  running on mac-studio, mac-mini over ring, unencrypted\n")
	text := reportHow(t, "all_sum, 1024 bytes", 0)
	f.prints(0, api.StreamOut, text[:7]) // pieces end anywhere
	f.prints(1, api.StreamOut, reportHow(t, "not shown", 0.3))
	f.prints(0, api.StreamOut, text[7:]+"something else\n"+reportHow(t, "all_sum, 1048576 bytes", 0.5))
	f.prints(1, api.StreamErr, "a remark\n")
	f.prints(1, api.StreamOut, reports(t, worker.Message{Type: worker.TypeResult}, worker.AllReduce{Rank: 1, Size: 9}))
	f.prints(0, api.StreamOut, reports(t, worker.Message{Type: worker.TypeResult}, summed()))
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
	is.Equal(r.out.String(), "SIZE      TIME    ALGORITHM  BUS        RUNS\n"+
		"1.00 KiB  250 µs  4.10 MB/s  4.10 MB/s  200\n"+
		"1.00 MiB  2.5 ms  420 MB/s   630 MB/s   40\n"+
		"\nall_sum of float32 by 2 ranks over ring.\n")
	is.True(strings.Contains(r.err.String(), "  0 %  all_sum, 1024 bytes\n 50 %  all_sum, 1048576 bytes\n"))
	is.True(strings.Contains(r.err.String(), "[1] a remark\n"))
	is.True(!strings.Contains(r.err.String(), "not shown"))

	is.Equal(f.spec.Program.Builtin, api.BuiltinAllReduce)
	is.Equal(strings.Join(f.spec.Program.Command, " "), "-messages stdout -dtype float32 -per-size 50ms -min-bytes 1024 -max-bytes 1048576")
	is.Equal(f.spec.Program.Stdin, api.StdinNone)
	is.Equal(f.spec.Placement.Ranks, 2) // the third node is asleep
}

func TestBenchForPrograms(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	r.daemon.Always("node.list", api.NodeListResult{Nodes: []api.NodeView{{Node: studio, ShortName: "mac-studio", Simulated: true}, {Node: mini, ShortName: "mac-mini"}}})
	_, done := r.begin("bench", "allreduce", "--json", "--nodes", "mac-studio,mac-mini", "--backend", "jaccl-ring", "--sizes", "64K")
	r.daemon.Await("job.watch")
	f.runs()
	f.prints(0, api.StreamOut, reports(t, worker.Message{Type: worker.TypeResult}, summed()))
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
	var got allReduced
	is.NoErr(json.Unmarshal([]byte(r.out.String()), &got))
	is.Equal(got.Job, jobA)
	is.Equal(got.Result, summed())
	is.Equal(len(got.Plan.Ranks), 2)
	is.True(got.Simulated)
	is.Equal(f.spec.Placement.Nodes, []api.NodeID{studio, mini})
	is.Equal(f.spec.Placement.Backend, api.BackendJACCLRing)
	is.True(strings.HasSuffix(strings.Join(f.spec.Program.Command, " "), "-min-bytes 65536 -max-bytes 65536 -backend jaccl"))
}

func TestBenchOnATerminal(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.app.Terminal = true
	f := r.fake()
	_, done := r.begin("bench", "allreduce", "-n", "2")
	r.daemon.Await("job.watch")
	f.runs()
	f.prints(0, api.StreamOut, reportHow(t, "all_sum, 2048 bytes", 0.5))
	r.err.await(t, "\x1b[?7l\r\x1b[K[############............]  50 %  all_sum, 2048 bytes\x1b[?7h")
	f.prints(1, api.StreamErr, "a remark\n")
	r.err.await(t, "a remark\n")
	f.prints(0, api.StreamOut, reports(t, worker.Message{Type: worker.TypeResult}, summed()))
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
	is.True(strings.HasSuffix(r.err.String(), "\r\x1b[K")) // nothing of it stays
}

func TestBenchThatHasNoTable(t *testing.T) {
	for name, c := range map[string]struct {
		phase   api.JobPhase
		code    int
		change  func(*api.Job)
		status  int
		reports string
	}{
		"a rank fails":   {api.JobFailed, 42, failed, 42, "fulmen: Rank 1 on mac-mini ended with exit code 42.\n"},
		"no result came": {api.JobSucceeded, 0, nil, 125, "fulmen: The job j4k2-m9xq-7 ended without results.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			f := r.fake()
			_, done := r.begin("bench", "allreduce", "-n", "2")
			r.daemon.Await("job.watch")
			f.runs()
			f.ends(c.phase, c.code, c.change)
			is.Equal(<-done, c.status)
			is.Equal(r.out.String(), "")
			if want := strings.ReplaceAll(c.reports, "j4k2-m9xq-7", fmt.Sprint(jobA)); !strings.Contains(r.err.String(), want) {
				t.Errorf("it says %q", r.err.String())
			}
		})
	}
}

func TestInterruptedBench(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	_, done := r.begin("bench", "allreduce", "-n", "2")
	r.daemon.Await("job.watch")
	f.runs()
	f.interrupt()
	r.daemon.Await("job.stop")
	f.ends(api.JobStopped, 143, func(j *api.Job) { j.Reason = api.ReasonStoppedByPerson })
	is.Equal(<-done, 130)
	is.Equal(r.out.String(), "")
}

func TestWrongBench(t *testing.T) {
	for line, want := range map[string]string{
		"-n 1":                   "one rank has nothing to add up",
		"--nodes mac-mini":       "one rank has nothing to add up",
		"--sizes 1MiB-1KiB":      `--sizes must be the smallest and the largest message, such as 1KiB-64MiB, not "1MiB-1KiB"`,
		"--sizes 2":              "--sizes must be",
		"--sizes many":           "--sizes must be",
		"--per-size 0s":          "--per-size must be a length of time",
		"--dtype int8":           `not "int8"`,
		"--backend pigeon":       `not "pigeon"`,
		"--deadline-placing -1s": "--deadline-placing must be a length of time",
		"more":                   "unknown command",
	} {
		t.Run(line, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			is.Equal(r.run(append([]string{"bench", "allreduce"}, strings.Fields(line)...)...), 2)
			is.True(strings.Contains(r.err.String(), want))
			is.Equal(len(r.called("job.submit")), 0)
		})
	}
}
