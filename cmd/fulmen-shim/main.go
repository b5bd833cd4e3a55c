// Command fulmen-shim is what the daemon starts for a job: it holds one rank, or
// looks at things as the job's account. People do not call it.
package main

import (
	"os"

	"fulmen/daemon/shim"
)

func main() { os.Exit(shim.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
