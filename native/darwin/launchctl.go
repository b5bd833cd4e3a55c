package darwin

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
)

// launchctlAt is the launchctl that lies at a path.
func launchctlAt(path string) launchctl {
	return func(ctx context.Context, args ...string) (string, error) {
		var said, failed bytes.Buffer
		command := exec.CommandContext(ctx, path, args...)
		command.Stdout, command.Stderr = &said, &failed
		err := command.Run()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
			return "", &launchdError{status: exit.ExitCode(), said: failed.String()}
		}
		return said.String(), err
	}
}
