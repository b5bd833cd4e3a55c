package main

import (
	"os"
	"os/exec"
	"syscall"

	"fulmen/daemon/api"
)

// startAgain begins anew with the program that is on the disk now. launchd and
// systemd, which keep it, start it when this process ends with ExitRestart; who comes
// meanwhile waits. Elsewhere this process becomes the new one, and keeps
// its number, its parent and its terminal.
func startAgain(isKept bool) int {
	if isKept {
		return api.ExitRestart
	}
	// The name by which it was called: a link in it may lead to another version now.
	program, err := exec.LookPath(os.Args[0])
	if err != nil {
		program, err = os.Executable()
	}
	if err == nil {
		err = syscall.Exec(program, os.Args, os.Environ())
	}
	explain(os.Stderr, err)
	return api.ExitFailed
}
