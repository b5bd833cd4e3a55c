package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/matryer/is"
	"golang.org/x/term"
)

// A program on a terminal has it for itself: its size, Ctrl-C, and the end of its
// input; afterwards the terminal is as it was.
func (j *jobs) testTerminal(t *testing.T) {
	j.needPython(t)
	is := is.New(t)
	keys, terminal, err := pty.Open()
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	defer keys.Close()
	defer terminal.Close()
	must(t, "giving it", j.Account.Owns(terminal.Name()))
	must(t, "its size", pty.Setsize(keys, &pty.Winsize{Rows: 33, Cols: 101}))
	before, err := term.GetState(int(terminal.Fd()))
	must(t, "its state", err)

	c := j.run(t, "--", j.Python, j.Program("terminal.py"))
	l := &live{Cmd: c, ended: make(chan struct{}), printed: make(chan struct{})}
	c.Stdin, c.Stdout, c.Stderr = terminal, terminal, terminal
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setsid, c.SysProcAttr.Setctty = true, true
	must(t, "starting it", c.Start())
	go func() {
		c.Wait()
		close(l.ended)
	}()
	defer func() {
		c.Process.Kill()
		<-l.ended
	}()
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := keys.Read(buffer)
			if n > 0 {
				l.Write(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	press := func(what string) {
		_, err := keys.WriteString(what)
		is.NoErr(err)
	}
	shows := func(want string) {
		l.until(t, want, func(s string) bool { return strings.Contains(s, want) })
	}

	shows("size 33 101 True True\r\n")
	press("a line\r")
	shows("a line\r\n") // shown by the program's terminal, once
	shows("typed a line\r\n")
	is.Equal(strings.Count(l.until(t, "", func(string) bool { return true }), "a line"), 2)
	press("\x03")
	shows("interrupted\r\n") // and the job goes on
	must(t, "another size", pty.Setsize(keys, &pty.Winsize{Rows: 20, Cols: 60}))
	shows("size 20 60 True True\r\n")
	press("\x04")
	is.Equal(l.status(t, timeout), 7)
	after, err := term.GetState(int(terminal.Fd()))
	is.NoErr(err)
	is.Equal(after, before)
}
