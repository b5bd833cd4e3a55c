package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

// explain turns a worker's end into the error that clients see; nil where it
// gave a result.
func explain(r proc.Record) *api.Error {
	reason := Reason(r)
	if reason == "" {
		return nil
	}
	if refusal, ok := errors.AsType[*api.Error](r.StartErr); ok {
		e := *refusal // somebody may not rely on the worker, and says why
		return &e
	}
	e := api.Errorf(reason, "", "%s", r.Sentence)
	if w := r.Word; r.Outcome == proc.Failed && w.Error.Remedy != "" {
		e.Data.Remedy = w.Error.Remedy
	}
	if r.Doing != "" && e.Code == api.CodeDeadline {
		e.Data.WaitingFor = r.Doing
	}
	return e
}

// Reason names a worker's end; empty where it gave a result.
func Reason(r proc.Record) api.Reason {
	switch r.Outcome {
	case proc.OK:
		return ""
	case proc.Failed:
		return reasonOfWord(r.Word.Error.Reason)
	case proc.Aborted, proc.Crashed:
		switch {
		case missesMLX(r.Stderr):
			return api.ReasonMLXMissing
		case r.Outcome == proc.Aborted:
			return api.ReasonWorkerAborted
		}
		return api.ReasonWorkerCrashed
	case proc.OutOfMemory:
		return api.ReasonWorkerOutOfMemory
	case proc.Hung, proc.TooLong:
		return api.ReasonWorkerHung
	case proc.Cancelled:
		return api.ReasonCancelled
	case proc.NotStarted:
		return reasonNotStarted(r.StartErr)
	}
	// Killed, garbled or silent: it ended as no worker does. The sentence says how.
	return api.ReasonWorkerCrashed
}

// reasonOfWord turns the worker's own reason into the API's. Most are the same
// word.
func reasonOfWord(r worker.Reason) api.Reason {
	switch r {
	case worker.ReasonUsage:
		return api.ReasonInternal // the command line is ours
	case worker.ReasonNoDevice, worker.ReasonBackendUnavailable:
		return api.ReasonGPUUnavailable
	case worker.ReasonOutOfMemory:
		return api.ReasonWorkerOutOfMemory
	case worker.ReasonDeadline:
		return api.ReasonWorkerHung
	case worker.ReasonCancelled:
		return api.ReasonWorkerCrashed // somebody else's signal: it was not asked from here
	}
	return api.Reason(r)
}

func reasonNotStarted(err error) api.Reason {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return api.ReasonMLXMissing // the worker lies beside MLX
	case errors.Is(err, syscall.EAGAIN):
		return api.ReasonTooManyProcesses
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return api.ReasonTooManyFiles
	}
	return api.ReasonSpawnFailed
}

// missesMLX reports whether the dynamic loader said that it does not find MLX:
// that comes before the worker's first instruction, so only the loader can tell.
func missesMLX(printed string) bool {
	for line := range strings.Lines(printed) {
		loader := strings.Contains(line, "error while loading shared libraries") || strings.Contains(line, "Library not loaded")
		if loader && strings.Contains(line, "libmlx") {
			return true
		}
	}
	return false
}

// decode reads a worker's result and refuses one that makes no sense.
func decode(r proc.Record, gpu *worker.GPU) *api.Error {
	if r.Word.Decode(gpu) != nil {
		return api.Errorf(api.ReasonSourceMalformed, "", "The measuring process gave a result that is not in the form of this version.")
	}
	if wrong := plausible(*gpu); wrong != nil {
		return api.Errorf(api.ReasonSourceMalformed, "", "The measuring process gave a result that makes no sense: %v.", wrong)
	}
	return nil
}

// spreadLimit is how far the median may lie above the best run. An idle machine
// stays under 0.05; beyond this limit the number is a matter of luck.
const spreadLimit = 0.25

