package look

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// prepareGrace is what a command that prepares gets between SIGTERM and SIGKILL.
const prepareGrace = 2 * time.Second

// runPrepare answers [OpPrepare]. What the command prints goes to standard
// error, as it comes. When nobody wants the answer any more the command's group,
// which is this process's, gets SIGTERM, and after the grace SIGKILL.
func runPrepare(r Request, in io.Reader) (Answer, error) {
	args := []string{"/bin/sh", "-c", r.Prepare[0]}
	if len(r.Prepare) > 1 {
		// The shell looks the program up in the PATH of the environment.
		args = append([]string{"/bin/sh", "-c", `exec "$@"`, "prepare"}, r.Prepare...)
	}
	command := &exec.Cmd{Path: args[0], Args: args, Env: r.Env, Dir: r.directory(), Stdout: os.Stderr, Stderr: os.Stderr}
	// Caught rather than ignored: an ignored signal would be so for the command too.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM)
	if err := command.Start(); err != nil {
		return Answer{}, fmt.Errorf("the command cannot be started: %w", err)
	}
	go untilEnd(in, func() {
		if syscall.Getpgrp() == os.Getpid() {
			_ = syscall.Kill(0, syscall.SIGTERM)
		}
		time.AfterFunc(prepareGrace, die)
	})
	_ = command.Wait()
	code := command.ProcessState.ExitCode()
	if status, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return Answer{Status: &code}, nil
}
