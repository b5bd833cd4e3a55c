//go:build !cgo || !(darwin || (linux && darwinsim))

package darwin

import (
	"errors"
	"os"
	"time"
)

// LaunchdSockets gives none: this is not a Mac, or was built without cgo.
func LaunchdSockets(string) ([]*os.File, error) { return nil, nil }

func systemAuthorizations() authorizations { return noAuthorizations{} }

// noAuthorizations is a build without C.
type noAuthorizations struct{}

var errNoCgo = errors.New("built without cgo")

func (noAuthorizations) defineRight(string, time.Duration) error   { return errNoCgo }
func (noAuthorizations) checkRight(string, [formLength]byte) error { return errNoCgo }

func openStream(string, func(path string, more bool)) (stream, error) { return nil, errNoCgo }
