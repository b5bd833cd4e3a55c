package shim

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
	"fulmen/native/unitrecord"
)

// Run holds the rank whose spec.json is in the folder, until it has ended. What
// a person may have to know about the shim itself goes to report. The error is
// about a rank that could not be held at all; one whose program could not be
// started has an exit.json that says so.
//
// Run owns the process: it takes its signals and reaps all its children.
func Run(folder string, clock native.Clock, report io.Writer) error {
	spec, err := shimproto.ReadSpec(folder)
	if err != nil {
		return err
	}
	if spec.Folder != folder {
		return fmt.Errorf("%s is of the folder %s", filepath.Join(folder, shimproto.SpecFile), spec.Folder)
	}
	if _, err := os.Lstat(filepath.Join(folder, shimproto.ExitFile)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has ended before", spec.Ref) // a rank is never run twice
	}
	s := newShim(folder, spec, clock, report)
	if err := s.reserve(); err != nil {
		return err
	}
	if err := adopt(); err != nil {
		return s.refuse(err)
	}
	forgetValues(folder, spec)
	keepDescriptors()
	// The program's, and what is usual; the supervisor's may be anything.
	syscall.Umask(0o022)
	// Signals are caught and not ignored: what is ignored stays so in the program.
	children, end, rest := make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	signal.Notify(end, syscall.SIGTERM)
	signal.Notify(rest, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE)

	listeners, err := s.listen()
	defer func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}()
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		return s.refuse(err)
	}
	go s.accept(listeners[0])
	if s.feeder != nil {
		go s.feeder.accept(listeners[1])
	}
	s.loop(children, end)
	return nil
}

func newShim(folder string, spec shimproto.Spec, clock native.Clock, report io.Writer) *shim {
	s := &shim{
		folder: folder, spec: spec, clock: clock, report: report, events: make(chan func()), over: make(chan struct{}),
		fence:    shimproto.NewFence(spec.Ref, spec.Epoch, shimproto.OwnVersions()),
		sessions: map[*session]struct{}{}, phase: shimproto.PhaseStarting, began: clock.Boot(),
	}
	s.record = shimproto.ExitRecord{Ref: spec.Ref, Epoch: spec.Epoch, StartedAt: native.Stamp(clock.Now())}
	return s
}

// listen opens the sockets, for the shim's own account and root alone.
func (s *shim) listen() ([]net.Listener, error) {
	own, err := takeSocket(s.spec.Socket)
	if err != nil {
		return nil, err
	}
	var open []net.Listener
	paths := []string{s.spec.Socket}
	if own != nil {
		open, paths = append(open, own), nil
	}
	if s.spec.Stdin == shimproto.StdinSocket {
		paths = append(paths, InputSocket(s.spec.Socket))
	}
	// The mode counts from the first moment: no chmod comes too late.
	defer syscall.Umask(syscall.Umask(0o177))
	for _, path := range paths {
		if len(path) > shimproto.MaxSocketPath {
			return open, fmt.Errorf("%s: %d bytes is more than the %d that a socket's path can have", path, len(path), shimproto.MaxSocketPath)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return open, err
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			return open, err
		}
		open = append(open, l)
	}
	return open, nil
}

// takeSocket is the shim's socket where the supervisor has opened it, else nil.
func takeSocket(path string) (net.Listener, error) {
	number := os.Getenv(unitrecord.SocketVariable)
	if number == "" {
		return nil, nil
	}
	fd, err := strconv.Atoi(number)
	if err != nil || fd <= 2 {
		return nil, fmt.Errorf("%s=%.20q is no descriptor of a socket", unitrecord.SocketVariable, number)
	}
	file := os.NewFile(uintptr(fd), path)
	l, err := net.FileListener(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	own, ok := l.(*net.UnixListener)
	if !ok || own.Addr().String() != path {
		return nil, errors.Join(fmt.Errorf("the socket of descriptor %d is %s, and not %s", fd, l.Addr(), path), l.Close())
	}
	own.SetUnlinkOnClose(true)
	return own, nil
}

// begin starts the guard and, without waiting for it, the program.
func (s *shim) begin() (err error) {
	if s.guard, err = startGuard(s.folder); err != nil {
		return err
	}
	if s.streams, err = openStreams(s.spec); err != nil {
		return err
	}
	s.terminal = s.streams.terminal
	if s.streams.input != nil {
		s.feeder = &input{shim: s, pipe: s.streams.input, terminal: s.terminal}
	}
	s.family.except = []int{s.guard.pid}
	s.keep("stdout", "out.", s.streams.out)
	if s.streams.err != nil {
		s.keep("stderr", "err.", s.streams.err)
	}
	s.armLease(s.spec.LeaseS)
	s.kills, s.killsKnown = memoryKills()
	go func() {
		pid, err := start(s.spec, s.streams)
		if err == nil {
			s.guard.watch(pid)
		}
		s.do(func() { s.started(pid, err) })
	}()
	return nil
}

// keep moves a stream of the program into a log.
func (s *shim) keep(stream, file string, from *os.File) {
	name := file + strconv.Itoa(s.spec.Rank)
	log := newLogFile(stream, filepath.Join(s.folder, name), name, s.spec.LogHeadBytes, s.spec.LogTailBytes)
	s.logs = append(s.logs, log)
	s.pumps.add(from, log)
}

// forgetValues takes the values of environment variables off the disk: the program
// alone has a use for them from here on.
func forgetValues(folder string, spec shimproto.Spec) {
	if shimproto.ForgetEnvironment(folder, spec) != nil {
		_ = os.Remove(filepath.Join(folder, shimproto.SpecFile))
	}
}
