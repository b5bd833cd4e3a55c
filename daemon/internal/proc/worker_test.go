package proc

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
)

// realWorker is a run of the worker that make build made.
func realWorker(t *testing.T, args ...string) Command {
	t.Helper()
	program, err := filepath.Abs("../../../build/bin/fulmen-rank")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("the worker is not there; run make build: ", err)
	}
	return Command{Path: program, Args: args, Env: Environment(os.Environ(), "PATH", "HOME"), Deadline: 2 * time.Minute}
}

func TestRealWorker(t *testing.T) {
	is := is.New(t)
	c := realWorker(t, "gpu", "-device", "cpu", "-time", "400ms")
	ratio := 0.0
	c.Progress = func(p worker.Progress) {
		if p.DoneRatio < ratio {
			t.Errorf("progress fell from %v to %v", ratio, p.DoneRatio)
		}
		ratio = p.DoneRatio
	}
	r := run(t, c)
	is.Equal(r.Sentence, "The worker gave its result.")
	var gpu worker.GPU
	is.NoErr(r.Word.Decode(&gpu))
	is.True(len(gpu.MatMul) == 2 && gpu.MatMul[0].SpeedTFLOPS > 0)
	is.True(ratio > 0)
}

// What the worker's own process does when it is hurt: its runtime stands
// between the signal and the end.
func TestRealWorkerHurt(t *testing.T) {
	for _, tt := range []struct {
		signal  syscall.Signal
		outcome Outcome
	}{{syscall.SIGABRT, Aborted}, {syscall.SIGKILL, Killed}, {syscall.SIGSTOP, Hung}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			is := is.New(t)
			c := realWorker(t, "gpu", "-device", "cpu", "-time", "1h")
			if tt.outcome == Hung {
				c.Silence = 10 * time.Second // which MLX takes to load where the machine is busy
			}
			pid := 0
			c.Started = func(p int) { pid = p }
			var once sync.Once
			c.Progress = func(worker.Progress) { once.Do(func() { _ = syscall.Kill(pid, tt.signal) }) }
			r := run(t, c)
			t.Log(r.Sentence)
			is.Equal(r.Outcome, tt.outcome)
			is.True(r.Doing != "")
		})
	}
}
