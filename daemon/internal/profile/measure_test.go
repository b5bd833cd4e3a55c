package profile

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

var update = flag.Bool("update", false, "write the golden files")

func TestResult(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	w := r.begin(caller("ada"))
	is.Equal(w.Measurement.State, api.MeasureRunning)
	is.Equal(w.Measurement.By, caller("ada").Principal)
	c := <-r.started
	r.change(func(now *api.MeasureConditions) { now.ThermalState = api.ThermalFair }) // it got warm meanwhile
	c.Progress(worker.Progress{Stage: "matmul float16", DoneRatio: 0.4})
	m, terminal, err := w.Next(t.Context())
	is.NoErr(err)
	is.True(!terminal)
	is.Equal(m.Items[0].Step, "matmul float16")
	is.Equal(*m.Items[0].DoneRatio, 0.4)
	c.Progress(worker.Progress{Stage: "sum", DoneRatio: 0.2})
	m, _, _ = w.Next(t.Context())
	is.Equal(*m.Items[0].DoneRatio, 0.4) // never falls

	r.ends <- recordOf(t, sampleGPU())
	m = last(t, w)
	is.Equal(m.State, api.MeasureDone)
	is.Equal(m.Items[0].State, api.MeasureDone)
	is.Equal(*m.Items[0].DoneRatio, 1.0)
	is.Equal(r.codes(), []api.Reason{api.ReasonBLASSlow})
	golden(t, "profile.json", struct {
		Value   api.GPUProfile        `json:"value"`
		Unknown map[string]api.Reason `json:"unknown"`
	}{r.doc(), r.unknown})

	// The second result makes the first one history.
	r.clock.Advance(time.Minute)
	w = r.begin(caller("ada"))
	fast := sampleGPU()
	fast.BLAS.Name = "openblas"
	fast.MatMul[0].SpeedTFLOPS = 1
	r.end(recordOf(t, fast))
	last(t, w)
	is.Equal(len(r.codes()), 0) // OpenBLAS is there now
	is.Equal(*r.doc().FP16TFLOPS, 1.0)
	is.Equal(len(r.doc().History), 1)
	is.Equal(r.doc().History[0].FP16TFLOPS, 0.0044)
}

func golden(t *testing.T, name string, value any) {
	t.Helper()
	is := is.New(t)
	text, err := json.MarshalIndent(value, "", "  ")
	is.NoErr(err)
	file := filepath.Join("testdata", name)
	if *update {
		is.NoErr(os.WriteFile(file, append(text, '\n'), 0o644))
	}
	want, err := os.ReadFile(file)
	is.NoErr(err)
	is.Equal(string(text)+"\n", string(want))
}

