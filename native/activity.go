package native

import "time"

// Activity is what the processes of a group have done since they were started. Who compares
// two of it learns whether they get on.
type Activity struct {
	// Threads are those of all its processes.
	Threads []Thread
	// Halt says that its leader, or another of its processes, cannot go on.
	Halt Halt
	// FileBytes is what they have read and written by files; where the system counts that
	// alone, by disks.
	FileBytes uint64
	// Faults counts the pages that they touched first.
	Faults uint64
	// NetworkBytes is what the TCP connections have carried that they have open; nil where
	// the system does not count it.
	NetworkBytes *uint64
	// NetworkShared says that those are what whole interfaces have carried, for everybody.
	NetworkShared bool
}

// Thread is the CPU time of one thread.
type Thread struct {
	// ID tells it from the other threads of the group.
	ID uint64
	// User and System are the time in the program and in the kernel.
	User, System time.Duration
}

// Halt is why a process cannot go on.
type Halt string

// The halts.
const (
	// HaltStopped: a signal has stopped it.
	HaltStopped Halt = "stopped"
	// HaltTraced: a debugger holds it.
	HaltTraced Halt = "traced"
	// HaltUninterruptible: a thread of it waits in the kernel, where no signal reaches it, and no
	// other one runs.
	HaltUninterruptible Halt = "uninterruptible"
)

// Activity is refused.
func (n NoProcesses) Activity(int) (Activity, error) {
	return Activity{}, Unsupported(FeatureProcesses, n.Reason)
}
