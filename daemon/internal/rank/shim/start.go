package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
	"fulmen/native/unitrecord"
)

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
	return &shimproto.Cause{Reason: string(api.ReasonSpawnFailed), Message: "The program could not be started" + native.Said(err)}
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
