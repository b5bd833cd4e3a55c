package shim_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shimproto"
)

// probe has a shell script run beside the program.
func (d *daemon) probe(script string, seconds float64) {
	d.t.Helper()
	d.send(shimproto.Probe{RequestHeader: d.header(3), Command: []string{"sh", "-c", script}, TimeoutS: seconds})
}

// probed is the answer to the last one.
func (d *daemon) probed() shimproto.Probed {
	d.t.Helper()
	for {
		if r, ok := d.receive().(shimproto.Probed); ok && r.Re == d.id {
			return r
		}
	}
}

// numbers are the processes that a probe has printed.
func numbers(text string) (out []int) {
	for word := range strings.FieldsSeq(text) {
		if n, err := strconv.Atoi(word); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// A probe runs with the program's directory and environment, and its end is known, with what it
// printed last; whatever it has started ends with it.
func TestProbes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, "sleep 1000")
	spec.Dir = t.TempDir()
	spec.Env = append(spec.Env, "WORD=of the job")
	h := hold(t, spec)
	d, _ := h.attach(3)
	d.running(3)

	d.probe(`pwd; echo "$WORD"`, 60)
	got := d.probed()
	is.Equal(*got.Code, 0)
	dir, err := filepath.EvalSymlinks(spec.Dir)
	is.NoErr(err)
	is.Equal(got.Printed, dir+"\nof the job\n")

	d.probe("echo one; echo two >&2; exit 3", 60)
	got = d.probed()
	is.Equal(*got.Code, 3)
	is.Equal(got.Printed, "one\ntwo\n")

	d.probe("kill -SEGV $$", 60)
	is.Equal(d.probed().Signal, "SIGSEGV")

	d.send(shimproto.Probe{RequestHeader: d.header(3), Command: []string{"no-such-program"}, TimeoutS: 60})
	got = d.probed()
	is.Equal(*got.Code, 127)
	is.True(strings.Contains(got.Printed, "no-such-program"))

	d.probe("sleep 1000 & sleep 1000 & echo $! $(jobs -p)", 60) // children hold its output
	got = d.probed()
	is.Equal(*got.Code, 0)
	gone(t, numbers(got.Printed)...)

	d.probe("echo $$; trap '' TERM INT; sleep 1000", 0.2)
	got = d.probed()
	is.True(got.TimedOut && got.Signal == "SIGKILL")
	gone(t, numbers(got.Printed)...)

	d.probe("yes gigabytes", 0.3)
	got = d.probed()
	is.True(got.TimedOut)
	is.Equal(len(got.Printed), shimproto.MaxProbed)
	is.True(strings.Contains(got.Printed, "\ngigabytes\n"))

	is.Equal(d.running(3).Phase, shimproto.PhaseRunning) // nothing of that was the program's matter
}

// As many as a daemon makes run at once, and no more; they end with the rank, which does not
// wait for them.
func TestProbesEndWithTheRank(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, "trap 'exit 5' TERM; echo $$; while :; do sleep 0.01; done"))
	d, _ := h.attach(3)
	d.running(3)
	h.pids(1)
	for range 4 {
		d.probe("sleep 1000", 600)
	}
	d.probe("true", 60)
	is.True(d.probed().NotStarted != nil)
	d.send(d.stopFor(3, 60))
	began := time.Now()
	is.Equal(*d.exit().Code, 5)
	is.True(time.Since(began) < 30*time.Second) // not the grace
}

// A shim that dies takes its probes along.
func TestProbesOfAKilledShim(t *testing.T) {
	t.Parallel()
	h := hold(t, specOf(t, "sleep 1000"))
	d, _ := h.attach(3)
	d.running(3)
	d.probe("echo $$ >> "+filepath.Join(h.spec.Folder, "out.1")+"; sleep 1000", 600)
	pids := h.pids(1)
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone(t, pids...)
}
