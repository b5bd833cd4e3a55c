package early

import (
	"fmt"
	"io"
	"os"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/native"
)

// Command is the first word on the command line of a shim.
const Command = "shim"

// init holds the rank, where the process is a shim, and ends the process with it.
//
// Work in an init function is an exception. It relies on one thing that the
// language promises, that whatever this package imports has been initialised, and
// gains by another one that it does not: packages that do not need each other are
// initialised in the order of their import paths, as they have been since Go 1.21.
// Another order would cost every rank about 1.5 ms and change nothing else; a test
// of fulmend fails then.
//
// The rank is held by another goroutine. This one is bound to the process's first
// thread until all packages are initialised, and each of its turns would take two
// switches between threads.
func init() {
	if len(os.Args) < 2 || os.Args[1] != Command {
		return
	}
	status := make(chan int)
	go func() { status <- hold(os.Args[2:], os.Stderr) }()
	os.Exit(<-status)
}

// hold gives the exit status of a shim. An error means that the rank was not held:
// there is no record of its end, or one that says so.
func hold(args []string, report io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(report, "fulmend shim: it takes the folder of a rank")
		return api.ExitUsage
	}
	clock, err := native.SystemClock()
	if err == nil {
		err = shim.Run(args[0], clock, report)
	}
	if err != nil {
		fmt.Fprintln(report, "fulmend:", err)
		return api.ExitFailed
	}
	return api.ExitOK
}
