//go:build !cgo || !(darwin || (linux && darwinsim))

package darwin

import "os"

// LaunchdSockets gives none: this is not a Mac, or was built without cgo.
func LaunchdSockets(string) ([]*os.File, error) { return nil, nil }
