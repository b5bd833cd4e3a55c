package proc

import (
	"cmp"
	"strings"
	"time"

	"fulmen/daemon/api/worker"
)

// Defaults of a [Command].
const (
	// DefaultDeadline bounds a whole run. The worker's own deadline is the
	// same, and it can say in what it was; so give it a shorter one.
	DefaultDeadline = 10 * time.Minute
	// DefaultSilence is the longest time without a message, the first one
	// included: starting MLX on a cold disk takes seconds, a step of a
	// measurement less.
	DefaultSilence = 30 * time.Second
	// DefaultGrace is what the worker gets between SIGTERM and SIGKILL. It
	// promises to end within one second.
	DefaultGrace = 3 * time.Second
)

// Command is one run of a worker.
type Command struct {
	// Who begins the sentences about it; "The worker" where empty.
	Who string
	// Path is the program. It is not looked up in PATH.
	Path string
	// Args are its arguments, without its own name.
	Args []string
	// Env is its whole environment: it inherits nothing. [Environment] makes one.
	Env []string
	// Dir is its working directory; this process's own where empty.
	Dir string
	// Check, if set, refuses the program right before it is started.
	Check func(path string) error
	// Deadline, Silence and Grace are the defaults where zero.
	Deadline, Silence, Grace time.Duration
	// Started, if set, is called once with the process id, before any progress.
	Started func(pid int)
	// Progress, if set, gets the latest progress. Calls come one at a time and
	// never after Run has returned. What comes while one is under way is
	// replaced by what comes after it, so a slow receiver delays neither the
	// worker nor the reading of its messages; but Run waits for the last call.
	Progress func(worker.Progress)
}

func (c Command) withDefaults() Command {
	c.Who, c.Deadline = cmp.Or(c.Who, "The worker"), cmp.Or(c.Deadline, DefaultDeadline)
	c.Silence, c.Grace = cmp.Or(c.Silence, DefaultSilence), cmp.Or(c.Grace, DefaultGrace)
	return c
}

// Environment chooses the named variables of environ, which has the form of
// os.Environ, in the order of names.
func Environment(environ []string, names ...string) []string {
	var out []string
	for _, name := range names {
		for _, entry := range environ {
			if strings.HasPrefix(entry, name+"=") {
				out = append(out, entry)
			}
		}
	}
	return out
}

// WorkerEnvironment is what a worker gets of the daemon's environment: what it
// needs to find its libraries, and nothing that could change what it measures.
func WorkerEnvironment(environ []string) []string {
	return Environment(environ, "PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "FULMEN_BLAS")
}
