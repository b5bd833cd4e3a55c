package main

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// outlive stops the daemon under a watch and starts it again: the watch says
// that it was interrupted, once, and goes on.
func outlive(ts *testscript.TestScript, _ bool, _ []string) {
	watch := program(ts, "fulmen", "watch", "--kind", "node-state")
	out, err := watch.StdoutPipe()
	ts.Check(err)
	problems, err := watch.StderrPipe()
	ts.Check(err)
	ts.Check(watch.Start())
	defer func() {
		_ = watch.Process.Kill() // the deadline of the test ends what hangs
		_ = watch.Wait()
	}()
	expectLine, complained := bufio.NewScanner(out), bufio.NewScanner(problems)
	await(ts, expectLine, "  awake")
	ts.Check(ts.Exec("fulmen", "stop"))
	await(ts, complained, "fulmen: interrupted: ")
	start(ts, false, nil)
	await(ts, expectLine, "  awake")
	ts.Check(watch.Process.Signal(os.Interrupt))
	rest, err := io.ReadAll(problems)
	ts.Check(err)
	if complained.Scan() || strings.Contains(string(rest), "interrupted") {
		ts.Fatalf("it complained again: %s%s", complained.Text(), rest)
	}
}

// await reads lines up to one that holds a text.
func await(ts *testscript.TestScript, lines *bufio.Scanner, want string) {
	for lines.Scan() {
		if strings.Contains(lines.Text(), want) {
			return
		}
	}
	ts.Fatalf("there was no line with %q", want)
}
