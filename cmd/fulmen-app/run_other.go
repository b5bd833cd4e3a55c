//go:build !linux && !darwin

package main

import "errors"

// run has no menu bar to show itself in.
func run() error { return errors.New("there is no menu bar on this system") }
