package menubar

import (
	"context"
	"sync"
	"time"

	"fulmen/app"
	"fulmen/app/live"
	"fulmen/daemon/client"
)

// Options are what an App needs.
type Options struct {
	// Dial finds the daemon. It is called until it succeeds.
	Dial func(ctx context.Context) (*client.Client, error)
	// Version is the app's own version.
	Version string
	// Screen shows the menu.
	Screen Screen
	// Shell is what the system offers.
	Shell Shell
	// PreferencesFile is where the app's settings are kept.
	PreferencesFile string
	// Quit is called when the person ends the app.
	Quit func()
}

// App is the menu-bar app.
type App struct {
	opts   Options
	follow *live.Follower
	redraw chan struct{}
	doing  sync.WaitGroup

	mu          sync.Mutex
	preferences stored
	notifier    app.Notifier
}

// New makes the app, which does nothing before Run.
func New(o Options) *App {
	a := &App{opts: o, redraw: make(chan struct{}, 1), preferences: load(o.PreferencesFile)}
	a.follow = live.New(live.Options{Dial: o.Dial, Version: o.Version, Changed: a.wake})
	return a
}

func (a *App) wake() {
	select {
	case a.redraw <- struct{}{}:
	default:
	}
}

// Run is the app until ctx ends. What clicks began is ended with it.
func (a *App) Run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer a.doing.Wait()
	defer stop()
	a.doing.Go(func() { a.follow.Run(ctx) })
	again := time.NewTimer(0)
	defer again.Stop()
	a.wake()
	for {
		select {
		case <-a.redraw:
		case <-a.opts.Shell.Changed():
		case <-again.C:
		case <-a.opts.Screen.Opened():
		case item := <-a.opts.Screen.Clicks():
			a.doing.Go(func() { a.do(ctx, item) })
		case <-ctx.Done():
			return
		}
		again.Reset(a.draw(ctx, time.Now()))
	}
}

// draw shows the state, tells what is worth telling, and gives when to do so
// again though nothing changes.
func (a *App) draw(ctx context.Context, now time.Time) time.Duration {
	reading := a.opts.Screen.Reading()
	a.mu.Lock()
	p := a.preferences
	a.mu.Unlock()
	a.follow.Look(reading, p.Title)
	s := a.follow.State(now)
	s.Setup = a.opts.Shell.Setup()
	s.Preferences = app.Preferences{LaunchAtLogin: a.opts.Shell.LaunchesAtLogin(), Title: p.Title, Notifications: p.Notifications}
	a.opts.Screen.Draw(app.Build(s))

	notices, due := a.notifier.See(s)
	if p.Notifications {
		for _, n := range notices {
			a.doing.Go(func() { a.opts.Shell.Tell(ctx, n) })
		}
	}
	// Ages are in minutes; while somebody reads, also the end of reading counts.
	next := now.Truncate(time.Minute).Add(time.Minute).Sub(now)
	if reading {
		next = min(next, 5*time.Second)
	}
	if !due.IsZero() {
		next = min(next, max(0, due.Sub(now)))
	}
	return next
}
