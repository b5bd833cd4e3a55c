package peer

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Again calls a node, and calls it again after a pause for as long as again says so of
// the error and ctx goes on. The error is that of the last call.
func Again(ctx context.Context, clock native.Clock, pause time.Duration, again func(error) bool, call func() error) error {
	for {
		err := call()
		if err == nil || !again(err) || !native.Pause(ctx, clock, pause) {
			return err
		}
	}
}

// IsUnreached reports whether a node could not be reached: a path may come, or another
// be found in place of one that just went.
func IsUnreached(err error) bool {
	e := api.AsError(err)
	return e != nil && e.Code == api.CodeUnreachable
}
