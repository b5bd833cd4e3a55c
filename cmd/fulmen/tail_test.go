package main

import (
	"bufio"
	"os"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// reported is the key under which a story keeps the lines of its watch.
type reported struct{}

// watching is a fulmen watch that runs beside a story.
type watching struct{ lines *bufio.Scanner }

// watch begins to watch: watch ARG... One story has one.
func watch(ts *testscript.TestScript, _ bool, args []string) {
	cmd := program(ts, "fulmen", append([]string{"watch"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Kill() // the story is over
		_ = cmd.Wait()
	})
	ts.Value(reported{}).(*watching).lines = bufio.NewScanner(out)
}

// expectLine reads the watch's lines up to one that fits: said REGEXP.
func expectLine(ts *testscript.TestScript, _ bool, args []string) {
	want, err := regexp.Compile(args[0])
	ts.Check(err)
	lines := ts.Value(reported{}).(*watching).lines
	for lines.Scan() {
		ts.Logf("%s", lines.Text())
		if want.MatchString(lines.Text()) {
			return
		}
	}
	ts.Fatalf("the watch ended without a line for %q", args[0])
}
