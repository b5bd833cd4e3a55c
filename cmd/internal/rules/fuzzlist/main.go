// Command fuzzlist prints the fuzz targets of the module that build on this
// machine, one `package FuzzName` a line, for a loop over `go test -fuzz`, which
// takes one target at a time.
package main

import (
	"fmt"
	"os"

	"fulmen/cmd/internal/rules"
)

func main() {
	tree, err := rules.FindTree()
	if err != nil {
		fail(err)
	}
	targets, err := tree.FuzzTargets()
	if err != nil {
		fail(err)
	}
	for _, t := range targets {
		fmt.Println(t.Package, t.Name)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "fuzzlist:", err)
	os.Exit(1)
}
