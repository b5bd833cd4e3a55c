package look

import (
	"bufio"
	"encoding/json"
	"errors"
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
	reader := bufio.NewReader(in)
	line, err := ReadLine(reader, MaxRequestBytes)
	if err != nil {
		return status(err, complaints)
	}
	request, err := ParseRequest(line)
	if err != nil {
		return status(err, complaints)
	}
	if request.Stay {
		return status(stay(request, reader, out), complaints)
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
	return status(write(out, a), complaints)
}

func write(out io.Writer, a Answer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(a)
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

// stay answers requests one after the other until nobody has any more, which ends
// the process also while it looks.
func stay(request Request, in *bufio.Reader, out io.Writer) error {
	lines := make(chan []byte)
	broken := make(chan error)
	go func() {
		for {
			line, err := ReadLine(in, MaxRequestBytes)
			if err != nil && !errors.Is(err, errLong) {
				die()
			}
			if err != nil {
				broken <- err
				return
			}
			lines <- line
		}
	}()
	for {
		deadline := time.AfterFunc(time.Duration(request.DeadlineS*float64(time.Second)), die)
		a := find(request)
		deadline.Stop()
		if err := write(out, a); err != nil {
			return err
		}
		select {
		case line := <-lines:
			var err error
			if request, err = ParseRequest(line); err != nil {
				return err
			}
			if request.Op != OpFind {
				return fmt.Errorf("%s: one that stays only looks", request.Op)
			}
		case err := <-broken:
			return err
		}
	}
}

var errLong = errors.New("a line is too long")

// ReadLine reads a line of so many bytes at most, its end not counted. The last one
// need not have an end.
func ReadLine(in *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > most+1:
			return nil, fmt.Errorf("%w: more than %d bytes", errLong, most)
		case err == io.EOF && len(line) > 0, err == nil:
			return line, nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}
