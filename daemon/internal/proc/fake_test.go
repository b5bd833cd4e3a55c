package proc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"fulmen/daemon/api/worker"
	"fulmen/native"
)

// The test binary is the worker too: started with this variable, it behaves as
// the variable's value says.
const asFake = "FULMEN_FAKE_WORKER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(asFake); mode != "" {
		fake(mode, os.Getenv(asFake+"_ARG"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is a worker that does one bad thing, after saying that it works.
func fake(mode, arg string) {
	out := worker.NewWriter(os.NewFile(worker.FD, "messages"))
	report := func(m worker.Message) {
		m.Command = worker.CommandGPU
		if err := out.Write(m); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	progress := func(stage string, ratio float64) {
		report(worker.Message{Type: worker.TypeProgress, Progress: &worker.Progress{Stage: stage, DoneRatio: ratio}})
	}
	result := func() { report(worker.Message{Type: worker.TypeResult, Value: []byte(`{"ok":true}`)}) }
	if mode != "mute" && mode != "daemon" {
		progress("matmul", 0.25)
	}
	switch mode {
	case "good":
		report(worker.Message{Type: worker.TypeLog, Log: &worker.Log{Level: worker.LevelWarn, Text: "slow \x1b[31mBLAS"}})
		progress("sum", 1)
		result()
	case "environment":
		fmt.Print(strings.Join(os.Environ(), "\n"))
		result()
	case "status after result":
		result()
		os.Exit(3)
	case "refuses":
		report(worker.Message{Type: worker.TypeError, Error: &worker.Error{Reason: worker.ReasonNoDevice, Message: "MLX finds no gpu"}})
		os.Exit(1)
	case "signal":
		// A shell, since Go keeps the signals of faults to itself.
		shell("kill -" + arg + " $$")
	case "script":
		shell(arg)
	case "panic":
		panic("the device is lost")
	case "fault":
		// As C++ in a Go program does it: no signal ends the process, the
		// runtime does, with a trace and status 2.
		fmt.Fprintf(os.Stderr, "terminate called\n%s: segmentation violation\nPC=0x1\n\ngoroutine 1 [syscall]:\n", arg)
		os.Exit(2)
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		wait() // this thread can run on for a moment before the stop reaches it
	case "memory":
		eat(arg)
	case "garbage":
		_, _ = os.NewFile(worker.FD, "").WriteString("Segmentation \x1b[2Jfault\n")
		wait()
	case "giant line":
		_, _ = os.NewFile(worker.FD, "").Write(bytes.Repeat([]byte("x"), 3*worker.MaxMessageBytes))
		wait()
	case "flood":
		piece := bytes.Repeat([]byte("all work and no play\n"), 50<<10)
		for total := 0; total < 1<<30; total += len(piece) {
			_, _ = os.Stderr.Write(piece)
		}
		fmt.Fprintln(os.Stderr, "the end of it")
		result()
	case "mute":
		wait()
	case "ignores":
		signal.Ignore(syscall.SIGTERM)
		progress("ignoring", 0.5)
		wait()
	case "obeys":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		progress("waiting", 0.5)
		<-c
		report(worker.Message{Type: worker.TypeError, Error: &worker.Error{Reason: worker.ReasonCancelled, Message: "ended by a signal"}})
		os.Exit(1)
	case "lingers":
		result()
		signal.Ignore(syscall.SIGTERM)
		wait()
	case "closes":
		_ = os.NewFile(worker.FD, "").Close()
		wait()
	case "grandchild":
		child := exec.Command("/bin/sh", "-c", "trap '' TERM HUP; while :; do read x; done")
		child.Stdout, child.Stderr, child.ExtraFiles = os.Stdout, os.Stderr, []*os.File{os.NewFile(worker.FD, "")}
		// Detached or in the worker's own group, as the argument says.
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: arg == "detached"}
		child.Stdin, _, _ = os.Pipe()
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stdout, child.Process.Pid)
		result()
	case "life line":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "daemon":
		program, _ := os.Executable()
		clock, err := native.SystemClock()
		if err != nil {
			panic(err)
		}
		Run(context.Background(), clock, Command{Path: program, Env: []string{asFake + "=life line"}, Started: func(pid int) { fmt.Println(pid) }})
	case "chatter":
		for i := range messages {
			progress("step", float64(i)/messages)
		}
		// All are written, so all were read, while nobody took the first one.
		link, err := net.Dial("tcp", arg)
		if err != nil {
			panic(err)
		}
		link.Close()
		progress("last", 1)
		result()
	}
}

// messages is far more than a pipe holds.
const messages = 20_000

// shell puts a shell in this process's place.
func shell(script string) {
	panic(syscall.Exec("/bin/sh", []string{"sh", "-c", script}, nil))
}

// wait waits for a signal; the runtime must see that something may come.
func wait() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	<-c
}

// eat uses memory until it is refused or ended: with its address space limited
// where how is "limit", else in the control group whose folder how is.
func eat(how string) {
	if how == "limit" {
		shell("ulimit -v 65536; exec awk 'BEGIN { s = \"x\"; while (1) s = s s }'")
	}
	if err := os.WriteFile(how+"/cgroup.procs", []byte(fmt.Sprint(os.Getpid())), 0); err != nil {
		panic(err)
	}
	var all [][]byte
	for {
		all = append(all, bytes.Repeat([]byte{1}, 1<<20))
		runtime.KeepAlive(all)
	}
}
