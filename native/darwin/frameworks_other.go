//go:build !cgo || !(darwin || (linux && darwinsim))

package darwin

import (
	"os"
	"time"
)

// LaunchdSockets gives none: this is not a Mac, or was built without cgo.
func LaunchdSockets(string) ([]*os.File, error) { return nil, nil }

func systemAuthorizations() authorizations { return noFrameworks{} }

func (noFrameworks) defineRight(string, time.Duration) error   { return errNoFrameworks }
func (noFrameworks) checkRight(string, [formLength]byte) error { return errNoFrameworks }