// plausible refuses a result without the two numbers that a profile is for, or
// with one that cannot be.
func plausible(g worker.GPU) error {
	if g.Device.Type != "gpu" && g.Device.Type != "cpu" {
		return fmt.Errorf("device type %.20q", g.Device.Type)
	}
	half := false
	for _, m := range g.MatMul {
		if !positive(m.SpeedTFLOPS) {
			return fmt.Errorf("%v TFLOPS in %.20s", m.SpeedTFLOPS, m.DType)
		}
		half = half || m.DType == "float16"
	}
	if !half {
		return fmt.Errorf("no product of float16 matrices")
	}
	if len(g.Bandwidth) == 0 {
		return fmt.Errorf("no memory bandwidth")
	}
	for _, b := range g.Bandwidth {
		if !positive(b.ReadBytesPerS) || b.ReadBytesPerS > 1e18 || b.BufferBytes > math.MaxInt64 {
			return fmt.Errorf("%v bytes per second over %d bytes", b.ReadBytesPerS, b.BufferBytes)
		}
	}
	return nil
}

func positive(f float64) bool { return f > 0 && !math.IsInf(f, 1) }

// fromWorker turns a plausible result into the value of the document.
func fromWorker(g worker.GPU, now api.MeasureConditions) api.GPUProfile {
	v := api.GPUProfile{Device: device(g.Device), DeviceName: g.Device.Name, TookS: g.ElapsedS, Conditions: now}
	v.Conditions.MLXVersion = g.MLXVersion
	if g.BLAS != nil {
		v.Conditions.BLAS = g.BLAS.Name
	}
	for _, m := range g.MatMul {
		speed, t := m.SpeedTFLOPS, timing(m.Timing)
		switch m.DType {
		case "float16":
			v.FP16TFLOPS, v.FP16Timing, v.MatrixSize = &speed, &t, m.N
		case "float32":
			v.FP32TFLOPS, v.FP32Timing = &speed, &t
		}
	}
	// A CPU converts float16 as it sums it, so the best of the types is what
	// its memory gives.
	best := slices.MaxFunc(g.Bandwidth, func(a, b worker.Bandwidth) int { return cmp.Compare(a.ReadBytesPerS, b.ReadBytesPerS) })
	rate, t := int64(math.Round(best.ReadBytesPerS)), timing(best.Timing)
	v.MemoryBytesPerS, v.MemoryTiming, v.BufferBytes = &rate, &t, int64(best.BufferBytes)
	return v
}

// device is the kind of an MLX device. Metal calls its architectures applegpu.
func device(d worker.Device) api.MLXDevice {
	switch {
	case d.Type == "cpu":
		return api.MLXDeviceCPU
	case strings.HasPrefix(d.Architecture, "applegpu"):
		return api.MLXDeviceMetal
	}
	return api.MLXDeviceCUDA
}

func timing(t worker.Timing) api.Timing {
	return api.Timing{Runs: t.Runs, WarmUpS: t.WarmUpS, SpreadRatio: t.SpreadRatio}
}

// unstable reports whether runs of one measurement differ too much.
func unstable(v api.GPUProfile) bool {
	return slices.ContainsFunc([]*api.Timing{v.FP16Timing, v.MemoryTiming}, func(t *api.Timing) bool {
		return t != nil && t.SpreadRatio > spreadLimit
	})
}

const (
	// InfoDeadline bounds the worker's answer to what MLX there is.
	InfoDeadline = 30 * time.Second
	// mlxAgain is the pause before MLX is asked again; it doubles up to mlxLongest.
	mlxAgain   = 5 * time.Second
	mlxLongest = 10 * time.Minute
)

// AskMLX asks the worker what MLX there is until there is an answer, with pauses that grow.
// ask runs the worker; tell takes the answer, or why there is none.
func AskMLX(ctx context.Context, clock native.Clock, ask func(context.Context) proc.Record, notify func(info *worker.Info, why api.Reason, record proc.Record)) {
	for pause := mlxAgain; ; pause = min(2*pause, mlxLongest) {
		record := ask(ctx)
		if record.Outcome == proc.Cancelled {
			return
		}
		var info worker.Info
		if record.Outcome == proc.OK && record.Word.Decode(&info) == nil {
			notify(&info, "", record)
			return
		}
		notify(nil, noMLX(record), record)
		if !native.Pause(ctx, clock, pause) {
			return
		}
	}
}

// noMLX is why the worker gave no answer: it, or its libraries, are not there, or MLX
// or the driver below it does not answer.
func noMLX(record proc.Record) api.Reason {
	if record.Outcome == proc.NotStarted || Reason(record) == api.ReasonMLXMissing {
		return api.ReasonMLXMissing
	}
	return api.ReasonMLXNoAnswer
}
