package daemon

import (
	"errors"

	"fulmen/native"
)

// systemPlatform is this machine. The macOS platform is not built yet.
func systemPlatform() (native.Platform, error) {
	return native.Platform{}, errors.New("this version of Fulmen does not know macOS's facts yet; the worker, fulmen-rank, works")
}
