package shim

import (
	"fmt"
	"io"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/native"
)

// Main does what the command line says and gives the exit status.
func Main(args []string, in io.Reader, out, report io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case "shim":
			return hold(args[1:], report)
		case "look":
			return look.Main(args[1:], in, out, report)
		}
	}
	fmt.Fprintln(report, "fulmen-shim: the daemon starts it, as fulmen-shim shim FOLDER or fulmen-shim look")
	return api.ExitUsage
}

// hold is a shim. An error means that the rank was not held: there is no record of
// its end, or one that says so.
func hold(args []string, report io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(report, "fulmen-shim shim: it takes the folder of a rank")
		return api.ExitUsage
	}
	clock, err := native.SystemClock()
	if err == nil {
		err = shim.Run(args[0], clock, report)
	}
	if err != nil {
		fmt.Fprintln(report, "fulmen-shim:", err)
		return api.ExitFailed
	}
	return api.ExitOK
}
