package menubar

import (
	"cmp"
	"context"
	"reflect"
	"sync"
	"time"

	"fulmen/app"
	"fulmen/app/live"
	"fulmen/daemon/client"
	"fulmen/native/waker"
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
	// Notify shows a notification.
	Notify(ctx context.Context, n app.Notice)
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

const (
	// pace is the shortest time between two changes of the menu.
	pace = 500 * time.Millisecond
	// looksAgain is how often it is seen whether somebody still reads the menu: no
	// system tells when it is closed.
	looksAgain = 5 * time.Second
)

// Options are what an App needs.
type Options struct {
	// Dial finds the daemon. It is called until it succeeds.
	Dial func(ctx context.Context) (*client.Client, error)
	// Report gives what `fulmen report` would save.
	Report func(ctx context.Context) (string, error)
	// Version is the app's own version.
	Version string
	// Screen shows the menu.
	Screen Screen
	// Shell is what the system offers.
	Shell Shell
	// PreferencesFile is where the app's settings are kept.
	PreferencesFile string
	// Account is the person's, as which others may run programs where the person
	// agrees; empty where none may be, as root's.
	Account string
	// Quit is called when the person ends the app.
	Quit func()
}

// App is the menu-bar app.
type App struct {
	opts    Options
	follow  *live.Follower
	redraw  waker.Waker
	opened  chan string
	chosen  chan string
	began   time.Time
	doing   sync.WaitGroup
	asking  sync.Mutex // held while what the app was opened with is asked about
	notices app.Notifier

	mu          sync.Mutex
	preferences stored
	shown       app.Menu
	isShown     bool
	updated     chan struct{} // closed when the state was looked at again
}

// New makes the app, which does nothing before Run.
func New(o Options) *App {
	a := &App{opts: o, redraw: waker.New(), opened: make(chan string, 1), chosen: make(chan string, 1), updated: make(chan struct{}), preferences: load(o.PreferencesFile)}
	a.follow = live.New(live.Options{Dial: o.Dial, Version: o.Version, Changed: a.redraw.Wake})
	return a
}

// Run is the app until ctx ends. What clicks began is ended with it.
func (a *App) Run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer a.doing.Wait()
	defer stop()
	a.doing.Go(func() { a.follow.Run(ctx) })
	a.began = time.Now()
	var last time.Time
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-a.redraw:
		case <-a.opts.Shell.Changed():
		case <-again.C:
		case <-a.opts.Screen.Opened():
		case item := <-a.opts.Screen.Clicks():
			a.doing.Go(func() { a.do(ctx, item) })
		case address := <-a.opened:
			a.doing.Go(func() { a.receive(ctx, address) })
		case what := <-a.chosen:
			a.doing.Go(func() { a.do(ctx, app.Item{Title: "Dashboard", Do: &app.Do{Open: cmp.Or(what, "dashboard:/")}}) })
		case <-ctx.Done():
			return
		}
		now := time.Now()
		if early := last.Add(pace).Sub(now); early > 0 {
			again.Reset(early)
			continue
		}
		last = now
		if due := a.draw(ctx, now); due.IsZero() {
			again.Stop()
		} else {
			again.Reset(max(0, due.Sub(now)))
		}
	}
}

// state is all that the menu depends on.
func (a *App) state(now time.Time) app.State {
	a.mu.Lock()
	p := a.preferences
	a.mu.Unlock()
	s := a.follow.State(now)
	s.Setup = a.opts.Shell.Setup()
	s.Preferences = app.Preferences{LaunchAtLogin: a.opts.Shell.LaunchesAtLogin(), Title: p.Title, Notifications: p.Notifications}
	return s
}

// draw shows the state where it looks different from what is shown, tells what
// is worth telling, and gives when to do so again though nothing changes; the
// zero time where that is not needed.
func (a *App) draw(ctx context.Context, now time.Time) time.Time {
	reading := a.opts.Screen.Reading()
	s := a.state(now)
	a.follow.Look(reading, s.Preferences.Title)
	menu := app.Build(s)
	a.mu.Lock()
	isNew := !a.isShown || !reflect.DeepEqual(menu, a.shown)
	a.shown, a.isShown = menu, true
	close(a.updated)
	a.updated = make(chan struct{})
	a.mu.Unlock()
	if isNew {
		a.opts.Screen.Draw(menu)
	}

	notices, due := a.notices.See(s)
	if s.Preferences.Notifications {
		for _, n := range notices {
			a.doing.Go(func() { a.opts.Shell.Notify(ctx, n) })
		}
	}
	sooner := func(t time.Time) {
		if !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	sooner(s.Due())
	if reading { // ages are in minutes, and are seen
		sooner(now.Truncate(time.Minute).Add(time.Minute))
		sooner(now.Add(looksAgain))
	}
	return due
}
