package command

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
)

// exited is the end of another program, which has said itself what was wrong.
type exited struct{ status int }

func (exited) Error() string { return "failed" }

// siblingGrace is how long the daemon's program may take to end after Ctrl-C.
const siblingGrace = 5 * time.Second

// fulmend runs the daemon's program, with its words on standard error as they
// are. It knows what this one leaves to it: hardware, scenarios, recordings.
func (r *run) fulmend(ctx context.Context, out io.Writer, args ...string) error {
	path, err := r.siblingPath("fulmend")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.In, out, r.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = siblingGrace
	err = cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if status := ended.ExitCode(); status > 0 {
			return exited{status}
		}
		return exited{api.ExitFailed} // a signal ended it
	}
	if err != nil {
		e := api.Errorf(api.ReasonInternal, path, "%s could not be run.", path)
		e.Data.Remedy = "Install fulmen and fulmend from the same release."
		return e
	}
	return nil
}

// siblingPath finds another program of Fulmen: beside this one, also where this
// one is a link, else on PATH.
func (r *run) siblingPath(name string) (string, error) {
	var places []string
	if r.Executable != "" {
		places = append(places, filepath.Dir(r.Executable))
		if target, err := filepath.EvalSymlinks(r.Executable); err == nil {
			places = append(places, filepath.Dir(target))
		}
	}
	for _, dir := range places {
		path := filepath.Join(dir, name)
		if status, err := os.Stat(path); err == nil && status.Mode().IsRegular() && status.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	e := api.Errorf(api.ReasonProgramMissing, name, "The daemon's program, %s, is not beside fulmen and not on PATH.", name)
	e.Data.Remedy = "Install fulmen and fulmend in one folder, or put the folder of fulmend on PATH."
	return "", e
}
