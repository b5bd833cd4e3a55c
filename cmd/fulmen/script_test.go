package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fulmen/daemon"
	"fulmen/daemon/api/worker"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fulmen": main, "fulmend": fulmend, "fulmen-rank": rank})
}

// TestScripts runs the stories of users in testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, params(filepath.Join("testdata", "script")))
}

// params are how stories run, each with a home of its own.
func params(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home, err := os.MkdirTemp("/tmp", "fulmen") // paths of sockets are short
			if err != nil {
				return err
			}
			env.Defer(func() { _ = os.RemoveAll(home) }) // of no interest after the test
			env.Values[reported{}] = &watching{}
			env.Setenv("FULMEN_HOME", home)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("USER", "ada")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each program lasts a second under the race detector
			return os.WriteFile(filepath.Join(home, "config.toml"), []byte("# mine\n[api]\nport = 0 # any\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"start": start, "mode": mode, "fifo": fifo, "meet": meet, "step": step, "outlive": outlive, "watch": watch, "said": expectLine, "pair": pair, "stub": stub, "status": status, "interrupt": interrupt, "cluster": cluster, "becomes": becomes},
	}
}

// start starts the daemon and waits until clients can connect. With a word it
// runs on a simulated Mac: start SCENARIO[:MAC].
func start(ts *testscript.TestScript, _ bool, args []string) {
	path, err := exec.LookPath("fulmend")
	ts.Check(err)
	cmd := exec.Command(path, args...)
	for _, name := range []string{"FULMEN_HOME", "HOME", "PATH", "USER", "GORACE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	line := bufio.NewScanner(out)
	ready := line.Scan()
	go func() { ended <- cmd.Wait() }()
	ts.Defer(func() {
		_ = cmd.Process.Kill() // it may have been stopped by the story
		<-ended
	})
	if !ready {
		ts.Fatalf("the daemon did not start")
	}
}

// program is a program on the story's path that speaks to the daemon of the moment.
func program(ts *testscript.TestScript, name string, args ...string) *exec.Cmd {
	path, err := exec.LookPath(name)
	ts.Check(err)
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "FULMEN_HOME="+ts.Getenv("FULMEN_HOME"))
	return cmd
}

// mode holds a file to its permissions: mode 0600 FILE.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	status, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", status.Mode().Perm()); (got == args[0]) == neg {
		ts.Fatalf("%s has mode %s", args[1], got)
	}
}

// fifo makes a named pipe, at whose ends two processes meet.
func fifo(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

// meet waits until somebody is at the other end of a named pipe.
func meet(ts *testscript.TestScript, _ bool, args []string) {
	end, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(end.Close())
}

// fulmend is the daemon with the worker below: fulmend [SCENARIO[:MAC] [WORLD]], and of
// its other commands fulmend topology --scenario NAME and fulmend uninstall.
func fulmend() {
	var err error
	switch {
	case len(os.Args) > 3 && os.Args[1] == "topology":
		err = drawing(os.Args[3])
	case len(os.Args) > 1 && os.Args[1] == "uninstall":
		err = daemon.Uninstall(context.Background(), slices.Contains(os.Args, "-remove"), slices.Contains(os.Args, "-delete-output"), os.Stdout)
	default:
		err = serve(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	path, err := exec.LookPath("fulmen-rank")
	if err != nil {
		return err
	}
	options := daemon.Options{Version: version, Worker: path, Ready: func(daemon.Address) { fmt.Println("ready") }}
	if len(args) == 0 {
		return daemon.Run(ctx, options)
	}
	if len(args) > 1 {
		options.Simulation, err = daemon.JoinSimulation(ctx, args[0], args[1])
	} else {
		options.Simulation, err = daemon.OpenSimulation(args[0])
	}
	if err != nil {
		return err
	}
	return errors.Join(daemon.Run(ctx, options), options.Simulation.World.Close())
}

func drawing(scenario string) error {
	d, err := daemon.DrawScenario(scenario, version)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(d)
}

// rank is a worker that computes nothing. Where there is a named pipe step in the
// home folder, it waits there until the test has seen how far it is. Where there is
// one called hold, it meets the test there and then measures until it is ended.
func rank() {
	out := worker.NewWriter(os.NewFile(worker.FD, "messages"))
	command := worker.Command(os.Args[1])
	report := func(m worker.Message) {
		if m.Command = command; out.Write(m) != nil {
			os.Exit(1)
		}
	}
	switch command {
	case worker.CommandInfo:
		report(worker.Message{Type: worker.TypeResult, Value: []byte(`{"protocol":1,"mlx_version":"0.32.4","os":"linux","arch":"amd64","cpus":2,"backends":["cpu"],"distributed":["ring"],"blas":{"name":"openblas"},"devices":[{"type":"cpu","index":0}]}`)})
	case worker.CommandGPU:
		report(worker.Message{Type: worker.TypeProgress, Progress: &worker.Progress{Stage: "matrix products", DoneRatio: 0.5, ElapsedS: 1}})
		_, _ = os.ReadFile(filepath.Join(os.Getenv("HOME"), "step")) // there may be none
		if _, err := os.OpenFile(filepath.Join(os.Getenv("HOME"), "hold"), os.O_WRONLY, 0); err == nil {
			ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			<-ended.Done()
			return
		}
		report(worker.Message{Type: worker.TypeResult, Value: []byte(result)})
	}
}

const result = `{"device":{"type":"cpu","index":0,"name":"test"},"mlx_version":"0.32.4","blas":{"name":"openblas"},` +
	`"matmul":[{"dtype":"float16","n":1024,"speed_tflops":1.25,"warm_up_s":1,"settled":true,"runs":5,"best_s":0.1,"median_s":0.1,"spread_ratio":0}],` +
	`"bandwidth":[{"dtype":"float32","buffer_bytes":1073741824,"read_bytes_per_s":20000000000,"warm_up_s":1,"settled":true,"runs":5,"best_s":0.1,"median_s":0.1,"spread_ratio":0}],"elapsed_s":2}`
