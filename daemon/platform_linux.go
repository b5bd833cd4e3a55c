package daemon

import (
	"fulmen/native"
	"fulmen/native/linux"
)

// systemPlatform is this machine.
func systemPlatform() (native.Platform, error) { return linux.New(linux.Options{}) }
