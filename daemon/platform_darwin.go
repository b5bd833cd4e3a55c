package daemon

import (
	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/darwin"
)

// systemPlatform is this machine; units is the folder of what it supervises.
func systemPlatform(units string) (native.Platform, error) {
	return darwin.Open(darwin.Options{Units: units, Verbs: []string{"verbs"}})
}

// systemRight is what an authorisation has to give to be of class admin.
func systemRight() right { return darwin.NewRight(api.AdminRight) }