func TestFailures(t *testing.T) {
	r := newRig(t)
	w := r.begin(caller("ada"))
	r.end(recordOf(t, sampleGPU()))
	last(t, w)
	reported := func(reason worker.Reason) *worker.Message {
		return &worker.Message{Type: worker.TypeError, Error: &worker.Error{Reason: reason, Message: "no", Remedy: "do this"}}
	}
	tests := []struct {
		name      string
		record    proc.Record
		reason    api.Reason
		code      api.Code
		condition bool
	}{
		{"crash", proc.Record{Outcome: proc.Crashed}, api.ReasonWorkerCrashed, api.CodeInternal, true},
		{"abort", proc.Record{Outcome: proc.Aborted}, api.ReasonWorkerAborted, api.CodeInternal, true},
		{"hang", proc.Record{Outcome: proc.Hung, Doing: "sum"}, api.ReasonWorkerHung, api.CodeDeadline, true},
		{"too long", proc.Record{Outcome: proc.TooLong}, api.ReasonWorkerHung, api.CodeDeadline, true},
		{"memory", proc.Record{Outcome: proc.OutOfMemory}, api.ReasonWorkerOutOfMemory, api.CodeExhausted, true},
		{"killed", proc.Record{Outcome: proc.Killed}, api.ReasonWorkerCrashed, api.CodeInternal, true},
		{"garbled", proc.Record{Outcome: proc.Garbled}, api.ReasonWorkerCrashed, api.CodeInternal, true},
		{"silent end", proc.Record{Outcome: proc.NoResult}, api.ReasonWorkerCrashed, api.CodeInternal, true},
		{"no device", proc.Record{Outcome: proc.Failed, Word: reported(worker.ReasonNoDevice)}, api.ReasonGPUUnavailable, api.CodeUnsupported, false},
		{"the device's memory", proc.Record{Outcome: proc.Failed, Word: reported(worker.ReasonOutOfMemory)}, api.ReasonWorkerOutOfMemory, api.CodeExhausted, true},
		{"MLX's error", proc.Record{Outcome: proc.Failed, Word: reported(worker.ReasonMLX)}, "mlx_failed", api.CodeInternal, false},
		{"its own deadline", proc.Record{Outcome: proc.Failed, Word: reported(worker.ReasonDeadline)}, api.ReasonWorkerHung, api.CodeDeadline, true},
		{"our command line", proc.Record{Outcome: proc.Failed, Word: reported(worker.ReasonUsage)}, api.ReasonInternal, api.CodeInternal, false},
		{"no worker", proc.Record{Outcome: proc.NotStarted, StartErr: os.ErrNotExist}, api.ReasonMLXMissing, api.CodePrecondition, true},
		{"not executable", proc.Record{Outcome: proc.NotStarted, StartErr: os.ErrPermission}, api.ReasonSpawnFailed, api.CodeInternal, false},
		{"no libmlx on Linux", proc.Record{Outcome: proc.Crashed, ExitCode: 127, Stderr: "x: error while loading shared libraries: libmlx.so: cannot open\n"}, api.ReasonMLXMissing, api.CodePrecondition, true},
		{"no libmlx on macOS", proc.Record{Outcome: proc.Aborted, Stderr: "dyld[1]: Library not loaded: @rpath/libmlx.dylib\n"}, api.ReasonMLXMissing, api.CodePrecondition, true},
		{"another library", proc.Record{Outcome: proc.Crashed, Stderr: "error while loading shared libraries: libc.so\n"}, api.ReasonWorkerCrashed, api.CodeInternal, true},
		{"nonsense", proc.Record{Outcome: proc.OK, Word: &worker.Message{Type: worker.TypeResult, Value: []byte(`[]`)}}, api.ReasonSourceMalformed, api.CodeInvalid, false},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			w := r.begin(caller("ada"))
			tt.record.Sentence = "The measuring process did it."
			r.end(tt.record)
			m := last(t, w)
			is.Equal(m.State, api.MeasureFailed)
			e := m.Items[0].Error
			is.Equal(e.Data.Reason, tt.reason)
			is.Equal(e.Code, tt.code)
			is.True(e.Message != "")
			is.Equal(e.Data.WaitingFor, tt.record.Doing) // a wait says in what it ended
			if tt.record.Outcome == proc.Failed {
				is.Equal(e.Data.Remedy, "do this")
			}
			f := r.doc().Failure
			is.Equal(f.Reason, tt.reason)
			is.Equal(f.Message, e.Message)
			is.Equal(f.Retries, i+1)
			is.Equal(*r.doc().FP16TFLOPS, 0.0044) // what was measured before stays
			want := []api.Reason{api.ReasonBLASSlow}
			if tt.condition {
				want = append(want, tt.reason)
			}
			is.Equal(len(r.codes()), len(want)) // the one before is not left standing
			for _, code := range want {
				_, holds := r.holds[code]
				is.True(holds)
			}
		})
	}
	is := is.New(t)
	is.Equal(r.holds[api.ReasonWorkerCrashed], "")
	w = r.begin(caller("ada"))
	r.end(recordOf(t, sampleGPU()))
	last(t, w)
	is.Equal(r.codes(), []api.Reason{api.ReasonBLASSlow})
	is.True(r.doc().Failure == nil)
}

func TestUnstableResult(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	g := sampleGPU()
	g.MatMul[0].SpreadRatio = 2
	w := r.begin(caller("ada"))
	r.end(recordOf(t, g))
	last(t, w)
	is.Equal(r.codes(), []api.Reason{api.ReasonBLASSlow, api.ReasonResultUnstable})
}

// A result that could not be published is no success.
func TestUnpublishedResult(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	r.putErr = api.NewError(api.ReasonDiskFull, "")
	w := r.begin(caller("ada"))
	r.end(recordOf(t, sampleGPU()))
	m := last(t, w)
	is.Equal(m.State, api.MeasureFailed)
	is.Equal(m.Items[0].Error.Data.Reason, api.ReasonDiskFull)
}

