package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"fulmen/daemon/api/worker"
	"fulmen/native"
)

// facts are what is known when a worker is at its end, beside what the record
// holds already.
type facts struct {
	command Command
	stopped Outcome // why it was asked to end; "" where it was not
	broken  error   // what it wrote that is no message
	oom     oomSign
	memory  int64 // the machine's, in bytes; 0 where unknown
}

// oomSign is what two counts, before and after a worker's life, say of it.
type oomSign int

const (
	oomUnknown  oomSign = iota // the system does not count
	oomNone                    // nobody was ended
	oomProbably                // somebody was
	oomSurely                  // somebody of this group was
)

// oomSince compares two counts.
func oomSince(before, after native.MemoryKills) oomSign {
	switch {
	case before.Group >= 0 && after.Group > before.Group:
		return oomSurely
	case before.System >= 0 && after.System > before.System:
		return oomProbably
	case before.Group < 0 && before.System < 0 || after.Group < 0 && after.System < 0:
		return oomUnknown
	}
	return oomNone
}

// judge says what became of a worker: the outcome, and a sentence for a person.
func (f facts) judge(r *Record) {
	switch {
	case r.Word != nil && r.Word.Type == worker.TypeResult:
		// A result is a result, also where the end that followed was not clean.
		r.Outcome, r.Sentence = OK, f.command.Who+" gave its result."
	case f.stopped != "":
		r.Outcome, r.Sentence = f.stopped, f.afterStop(r)
	case r.Word != nil:
		r.Outcome, r.Sentence = Failed, f.sentence("failed", r.Doing, r.Word.Error.Error())
	default:
		f.withoutWord(r)
	}
	if r.Stuck {
		r.Sentence += fmt.Sprintf(" Process %d cannot be ended: it is stuck inside the system.", r.PID)
	}
}

// afterStop is the sentence about a worker that was ended from here.
func (f facts) afterStop(r *Record) string {
	switch f.stopped {
	case Hung:
		return f.sentence(fmt.Sprintf("said nothing for %s and was ended", plain(f.command.Silence)), r.Doing, "")
	case TooLong:
		return f.sentence(fmt.Sprintf("was not done after %s and was ended", plain(f.command.Deadline)), r.Doing, "")
	case Garbled:
		return f.sentence("wrote something that is not a message and was ended", r.Doing, f.broken.Error())
	}
	return f.sentence("was ended on request", r.Doing, "")
}

// withoutWord judges a worker that ended by itself, or by somebody else, and
// did not say why.
func (f facts) withoutWord(r *Record) {
	signal, seen := r.Signal, examine(r.Stderr)
	switch {
	case seen.signal == "":
	case signal == "" && r.ExitCode != 0, signal == "SIGABRT", signal == "SIGQUIT":
		// The worker's runtime ends it, after its trace, by one of these; the
		// trace knows what came first.
		signal = seen.signal
	}
	how := fmt.Sprintf("ended with exit code %d", r.ExitCode)
	if r.Signal != "" {
		how = "was ended by " + r.Signal
	}
	large := f.memory > 0 && r.MaxRSSBytes > f.memory/2
	switch {
	case r.Signal == "SIGKILL" && f.oom == oomSurely:
		r.Outcome, r.Sentence = OutOfMemory, f.sentence("was ended by the system for lack of memory", r.Doing, "")
	case r.Signal == "SIGKILL" && (f.oom == oomProbably || f.oom == oomUnknown && large):
		r.Outcome, r.Sentence = OutOfMemory, f.sentence("was ended by SIGKILL, probably by the system for lack of memory", r.Doing, "")
	case seen.memory && (r.Signal != "" || r.ExitCode != 0):
		r.Outcome, r.Sentence = OutOfMemory, f.sentence(how+", probably for lack of memory", r.Doing, seen.line)
	case f.broken != nil:
		r.Outcome, r.Sentence = Garbled, f.sentence("wrote something that is not a message and ended", r.Doing, f.broken.Error())
	case signal == "SIGABRT" && seen.panicked:
		r.Outcome, r.Sentence = Crashed, f.sentence("crashed", r.Doing, seen.line)
	case signal == "SIGABRT":
		r.Outcome, r.Sentence = Aborted, f.sentence("aborted", r.Doing, seen.line)
	case isFault(signal):
		r.Outcome, r.Sentence = Crashed, f.sentence("crashed with "+signal, r.Doing, seen.line)
	case r.Signal != "":
		r.Outcome, r.Sentence = Killed, f.sentence("was ended from outside by "+r.Signal, r.Doing, "")
	case r.ExitCode == 0:
		r.Outcome, r.Sentence = NoResult, f.sentence("ended without a result", r.Doing, "")
	default:
		r.Outcome, r.Sentence = Crashed, f.sentence(how+" and did not say why", r.Doing, seen.line)
	}
}

// isFault reports whether a signal is one that a program's own code causes.
func isFault(signal string) bool {
	switch signal {
	case "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS", "SIGEMT":
		return true
	}
	return false
}

// sentence says what a worker did, in what, and what it said.
func (f facts) sentence(did, doing, reported string) string {
	text := f.command.Who + " " + did
	if doing != "" {
		text += ", in: " + doing
	}
	if reported = clean(reported, maxQuote); reported != "" {
		text += "; it said: " + reported
	}
	return strings.TrimRight(text, ".") + "."
}

// notStarted is the record of a worker that could not be started.
func (f facts) notStarted(r *Record, err error) {
	r.Outcome, r.StartErr, r.ExitCode = NotStarted, err, -1
	if no, ok := errors.AsType[refused](err); ok {
		r.Sentence = no.Error()
		return
	}
	why := "the system refused: " + clean(cause(err), maxQuote)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !exists(f.command.Dir):
		why = "the folder " + f.command.Dir + " is missing"
	case errors.Is(err, fs.ErrNotExist) && !exists(f.command.Path):
		why = f.command.Path + " is missing"
	case errors.Is(err, fs.ErrNotExist):
		why = "the program that must load " + f.command.Path + " is missing"
	case errors.Is(err, fs.ErrPermission):
		why = f.command.Path + " may not be executed"
	case errors.Is(err, syscall.ENOEXEC):
		why = f.command.Path + " is not a program for this machine"
	case errors.Is(err, syscall.EAGAIN):
		why = "the system allows no more processes"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		why = "the system allows no more open files"
	}
	r.Sentence = f.command.Who + " could not be started: " + why + "."
}

// exists reports whether there is something at path; "" is the working directory.
func exists(path string) bool {
	if path == "" {
		return true
	}
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// cause is the innermost text of an error of the system: "permission denied".
func cause(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}

// plain writes a duration as people do: 1m30s, 2m, 300ms.
func plain(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if len(s) > len(zero) && s[len(s)-len(zero):] == zero {
			s = s[:len(s)-2]
		}
	}
	return s
}
