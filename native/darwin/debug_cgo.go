//go:build cgo && darwin

package darwin

import (
	"context"
	"io"

	"fulmen/native"
)

// Record reads this Mac, with what names persons and machines replaced, and lists what was.
// The arguments are those with which this program asks the RDMA library in a child.
func Record(verbs ...string) (Recording, []Replaced, error) {
	m, err := watcher()
	if err != nil {
		return Recording{}, nil, err
	}
	if command := verbsCommand(verbs); command != nil {
		m.verbs = &childVerbs{command: command}
	}
	r, replaced := m.record()
	return r, replaced, nil
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
