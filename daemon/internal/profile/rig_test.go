package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/proc"
	"fulmen/native/nativetest"
)

// timeout bounds everything that a test waits for.
const timeout = 3 * time.Minute

// The test binary is the worker too: started with this variable, it behaves as
// the variable's value says.
const asFake = "FULMEN_FAKE_WORKER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(asFake); mode != "" {
		fake(mode)
	}
	os.Exit(m.Run())
}

// fake is a worker that measures nothing.
func fake(mode string) {
	out := worker.NewWriter(os.NewFile(worker.FD, "messages"))
	report := func(m worker.Message) {
		m.Command = worker.CommandGPU
		if err := out.Write(m); err != nil {
			panic(err)
		}
	}
	report(worker.Message{Type: worker.TypeProgress, Progress: &worker.Progress{Stage: "matmul float16", DoneRatio: 0.5}})
	switch mode {
	case "good":
		value, err := json.Marshal(sampleGPU())
		if err != nil {
			panic(err)
		}
		report(worker.Message{Type: worker.TypeResult, Value: value})
	case "crash":
		panic(syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -SEGV $$"}, nil))
	case "hang":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		_, _ = io.Copy(io.Discard, os.Stdin) // this thread can run on for a moment before the stop reaches it
	case "nonsense":
		report(worker.Message{Type: worker.TypeResult, Value: []byte(`{"device":{"type":"cpu"},"matmul":[]}`)})
	}
	os.Exit(0)
}

// sampleGPU is what a worker on a CPU tells.
func sampleGPU() worker.GPU {
	timing := worker.Timing{WarmUpS: 0.5, Settled: true, Runs: 12, BestS: 0.01, MedianS: 0.0101, SpreadRatio: 0.01}
	return worker.GPU{
		Device: worker.Device{Type: "cpu", Name: "AMD EPYC", Architecture: "x86_64"}, MLXVersion: "0.32.4",
		BLAS: &worker.BLAS{Name: "reference"},
		MatMul: []worker.MatMul{
			{DType: "float16", N: 512, SpeedTFLOPS: 0.0044, Timing: timing},
			{DType: "float32", N: 1024, SpeedTFLOPS: 0.159, Timing: timing},
		},
		Bandwidth: []worker.Bandwidth{
			{DType: "float16", BufferBytes: 256 << 20, ReadBytesPerS: 2_064_302_686.8, Timing: timing},
			{DType: "float32", BufferBytes: 1 << 30, ReadBytesPerS: 11e9, Timing: timing},
		},
		ElapsedS: 10.2,
	}
}

// recordOf is a worker's end with a result.
func recordOf(t *testing.T, g worker.GPU) proc.Record {
	t.Helper()
	value, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	return proc.Record{Outcome: proc.OK, Word: &worker.Message{Type: worker.TypeResult, Value: value}}
}

// rig is a profiler with what a node around it would be.
type rig struct {
	*Profiler
	t     *testing.T
	clock *nativetest.Clock

	mu      sync.Mutex
	now     api.MeasureConditions
	docs    []api.GPUProfile
	paths   map[string]api.LinkProfile
	unknown map[string]api.Reason
	holds   map[api.Reason]string // conditions, with their details
	putErr  error

	// Workers that started wait here for their end, unless it is nil.
	ends     chan proc.Record
	started  chan proc.Command
	together int // workers now
	most     int // workers at once, at most
	count    int
}

const testNode api.NodeID = "cpv0cwypxp44qw0p"

// newRig makes one whose workers end as the test says, on ends.
func newRig(t *testing.T, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{
		t: t, clock: nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), holds: map[api.Reason]string{}, paths: map[string]api.LinkProfile{},
		ends: make(chan proc.Record), started: make(chan proc.Command, 64), now: api.MeasureConditions{OSBuild: "25C56"},
	}
	cfg := alone()
	cfg.Clock, cfg.Documents, cfg.Conditions, cfg.Launch = r.clock, r, r, r.launch
	cfg.Circumstances = func(context.Context) (api.MeasureConditions, map[string]api.Reason) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.now, map[string]api.Reason{"thermal_state": api.ReasonNotSupportedByPlatform}
	}
	for _, c := range change {
		c(&cfg)
	}
	r.Profiler = New(cfg)
	t.Cleanup(r.Close)
	return r
}

