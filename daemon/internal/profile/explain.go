package profile

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
)

// explain turns a worker's end into the error that clients see; nil where it
// gave a result.
func explain(r proc.Record) *api.Error {
	reason := Reason(r)
	if reason == "" {
		return nil
	}
	if refusal, ok := errors.AsType[*api.Error](r.StartErr); ok {
		told := *refusal // somebody may not rely on the worker, and says why
		return &told
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
func missesMLX(o proc.Output) bool {
	for line := range strings.Lines(o.String()) {
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
