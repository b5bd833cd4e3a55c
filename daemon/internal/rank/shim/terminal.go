package shim

import (
	"bytes"
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"fulmen/daemon/internal/rank/shimproto"
)

// terminal is a pseudo-terminal that the program has in place of three streams.
type terminal struct {
	// master is the shim's side: what is typed goes in, what is shown comes out.
	master *os.File
	// slave is the program's side. The shim keeps it open until all is over, so
	// that a program that closes its own for a moment ends nothing.
	slave *os.File
}

func openTerminal(size shimproto.Terminal) (*terminal, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	t := &terminal{master: master, slave: slave}
	if err := t.resize(size); err != nil {
		closeFiles(master, slave)
		return nil, err
	}
	return t, nil
}

// resize gives the terminal a size; the system tells what runs in it.
func (t *terminal) resize(size shimproto.Terminal) error {
	return t.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(size.Rows), Col: uint16(size.Columns)})
	})
}

// foreground is the process group that has the terminal, 0 if none has: under a
// shell it is the command's and not the program's.
func (t *terminal) foreground() (group int) {
	_ = t.control(func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group
}

// signal sends to the foreground where that is not the program's own group.
func (t *terminal) signal(program int, s syscall.Signal) {
	if group := t.foreground(); group > 1 && group != program {
		_ = syscall.Kill(-group, s)
	}
}

// end is the end of the input after the byte that was typed last: the character
// that the terminal takes for it. In the middle of a line the first one only
// hands over what there is of the line.
func (t *terminal) end(last byte) error {
	var settings *unix.Termios
	if err := t.control(func(fd int) (err error) {
		settings, err = unix.IoctlGetTermios(fd, getTermios)
		return err
	}); err != nil {
		return err
	}
	times := 1
	if last != '\n' && last != 0 && settings.Lflag&unix.ICANON != 0 {
		times = 2
	}
	_, err := t.master.Write(bytes.Repeat([]byte{settings.Cc[unix.VEOF]}, times))
	return err
}

func (t *terminal) control(f func(fd int) error) error {
	raw, err := t.master.SyscallConn()
	if err != nil {
		return err
	}
	if failed := raw.Control(func(fd uintptr) { err = f(int(fd)) }); failed != nil {
		return failed
	}
	return err
}
