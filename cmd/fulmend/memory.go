package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// threads is how many run Go code at once. Measured in clusters of 4 and 16, a
	// second one costs a third more wake-ups when idle, and no client has to wait
	// long for one: what takes time happens in other processes.
	threads = 1
	// gcPercent trades little time for the memory of a large cluster.
	gcPercent = 50
	// trimAfter is how long it must have been quiet before memory is given back.
	trimAfter = 10 * time.Second
	// trimBytes is how much must have been allocated since the last time for it to
	// be worth looking.
	trimBytes = 2 << 20
	// burstBytes is what is allocated in [trimAfter] where a burst goes on; a daemon
	// among sixteen that are idle stays below a quarter of it.
	burstBytes = 4 << 20
)

// tuneRuntime makes the runtime small for a program that waits most of the time: each
// event that is handed from one thread to another is a wake-up more, and garbage
// is little. The environment of the process says otherwise where it says anything.
func tuneRuntime() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(threads, runtime.NumCPU()))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	t := &trimmer{trim: giveBack}
	t.watch()
}

// giveBack gives the system what the process does not use now.
func giveBack() {
	debug.FreeOSMemory()
	dropCode()
}

// trimmer gives memory back once a burst of work is over: a start, a Mac that
// joins, a job. What those needed (stacks, spans, code that ran once) would stay
// with an idle daemon for ever. It has no clock of its own that would wake the
// process: the end of a garbage collection, which every burst brings, arms it.
type trimmer struct {
	trim func()

	mu        sync.Mutex
	allocated uint64 // in all, when it was looked last
	isArmed   bool
	isTrimmed bool // since the last burst
}

// watch has the end of each garbage collection noticed.
func (t *trimmer) watch() {
	sign := new([16]byte) // not so small that it shares its room with what lives
	runtime.AddCleanup(sign, func(t *trimmer) {
		t.arm()
		t.watch()
	}, t)
}

// arm has it looked later, if much was allocated since the last time.
func (t *trimmer) arm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := allocated(); !t.isArmed && now-t.allocated >= trimBytes {
		t.isArmed, t.allocated = true, now
		time.AfterFunc(trimAfter, t.look)
	}
}

// look trims if nothing much has happened since the last look, and once where a
// burst is over: a daemon among many is never quite quiet. It looks again later
// where something has happened.
func (t *trimmer) look() {
	t.mu.Lock()
	now := allocated()
	news := now - t.allocated
	isQuiet, isOver := news < trimBytes/4, news < burstBytes
	isDue := isQuiet || isOver && !t.isTrimmed
	t.isArmed, t.isTrimmed, t.allocated = !isQuiet, isOver, now
	t.mu.Unlock()
	if isDue {
		t.trim()
	}
	if !isQuiet {
		time.AfterFunc(trimAfter, t.look)
	}
}

// allocated is how many bytes the process has allocated in all.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
