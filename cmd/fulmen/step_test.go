package main

import (
	"bufio"
	"io"
	"os"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// step runs a command that measures while the worker waits at the named pipe step:
// step REGEXP COMMAND... It lets the worker go on once a line of the command's standard
// error fits, and holds it to success; what it prints is for stdout.
func step(ts *testscript.TestScript, _ bool, args []string) {
	want, err := regexp.Compile(args[0])
	ts.Check(err)
	cmd := program(ts, args[1], args[2:]...)
	cmd.Stdout = ts.Stdout()
	steps, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	lines := bufio.NewScanner(steps)
	for isReported := false; !isReported; isReported = want.MatchString(lines.Text()) {
		if !lines.Scan() {
			ts.Fatalf("%q ended without a line for %q: %v", args[1:], args[0], cmd.Wait())
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs("step"), nil, 0)) // opened once the worker is at the other end
	_, err = io.Copy(io.Discard, steps)
	ts.Check(err)
	ts.Check(cmd.Wait())
}