func TestNeverTwoAtOnce(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	first, second := r.begin(caller("ada")), r.begin(caller("bob"))
	is.Equal(first.Measurement.ID, second.Measurement.ID) // who comes second joins
	is.Equal(second.Measurement.By, caller("ada").Principal)
	r.end(recordOf(t, sampleGPU()))
	is.Equal(last(t, first).State, api.MeasureDone)
	is.Equal(last(t, second).State, api.MeasureDone)

	// Many, each again as soon as it sees the end.
	var all sync.WaitGroup
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-r.started:
				r.ends <- recordOf(t, sampleGPU())
			case <-done:
				return
			}
		}
	}()
	for range 8 {
		all.Go(func() {
			for range 10 {
				w, err := r.MeasureGPU(t.Context(), caller("ada"), api.MeasureGPUParams{})
				if err != nil {
					t.Error(err)
					return
				}
				last(t, w)
			}
		})
	}
	all.Wait()
	close(done)
	r.Close()
	is.Equal(r.most, 1)
	is.True(r.count >= 11) // who asks at the end begins anew
}

// Real processes from end to end: the daemon's side of a crash and of a hang.
func TestWithProcesses(t *testing.T) {
	program, err := os.Executable()
	is.New(t).NoErr(err)
	tests := []struct {
		mode   string
		quiet  string // longer than a process takes to begin on a busy machine
		state  api.MeasureState
		reason api.Reason
		text   string
	}{
		{"good", "1m", api.MeasureDone, "", ""},
		{"crash", "1m", api.MeasureFailed, api.ReasonWorkerCrashed, "The measuring process crashed with SIGSEGV, in: matmul float16."},
		{"hang", "5s", api.MeasureFailed, api.ReasonWorkerHung, "The measuring process said nothing for 5s and was ended, in: matmul float16."},
		{"nonsense", "1m", api.MeasureFailed, api.ReasonSourceMalformed, "The measuring process gave a result that makes no sense: no product of float16 matrices."},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			r := newRig(t, withProcesses(t, program, tt.quiet, asFake+"="+tt.mode))
			m := last(t, r.begin(caller("ada")))
			is.Equal(m.State, tt.state)
			if tt.reason != "" {
				is.Equal(m.Items[0].Error.Data.Reason, tt.reason)
				is.Equal(m.Items[0].Error.Message, tt.text)
			}
		})
	}
}

func TestWithTheRealWorker(t *testing.T) {
	is := is.New(t)
	program, err := filepath.Abs("../../../build/bin/fulmen-rank")
	is.NoErr(err)
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		t.Skip("the worker is not there; run make build")
	}
	r := newRig(t, withProcesses(t, program, "2m", proc.Environment(os.Environ(), "PATH", "HOME")...), func(c *Config) {
		launch := c.Launch
		c.Launch = func(ctx context.Context, command proc.Command) proc.Record {
			command.Args = append(command.Args, "-device", "cpu") // it is there on every machine
			return launch(ctx, command)
		}
		c.Duration = 400 * time.Millisecond
	})
	m := last(t, r.begin(caller("ada")))
	is.Equal(m.State, api.MeasureDone)
	doc := r.doc()
	is.Equal(doc.Device, api.MLXDeviceCPU)
	is.True(*doc.FP16TFLOPS > 0 && *doc.FP32TFLOPS > 0 && *doc.MemoryBytesPerS > 0 && doc.MatrixSize > 0)
	is.True(doc.Conditions.MLXVersion != "" && doc.Conditions.BLAS != "")
}

// withProcesses runs real ones, on the machine's clock.
func withProcesses(t *testing.T, program, silence string, env ...string) func(*Config) {
	t.Helper()
	clock, err := native.SystemClock()
	if err != nil {
		t.Skip(err)
	}
	quiet, err := time.ParseDuration(silence)
	is.New(t).NoErr(err)
	return func(c *Config) {
		c.Worker, c.Env, c.Silence = program, env, quiet
		c.Launch = func(ctx context.Context, c proc.Command) proc.Record { return proc.Run(ctx, clock, c) }
	}
}
