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

var errNoAuthorizations = errors.New("built without cgo")

func (noAuthorizations) defineRight(string, time.Duration) error   { return errNoAuthorizations }
func (noAuthorizations) checkRight(string, [formLength]byte) error { return errNoAuthorizations }

func systemFolderEvents() folderEvents { return noFolderEvents{} }

// noFolderEvents is a build without C.
type noFolderEvents struct{}

type systemFolder struct{}

func (noFolderEvents) follow(*followed) error { return errors.New("built without cgo") }
func (noFolderEvents) flush(*followed)        {}
func (noFolderEvents) leave(*followed)        {}
