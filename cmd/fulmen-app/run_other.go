//go:build !linux

package main

import "errors"

// run has no dialogs of this system yet, without which the menu could not ask.
func run() error {
	return errors.New("the menu-bar app does not run on this system yet; use the command fulmen")
}
