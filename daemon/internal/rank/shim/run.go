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
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
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
		sessions: map[*session]struct{}{}, probes: map[int]*probe{}, strays: map[int]syscall.WaitStatus{}, phase: shimproto.PhaseStarting, began: clock.Boot(),
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
		return nil, fmt.Errorf("%s=%.20q is not a descriptor of a socket", unitrecord.SocketVariable, number)
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
	s.kills = native.CountMemoryKills().Group
	go func() {
		pid, err := start(s.spec, s.streams, nil)
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

// streams are the program's ends of its three streams, and the shim's.
type streams struct {
	theirs [3]*os.File
	input  *os.File // nil where there is none
	out    *os.File
	err    *os.File // nil where there is a terminal
	// terminal is what they are all the same, where the spec wants it.
	terminal *terminal
}

// openStreams makes the pipes, or the terminal. The program's ends belong to its
// account, so that it can open /dev/stdout and its like by name.
func openStreams(spec shimproto.Spec) (s *streams, err error) {
	s = &streams{}
	defer func() {
		if err != nil {
			s.closeTheirs()
			s.hangUp()
			closeFiles(s.input, s.out, s.err)
		}
	}()
	if spec.Terminal != nil {
		if s.terminal, err = openTerminal(*spec.Terminal); err != nil {
			return s, err
		}
		s.input, s.out = s.terminal.master, s.terminal.master
		s.theirs = [3]*os.File{s.terminal.slave, s.terminal.slave, s.terminal.slave}
	} else if err = s.openPipes(spec.Stdin); err != nil {
		return s, err
	}
	if u := spec.User; u != nil && os.Geteuid() == 0 {
		for i, end := range s.theirs {
			if i > 0 || s.input != nil {
				_ = end.Chown(int(u.UID), int(u.GID)) // macOS has no owner of pipes
			}
		}
	}
	return s, nil
}

func (s *streams) openPipes(stdin shimproto.Stdin) (err error) {
	if stdin == shimproto.StdinSocket {
		s.theirs[0], s.input, err = os.Pipe()
	} else {
		s.theirs[0], err = os.Open(os.DevNull)
	}
	if err != nil {
		return err
	}
	if s.out, s.theirs[1], err = os.Pipe(); err != nil {
		return err
	}
	if s.err, s.theirs[2], err = os.Pipe(); err != nil {
		return err
	}
	enlargePipe(s.out)
	enlargePipe(s.err)
	return nil
}

// closeTheirs closes the program's ends once the program has them.
func (s *streams) closeTheirs() {
	if s.terminal == nil {
		closeFiles(s.theirs[:]...)
	}
}

// hangUp closes the terminal's other side, so that its output ends.
func (s *streams) hangUp() {
	if s.terminal != nil {
		closeFiles(s.terminal.slave)
	}
}

// attributes are how the program is started: in a session of its own, whose
// terminal its input is where there is one.
func (s *streams) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: s.terminal != nil}
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// checkAccount refuses an account that a shim must not use or cannot become.
func checkAccount(u *shimproto.User) error {
	switch {
	case u == nil:
		return nil
	case u.UID == 0:
		return notStarted(api.ReasonAccountForbidden, "ranks never run as root")
	case os.Geteuid() == 0:
		return nil
	case os.Getuid() != int(u.UID) || os.Geteuid() != int(u.UID) || os.Getgid() != int(u.GID) || os.Getegid() != int(u.GID):
		return notStarted(api.ReasonPermissionDenied, fmt.Sprintf("the shim runs as uid %d, gid %d and cannot become %s (uid %d, gid %d)",
			os.Getuid(), os.Getgid(), u.Name, u.UID, u.GID))
	}
	return nil
}

// startError is why a program was not started.
type startError struct{ shimproto.Cause }

func (e *startError) Error() string { return e.Message }

func notStarted(reason api.Reason, message string) error {
	return &startError{shimproto.Cause{Reason: string(reason), Message: message}}
}

