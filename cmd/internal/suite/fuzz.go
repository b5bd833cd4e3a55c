package main

import (
	"context"
	"fmt"

	"fulmen/cmd/internal/rules"
)

// fuzz runs every fuzz target of the module that builds on this machine for that long,
// one after the other: `go test -fuzz` takes one at a time. The first that fails is the last.
func fuzz(ctx context.Context, each string) error {
	tree, err := rules.FindTree()
	if err != nil {
		return err
	}
	targets, err := tree.FuzzTargets()
	if err != nil {
		return err
	}
	for _, t := range targets {
		c := command(ctx, "go", "test", "-run=^$", "-fuzz=^"+t.Name+"$", "-fuzztime="+each, t.Package)
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s of %s: %w", t.Name, t.Package, err)
		}
	}
	return nil
}
