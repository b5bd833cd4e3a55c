package daemon

import (
	"fulmen/native"
	"fulmen/native/linux"
)

// systemPlatform is this machine; units is the folder of what it supervises.
func systemPlatform(units string) (native.Platform, error) {
	return linux.New(linux.Options{Units: units})
}

// systemRight is none: Linux has no authorisations.
func systemRight() right { return nil }
