package main

import (
	"fmt"
	"io"
	"os"

	"fulmen/daemon"
	"fulmen/daemon/api"
)

// runPack is the process that reads a folder for another node. People do not call it.
func runPack(args []string) int { return runEnd("pack", daemon.Pack, args) }

// runUnpack is the process that writes a folder from another node. People do not call it.
func runUnpack(args []string) int { return runEnd("unpack", daemon.Unpack, args) }

func runEnd(name string, run func(in io.Reader, out io.Writer) error, args []string) int {
	if len(args) != 0 {
		fmt.Fprintf(os.Stderr, "fulmend %s: it takes no arguments\n", name)
		return api.ExitUsage
	}
	if err := run(os.Stdin, os.Stdout); err != nil {
		explain(os.Stderr, err)
		return api.ExitFailed
	}
	return api.ExitOK
}
