package daemon

import (
	"fulmen/native"
	"fulmen/native/darwin"
)

// systemPlatform is this machine.
func systemPlatform() (native.Platform, error) { return darwin.New() }
