package command

import (
	"context"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"fulmen/app/browser"
	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// App is what a run of the command line depends on. Tests fill it in; the
// program takes it from Process.
type App struct {
	// Version is this program's.
	Version string
	// In is what people and scripts answer, and what programs read that this one
	// starts.
	In io.Reader
	// InTerminal says that In is a terminal, where somebody can be asked.
	InTerminal bool
	// Secret reads a line of the terminal without showing it; it ends with the
	// context. nil where In is none.
	Secret func(context.Context) (string, error)
	// Out gets the answer, Err everything else.
	Out, Err io.Writer
	// Terminal says that Err is one, on which lines can be drawn over.
	Terminal bool
	// Screen says that Out is one, Columns how wide it is now; 0 where that is not known.
	Screen  bool
	Columns func() int
	// Environment says where the daemon may be.
	Environment api.Environment
	// Executable is the path of this program, beside which others lie; empty
	// where it is not known.
	Executable string
	// Folder is the current one; empty where it is not known.
	Folder string
	// Signals announces signals until it is told to stop; nil where there are none.
	Signals func(...os.Signal) (<-chan os.Signal, func())
	// Console is the terminal that In is; nil where it is none.
	Console Console
	// Browse opens an address in the person's browser; done is run once it has it.
	Browse func(ctx context.Context, address string) (done func(), err error)
	// Now reads the wall clock.
	Now func() time.Time

	// timeout is how long it is tried to reach a daemon again that was lost; 0 = defaultTimeout.
	timeout time.Duration
	// settle is how long a job may be on its way before it is said where it is; 0 = defaultSettle.
	settle time.Duration
}

// Console is a terminal at which somebody sits.
type Console interface {
	// Size counts its lines and the characters of a line.
	Size() (rows, columns int, err error)
	// Raw passes every key on as it is typed, and shows none, until restore.
	Raw() (restore func() error, err error)
	// Foreground reports whether this program may read from it; one in the
	// background would be stopped.
	Foreground() bool
}

// Process is the app of this process.
func Process(version string) App {
	path, err := os.Executable()
	if err != nil {
		path = "" // then PATH alone is searched
	}
	in := int(os.Stdin.Fd())
	folder, err := os.Getwd()
	if err != nil {
		folder = "" // it may have been deleted
	}
	a := App{
		Version: version, In: os.Stdin, InTerminal: term.IsTerminal(in), Secret: hidden(in),
		Out: os.Stdout, Err: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd())), Screen: term.IsTerminal(int(os.Stdout.Fd())),
		Environment: client.Process(), Executable: path, Now: time.Now,
		Folder: folder, Signals: processSignals, Browse: browser.Open,
	}
	out := int(os.Stdout.Fd())
	a.Columns = func() int {
		_, columns, _ := console{out: out}.Size() // 0 where it is none
		return columns
	}
	if a.InTerminal {
		a.Console = console{in: in, out: out}
	}
	return a
}

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

// The values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// screen is what a text for people is made for: the terminal where it goes to one, and a file
// of any width elsewhere.
func (r *run) screen(to io.Writer) (s text.Screen) {
	isTerminal := r.Screen && to == r.Out
	if isTerminal && !r.wide && r.Columns != nil {
		s.Columns = r.Columns()
	}
	getenv := r.Environment.Getenv
	isAuto := isTerminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	if r.color == colorAlways || r.color != colorNever && isAuto {
		s.Style = show.Style
	}
	return s
}
