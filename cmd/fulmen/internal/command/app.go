package command

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/term"

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
	// Screen says that Out is one.
	Screen bool
	// Environment says where the daemon may be.
	Environment client.Environment
	// Executable is the path of this program, beside which others lie; empty
	// where it is not known.
	Executable string
	// Host is the computer's name, empty where it is not known.
	Host string
	// User is the account's name, empty where it is not known.
	User string
	// Now reads the wall clock.
	Now func() time.Time
}

// Process is the app of this process.
func Process(version string) App {
	host, err := os.Hostname()
	if err != nil {
		host = "" // then it is not in the report either
	}
	path, err := os.Executable()
	if err != nil {
		path = "" // then PATH alone is searched
	}
	in := int(os.Stdin.Fd())
	return App{
		Version: version, In: os.Stdin, InTerminal: term.IsTerminal(in), Secret: hidden(in),
		Out: os.Stdout, Err: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd())), Screen: term.IsTerminal(int(os.Stdout.Fd())),
		Environment: client.Process(), Executable: path, Host: host, User: os.Getenv("USER"), Now: time.Now,
	}
}
