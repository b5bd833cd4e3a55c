package daemon

import (
	"fulmen/native"
	"fulmen/native/darwin"
)

// systemPlatform is this machine; units is the folder of what it supervises.
func systemPlatform(units string) (native.Platform, error) {
	return darwin.Open(darwin.Options{Units: units})
}
