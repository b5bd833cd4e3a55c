// Package proc runs one worker process (cmd/fulmen-rank) and tells what became
// of it. Whatever the worker does (crash, abort, stop, flood its output, refuse
// to end, leave children behind), [Run] returns within its deadline with a
// [Record] and leaves no process, no descriptor and no goroutine.
//
// The worker gets a process group of its own, descriptor 3 for its messages as
// daemon/api/worker says, and a pipe as standard input, whose end would end it
// if this process were killed. Of its standard output and standard error the
// beginning and the end are kept.
//
// It owns no facts and publishes nothing. Its deadlines run on a clock that
// counts sleep.
package proc
