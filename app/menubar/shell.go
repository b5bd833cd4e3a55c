package menubar

import (
	"context"

	"fulmen/app"
)

// Screen shows the menu.
type Screen interface {
	// Draw shows a menu instead of the last one.
	Draw(m app.Menu)
	// Clicks gives the lines that were clicked.
	Clicks() <-chan app.Item
	// Opened has a token when the menu was opened.
	Opened() <-chan struct{}
	// Reading reports whether somebody may be reading the menu.
	Reading() bool
}

// Shell is what a system offers a person beside the menu. Its methods return
// when the person has answered or ctx ended; an answer that was not given is
// false. They may be called at once from several goroutines. It is one interface,
// and large, because one package for each system has all of it.
type Shell interface {
	// Confirm asks a question.
	Confirm(ctx context.Context, q app.Confirm) bool
	// Ask asks for a line of text, which may be left empty.
	Ask(ctx context.Context, q app.Question) (answer string, given bool)
	// Show shows a text until it is put away, and below it a code, where there is
	// one, large enough to be read from another Mac.
	Show(ctx context.Context, title, text, code string)
	// Choose shows a text with some buttons and gives which was pressed, from 0; -1
	// where it was put away.
	Choose(ctx context.Context, title, text string, choices []string) int
	// Failed says that something did not work, and what to do.
	Failed(ctx context.Context, title, text string)
	// Tell shows a notification.
	Tell(ctx context.Context, n app.Notice)
	// Open opens an address.
	Open(ctx context.Context, address string) error
	// Copy puts a text on the clipboard.
	Copy(ctx context.Context, text string) error
	// Authorize asks for the right to administer Fulmen and gives what the daemon
	// takes as proof.
	Authorize(ctx context.Context) (proof []byte, err error)
	// Do does what only the system can: move the app, register or start the daemon,
	// the login item, the command line tool.
	Do(ctx context.Context, what app.AppDo) error
	// Setup is how the app is installed.
	Setup() app.Setup
	// LaunchesAtLogin reports whether the app is opened at login.
	LaunchesAtLogin() bool
	// Changed has a token when Setup or LaunchesAtLogin may give something else.
	Changed() <-chan struct{}
}
