package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"fulmen/daemon/api/worker"
)

// workerInfo asks the worker what it computes with.
func workerInfo(ctx context.Context, program string) (worker.Info, error) {
	var info worker.Info
	out, err := exec.CommandContext(ctx, program, "info").Output()
	if err != nil {
		return info, fmt.Errorf("%s info: %w; run make build", program, err)
	}
	return info, json.Unmarshal(out, &info)
}

// startTime is the time from a program's start to its end, in seconds.
func startTime(ctx context.Context, environment []string, command ...string) (float64, error) {
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Env = append(os.Environ(), environment...)
	began := time.Now()
	err := process.Run()
	return time.Since(began).Seconds(), err
}

// endingTime is the time from SIGTERM to the end of a worker that computes, in
// milliseconds.
func endingTime(ctx context.Context, program string) (float64, error) {
	process := exec.CommandContext(ctx, program, "gpu", "-device", "cpu", "-time", "1h", "-messages", "stdout")
	out, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		return 0, err
	}
	messages := worker.NewReader(out)
	for {
		message, err := messages.Next()
		if err != nil {
			return 0, err
		}
		if message.Progress != nil && strings.Contains(message.Progress.Stage, "n =") {
			break
		}
	}
	began := time.Now()
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	_ = process.Wait() // it ends with status 1: it was asked to
	return float64(time.Since(began)) / 1e6, nil
}
