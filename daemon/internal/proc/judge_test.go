package proc

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// What real processes cannot be made to do on every machine.
func TestJudge(t *testing.T) {
	tests := []struct {
		name    string
		facts   facts
		record  Record
		outcome Outcome
		guess   bool
		text    string
	}{
		{"the kernel counted it in our group", facts{oom: oomSurely}, Record{Signal: "SIGKILL", ExitCode: -1}, OutOfMemory, false,
			"The worker was ended by the system for lack of memory."},
		{"the kernel counted somebody", facts{oom: oomProbably}, Record{Signal: "SIGKILL", ExitCode: -1}, OutOfMemory, true,
			"The worker was ended by SIGKILL, probably by the system for lack of memory."},
		{"nobody counts, and it was large", facts{oom: oomUnknown, memory: 8 << 30}, Record{Signal: "SIGKILL", MaxRSSBytes: 5 << 30}, OutOfMemory, true,
			"The worker was ended by SIGKILL, probably by the system for lack of memory."},
		{"nobody counts, and it was small", facts{oom: oomUnknown, memory: 8 << 30}, Record{Signal: "SIGKILL", MaxRSSBytes: 3 << 30}, Killed, false,
			"The worker was ended from outside by SIGKILL."},
		{"it was large, and nobody was counted", facts{oom: oomNone, memory: 8 << 30}, Record{Signal: "SIGKILL", MaxRSSBytes: 5 << 30}, Killed, false,
			"The worker was ended from outside by SIGKILL."},
		{"another signal while somebody was counted", facts{oom: oomSurely}, Record{Signal: "SIGTERM"}, Killed, false,
			"The worker was ended from outside by SIGTERM."},
		{"C++ without memory", facts{}, Record{Signal: "SIGABRT", Stderr: "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"},
			OutOfMemory, true, "The worker was ended by SIGABRT, probably for lack of memory; it said: what(): std::bad_alloc."},
		{"words about memory before a proper end", facts{}, Record{Stderr: "out of memory? no\n"}, NoResult, false,
			"The worker ended without a result."},
		{"stuck", facts{stopped: Hung, command: Command{Silence: time.Second}}, Record{PID: 7, Stuck: true, ExitCode: -1}, Hung, false,
			"The worker said nothing for 1s and was ended. Process 7 cannot be ended: it is stuck inside the system."},
		{"crash on the way to a deadline", facts{stopped: TooLong, command: Command{Deadline: 2 * time.Hour}}, Record{Signal: "SIGSEGV", Doing: "sum"}, TooLong, false,
			"The worker was not done after 2h and was ended, in: sum."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			tt.facts.command.Who = "The worker"
			r := tt.record
			tt.facts.judge(&r)
			is.Equal(r.Outcome, tt.outcome)
			is.Equal(r.Sentence, tt.text)
			is.Equal(strings.Contains(r.Sentence, "probably"), tt.guess) // a guess says so
		})
	}
}

func TestRefusalsOfTheSystem(t *testing.T) {
	tests := []struct {
		err  error
		text string
	}{
		{syscall.EAGAIN, "the system allows no more processes."},
		{syscall.EMFILE, "the system allows no more open files."},
		{syscall.ENOMEM, "the system refused: cannot allocate memory."},
		{errors.New("\x1b[2Jodd"), "the system refused: fork/exec /x: [2Jodd."},
	}
	for _, tt := range tests {
		is := is.New(t)
		var r Record
		facts{command: Command{Who: "It", Path: "/x"}}.notStarted(&r, fmt.Errorf("fork/exec /x: %w", tt.err))
		is.Equal(r.Sentence, "It could not be started: "+tt.text)
		is.True(errors.Is(r.StartErr, tt.err))
	}
}

func TestExamine(t *testing.T) {
	tests := []struct {
		name, text string
		want       evidence
	}{
		{"an abort of C++ in a Go program", "terminate called after throwing an instance of 'std::runtime_error'\n  what():  [metal] lost\nSIGABRT: abort\nPC=0x1 m=0\n\ngoroutine 1:\nrip 0x1\n",
			evidence{signal: "SIGABRT", line: "what(): [metal] lost"}},
		{"words before a trace", "loading\nSIGSEGV: segmentation violation\nPC=0x1\ngs 0x0\n", evidence{signal: "SIGSEGV", line: "loading"}},
		{"a trace alone", "SIGSEGV: segmentation violation\nPC=0x1\ngs 0x0\n", evidence{signal: "SIGSEGV"}},
		{"a fault in Go", "panic: runtime error: nil\n[signal SIGSEGV: segmentation violation code=0x1]\ngoroutine 1\n", evidence{signal: "SIGSEGV", line: "panic: runtime error: nil", panicked: true}},
		{"Go without memory", "fatal error: runtime: out of memory\n\nruntime stack:\n", evidence{line: "fatal error: runtime: out of memory", memory: true, panicked: true}},
		{"macOS misses a library", "dyld[7]: Library not loaded: @rpath/libmlx.dylib\n  Reason: tried: no\n", evidence{line: "dyld[7]: Library not loaded: @rpath/libmlx.dylib"}},
		{"plain words", "one\n\ntwo\r\n\n", evidence{line: "two"}},
		{"nothing", "", evidence{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { is.New(t).Equal(examine(tt.text), tt.want) })
	}
}

func TestPlainDurations(t *testing.T) {
	is := is.New(t)
	for d, want := range map[time.Duration]string{
		time.Hour: "1h", 90 * time.Second: "1m30s", time.Minute: "1m", 10 * time.Second: "10s", 300 * time.Millisecond: "300ms", 0: "0s",
	} {
		is.Equal(plain(d), want)
	}
}

func TestOOMSince(t *testing.T) {
	kills := func(group, system int64) native.MemoryKills { return native.MemoryKills{Group: group, System: system} }
	tests := []struct {
		name          string
		before, after native.MemoryKills
		want          oomSign
	}{
		{"nobody", kills(2, 5), kills(2, 5), oomNone},
		{"one of ours", kills(2, 5), kills(3, 6), oomSurely},
		{"one elsewhere", kills(2, 5), kills(2, 6), oomProbably},
		{"only the system counts", kills(-1, 5), kills(-1, 6), oomProbably},
		{"only the group counts", kills(1, -1), kills(1, -1), oomNone},
		{"nobody counts", kills(-1, -1), kills(-1, -1), oomUnknown},
		{"the count became readable", kills(-1, -1), kills(4, 4), oomUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { is.New(t).Equal(oomSince(tt.before, tt.after), tt.want) })
	}
}
