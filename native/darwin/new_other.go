//go:build !(darwin && cgo)

package darwin

import (
	"context"
	"io"

	"fulmen/native"
)

// New refuses: this is not a Mac, or was built without cgo. The error matches
// [native.ErrUnsupported].
func New() (native.Platform, error) { return Open(Options{}) }

// Open refuses as New does.
func Open(Options) (native.Platform, error) {
	return native.Platform{}, native.Unsupported(native.FactsFeature(native.AreaIdentity), native.ReasonNoPlatform.With("this is not a Mac, or was built without cgo"))
}

// Record refuses: this is not a Mac, or was built without cgo.
func Record(...string) (Recording, []Replaced, error) { return Recording{}, nil, notHere() }

// AnswerVerbs refuses as Record does.
func AnswerVerbs(io.Writer) error { return notHere() }

// LogNotifications refuses as Record does.
func LogNotifications(context.Context, io.Writer) error { return notHere() }

func notHere() error {
	_, err := New()
	if err == nil {
		err = native.Unsupported(native.FactsFeature(native.AreaThunderbolt), native.ReasonNoPlatform)
	}
	return err
}
