package look

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// Main is the whole of the process. Without arguments it answers the request on
// in; with a mark as the only one, as a login shell is told to call it, it prints
// its environment. It gives the exit status.
func Main(args []string, in io.Reader, out, complaints io.Writer) int {
	if len(args) == 1 {
		return status(printEnvironment(out, args[0]), complaints)
	}
	if len(args) > 1 {
		fmt.Fprintln(complaints, "fulmen-shim look: it takes a request on its standard input")
		return 2
	}
	lines := Lines(in, MaxRequestBytes)
	lines.Scan()
	if err := lines.Err(); err != nil {
		return status(err, complaints)
	}
	request, err := ParseRequest(lines.Bytes())
	if err != nil {
		return status(err, complaints)
	}
	time.AfterFunc(time.Duration(request.DeadlineS*float64(time.Second)), die)
	var a Answer
	switch request.Op {
	case OpEnvironment:
		go untilEnd(in, die)
		a, err = readShell(request)
	case OpPrepare:
		a, err = runPrepare(request, in)
	default:
		go untilEnd(in, die)
		a = find(request)
	}
	if err != nil {
		return status(err, complaints)
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return status(encoder.Encode(a), complaints)
}

func status(err error, complaints io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(complaints, "fulmen-shim look:", err)
	return 1
}

// untilEnd calls then when nobody wants the answer any more.
func untilEnd(in io.Reader, then func()) {
	_, _ = io.Copy(io.Discard, in)
	then()
}

// die ends this process, and its group where it leads one: what it started is in it.
func die() {
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
	os.Exit(1)
}

// between finds what lies between two marks.
func between(text, mark string) (string, bool) {
	_, text, found := strings.Cut(text, mark)
	if !found {
		return "", false
	}
	text, _, found = strings.Cut(text, mark)
	return text, found
}

// Lines reads lines of so many bytes at most, their end not counted. The last one need
// not have an end.
func Lines(in io.Reader, most int) *bufio.Scanner {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, most+1)
	return lines
}
