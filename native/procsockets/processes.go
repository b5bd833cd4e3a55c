package procsockets

import "fulmen/native"

// Processes are those of this machine. The zero value is ready.
type Processes struct{}

var _ native.Processes = Processes{}
