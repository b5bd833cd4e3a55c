//go:build !linux && !(darwin && cgo)

package procsockets

import "fulmen/native"

// Processes refuse everything: nothing here tells whose a socket is.
type Processes struct{ native.NoProcesses }
