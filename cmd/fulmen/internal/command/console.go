package command

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// console is the terminal of this process.
type console struct{ in, out int }

func (c console) Size() (rows, columns int, err error) {
	columns, rows, err = term.GetSize(c.out)
	return rows, columns, err
}

func (c console) Raw() (func() error, error) {
	before, err := term.MakeRaw(c.in)
	if err != nil {
		return nil, err
	}
	return func() error { return term.Restore(c.in, before) }, nil
}

func (c console) Foreground() bool {
	group, err := unix.IoctlGetInt(c.in, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// processSignals announces this process's signals.
func processSignals(which ...os.Signal) (<-chan os.Signal, func()) {
	// Three Ctrl-C mean three things, and none may be lost.
	c := make(chan os.Signal, 8)
	signal.Notify(c, which...)
	return c, func() { signal.Stop(c) }
}