// alone is the configuration of a node without others, on which nothing is in the way
// and that nobody watches.
func alone() Config {
	return Config{
		Node: testNode, Worker: "fulmen-rank", Log: slog.New(slog.DiscardHandler), Name: api.NodeID.Display,
		Peers:   peer.New(testNode, peertest.NewNetwork().Add(testNode), peertest.GateFor(testNode, nativetest.NewClock(time.Now()), nil)),
		Reached: func() []api.NodeID { return []api.NodeID{testNode} },
		Resolve: func(ref api.NodeRef) (api.NodeID, error) {
			if ref == api.NodeRef(testNode) {
				return testNode, nil
			}
			return "", api.NewError(api.ReasonNoSuchNode, string(ref))
		},
		Circumstances: func(context.Context) (now api.MeasureConditions, why map[string]api.Reason) { return now, why },
		Turn: func(_, hold context.Context, _ api.MeasureID, _ []api.PortNumber, _ func(api.Reason, string)) (context.Context, func(), error) {
			return hold, func() {}, nil
		},
		Paths:    func() []Path { return nil },
		Wanted:   func(api.Kind) bool { return false },
		Obstacle: func(context.Context) *api.Error { return nil },
		System:   func() (string, string) { return "", "" },
		TTL:      func() (gpu, socket time.Duration) { return api.DefaultGPUTTL, api.DefaultSocketTTL },
	}
}

func (r *rig) launch(ctx context.Context, c proc.Command) proc.Record {
	r.mu.Lock()
	r.together++
	r.count++
	r.most = max(r.most, r.together)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.together--
		r.mu.Unlock()
	}()
	r.started <- c
	select {
	case record := <-r.ends:
		return record
	case <-ctx.Done():
		return proc.Record{Outcome: proc.Cancelled, Sentence: c.Who + " was ended on request."}
	}
}

func (r *rig) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.putErr != nil {
		return r.putErr
	}
	if kind == api.KindLinkProfile {
		r.paths[name] = value.(api.LinkProfile)
		return nil
	}
	if kind != api.KindGPUProfile || name != "" {
		return fmt.Errorf("%s %q is not the profile", kind, name)
	}
	r.docs, r.unknown = append(r.docs, value.(api.GPUProfile)), unknown
	return nil
}

func (r *rig) Delete(kind api.Kind, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.paths, name)
	return nil
}

func (r *rig) Hold(code api.Reason, _ string, holds bool, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.holds, code)
	if holds {
		r.holds[code] = detail
	}
}

func (r *rig) Only(code api.Reason, details map[string]string) {
	r.Hold(code, "", false, "")
	for subject, detail := range details {
		r.Hold(code, subject, true, detail)
	}
}

// change changes the circumstances.
func (r *rig) change(f func(now *api.MeasureConditions)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.now)
}

// codes lists the conditions that hold.
func (r *rig) codes() []api.Reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.holds))
}

// doc is the document as it is.
func (r *rig) doc() api.GPUProfile {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.docs) == 0 {
		r.t.Fatal("no document was published")
	}
	return r.docs[len(r.docs)-1]
}

// caller is somebody with an account here.
func caller(user string) Caller {
	return Caller{Principal: api.Principal{User: user, Node: testNode}}
}

// begin asks for a measurement.
func (r *rig) begin(by Caller) *Watch {
	r.t.Helper()
	w, err := r.MeasureGPU(r.t.Context(), by, api.MeasureGPUParams{})
	is.New(r.t).NoErr(err)
	return w
}

// end lets the worker that runs end so.
func (r *rig) end(record proc.Record) {
	<-r.started
	r.ends <- record
}

// last reads a watch to its end, which must come once.
func last(t *testing.T, w *Watch) api.Measurement {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	for {
		m, terminal, err := w.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !terminal {
			continue
		}
		if _, _, err = w.Next(ctx); !errors.Is(err, io.EOF) {
			t.Fatal("something followed the end")
		}
		return m
	}
}