// execute starts the program. It runs with the rights of the program's account,
// on Linux; elsewhere the system takes that account between fork and exec,
// before it looks at the folder or the program.
func execute(spec shimproto.Spec, s *streams, sys *syscall.SysProcAttr) (pid int, err error) {
	env := append(slices.Clone(spec.Env), markVariable+"="+spec.Folder)
	if unit := os.Getenv(unitrecord.Variable); unit != "" {
		env = append(env, unitrecord.Variable+"="+unit)
	}
	pid, err = syscall.ForkExec(spec.Program, append([]string{spec.Program}, spec.Args...), &syscall.ProcAttr{
		Dir: spec.Dir, Env: env, Sys: sys,
		Files: []uintptr{s.theirs[0].Fd(), s.theirs[1].Fd(), s.theirs[2].Fd()},
	})
	if err != nil {
		return 0, explain(spec, err)
	}
	return pid, nil
}

// explain finds which of the paths the system's error is about.
func explain(spec shimproto.Spec, err error) error {
	var st unix.Stat_t
	at := func(path string, err error) string { return (&fs.PathError{Op: "start", Path: path, Err: err}).Error() }
	dir := unix.Stat(spec.Dir, &st)
	if dir == nil {
		dir = unix.Access(spec.Dir, unix.X_OK)
	}
	if errors.Is(dir, unix.ENOENT) || errors.Is(dir, unix.ENOTDIR) {
		return notStarted(api.ReasonDirectoryMissing, at(spec.Dir, dir))
	} else if dir != nil {
		return notStarted(denied(dir), at(spec.Dir, dir))
	}
	switch {
	case errors.Is(err, unix.ENOENT) && unix.Stat(spec.Program, &st) == nil:
		return notStarted(api.ReasonInterpreterMissing, at(spec.Program, errors.New("the interpreter that its first line names is not there")))
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return notStarted(api.ReasonProgramMissing, at(spec.Program, err))
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.ENOEXEC):
		return notStarted(api.ReasonProgramNotExecutable, at(spec.Program, err))
	}
	return notStarted(denied(err), at(spec.Program, err))
}

// causeOf is the cause of a start that failed.
func causeOf(err error) *shimproto.Cause {
	if known, ok := errors.AsType[*startError](err); ok {
		return &known.Cause
	}
	return &shimproto.Cause{Reason: string(api.ReasonSpawnFailed), Message: "The program could not be started" + native.ErrnoSuffix(err)}
}

// keepDescriptors keeps whatever this process was started with, but for the three
// streams, from the programs that it starts: a daemon's surroundings may have left
// it open.
func keepDescriptors() {
	if closeOnExec(3) == nil {
		return
	}
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// guardScript reads the number of the group and then, in the end, the word
// "over". If that never comes, because the shim is gone, the group is killed,
// and on Linux every process that bears the mark: what has left the group, and
// what was started in the moment before the number was known. It is a shell
// because that is the smallest thing that is on every system: a megabyte, a
// millisecond.
const guardScript = `
while read -r line; do
	[ "$line" = over ] && exit 0
	group=$line
done
[ -n "$group" ] && kill -s KILL -- "-$group"
for again in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	found=$(grep -slzFx "$1" /proc/[0-9]*/environ)
	[ -n "$found" ] || exit 0
	for file in $found; do
		process=${file#/proc/}
		kill -s KILL "${process%/environ}"
	done
done`

// markVariable is in the environment of everything that the program starts. Its
// value is the rank's folder, which no other attempt has.
const markVariable = "FULMEN_SHIM"

// guard is the process that kills the group of a shim that was killed.
type guard struct {
	pid     int // 0 once it was reaped
	pipe    *os.File
	stopped string // the signal that stopped it; empty while it goes on
}

// startGuard starts the guard in a session of its own, where no signal to the
// shim's group or the program's reaches it.
func startGuard(folder string) (*guard, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", guardScript, "sh", markVariable + "=" + folder}, &syscall.ProcAttr{
		Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Files: []uintptr{theirs.Fd(), null.Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("the guard of the group: %w", err)
	}
	return &guard{pid: pid, pipe: ours}, nil
}

// watch tells the guard which group it guards.
func (g *guard) watch(group int) {
	fmt.Fprintln(g.pipe, group)
}

// dismiss ends the guard without harm: by a signal, since one that was stopped reads
// nothing, and after the word, which is read should it come first.
func (g *guard) dismiss() {
	fmt.Fprintln(g.pipe, "over")
	_ = g.pipe.Close()
	if g.pid == 0 {
		return
	}
	_ = syscall.Kill(g.pid, syscall.SIGKILL)
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(g.pid, &status, 0, nil); err != syscall.EINTR {
			return // ECHILD: it was reaped with the others before
		}
	}
}
