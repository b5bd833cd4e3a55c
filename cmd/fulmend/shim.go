package main

import (
	"fmt"
	"os"

	"fulmen/daemon"
	"fulmen/daemon/api"
)

// runShim is the process that holds a rank. People do not call it.
func runShim(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "fulmend shim: it takes the folder of a rank")
		return api.ExitUsage
	}
	if err := daemon.Shim(args[0], os.Stderr); err != nil {
		explain(os.Stderr, err)
		return api.ExitFailed
	}
	return api.ExitOK
}
