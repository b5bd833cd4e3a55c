//go:build cgo && darwin

package darwin

import (
	"context"
	"io"

	"fulmen/native"
)

// Record reads this Mac, with what names persons and machines masked.
func Record() (Recording, error) {
	m, err := watcher()
	if err != nil {
		return Recording{}, err
	}
	return m.record(), nil
}

// AnswerVerbs asks the RDMA library, and writes the answer for the process that has
// started this one.
func AnswerVerbs(out io.Writer) error { return systemFrameworks{}.answerVerbs(out) }

// LogNotifications writes a line for each callback of the system, as it comes,
// until the context ends.
func LogNotifications(ctx context.Context, out io.Writer) error {
	m, err := watcher()
	if err != nil {
		return err
	}
	return m.log(ctx, out)
}

func watcher() (*machine, error) {
	clock, err := native.SystemClock()
	if err != nil {
		return nil, err
	}
	return newSystemMachine(systemFrameworks{}, false, &machine{clock: clock, kernel: kernel{}}), nil
}
