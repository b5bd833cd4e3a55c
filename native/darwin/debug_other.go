//go:build !(cgo && darwin)

package darwin

import (
	"context"
	"io"

	"fulmen/native"
)

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
