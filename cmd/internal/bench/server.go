package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// server is MLX Python, which does operations on request.
type server struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	stderr  strings.Builder
}

func startServer(ctx context.Context, environment []string, command ...string) (*server, error) {
	s := &server{process: exec.CommandContext(ctx, command[0], command[1:]...)}
	s.process.Env = append(os.Environ(), environment...)
	s.process.Stderr = &s.stderr
	var err error
	if s.in, err = s.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewScanner(out)
	return s, s.process.Start()
}

// do asks for count operations and gives the seconds that one took.
func (s *server) do(operation string, count int) (float64, error) {
	if _, err := fmt.Fprintf(s.in, "%s %d\n", operation, count); err != nil {
		return 0, s.lost(err)
	}
	if !s.out.Scan() {
		return 0, s.lost(s.out.Err())
	}
	seconds, err := strconv.ParseFloat(s.out.Text(), 64)
	return seconds / float64(count), err
}

// lost is the error of a server that answers no more, with its last words.
func (s *server) lost(err error) error {
	s.in.Close()
	if ended := s.process.Wait(); ended != nil {
		err = ended
	}
	return fmt.Errorf("%s ended: %v: %s", s.process, err, strings.TrimSpace(s.stderr.String()))
}

func (s *server) close() {
	s.in.Close()
	_ = s.process.Wait()
}

// runs does an operation some times and gives the seconds that one took.
type runs func(count int) (float64, error)

// pairs has two programs do the same in turn, count times each, and makes rows of
// the seconds that one operation took on each. The order alternates, so that
// neither always runs on what the other left. It takes one share of the time that
// the group has left.
func (b *run) pairs(what string, first, second runs, count, shares int, rows func(first, second []float64) []Row) error {
	both, took := [2]runs{first, second}, [2][]float64{}
	return b.sample(what, 11, b.left()/time.Duration(shares), func(n int) error {
		if n == 0 { // inputs are made, caches are warm
			for _, run := range both {
				if _, err := run(max(count/4, 1)); err != nil {
					return err
				}
			}
		}
		for i := range both {
			which := (i + n) % 2
			one, err := both[which](count)
			if err != nil {
				return err
			}
			took[which] = append(took[which], one)
		}
		return nil
	}, func() []Row { return rows(took[0], took[1]) })
}
