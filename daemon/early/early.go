package early

import (
	"fmt"
	"io"
	"os"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/native"
)

// The commands of this package: the first word on the command line.
const (
	Shim = "shim"
	Look = "look"
)

// init does the work of such a command and ends the process with it.
//
// Work in an init function is an exception. It relies on one thing that the
// language promises, that whatever this package imports has been initialised, and
// gains by another one that it does not: packages that do not need each other are
// initialised in the order of their import paths, as they have been since Go 1.21.
// Another order would cost every rank about 1.5 ms and change nothing else; a test
// of fulmend fails then.
//
// The work is another goroutine's. This one is bound to the process's first thread
// until all packages are initialised, and each of its turns would take two
// switches between threads.
func init() {
	if len(os.Args) < 2 {
		return
	}
	work := map[string]func(args []string) int{
		Shim: func(args []string) int { return hold(args, os.Stderr) },
		Look: func(args []string) int { return look.Main(args, os.Stdin, os.Stdout, os.Stderr) },
	}[os.Args[1]]
	if work == nil {
		return
	}
	status := make(chan int)
	go func() { status <- work(os.Args[2:]) }()
	os.Exit(<-status)
}

// hold is a shim; it gives the exit status. An error means that the rank was not
// held: there is no record of its end, or one that says so.
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
